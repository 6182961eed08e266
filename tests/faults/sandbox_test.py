"""What the suites share must not lose what they see: an attack that is not made, or a fault that is not counted."""
import contextlib
import io
import pathlib
import signal
import subprocess
import sys
import time
import types
import unittest
from collections import Counter

import sandbox


def tell_share(_, share, dice):
    return Counter({'made': share, 'attackers': 1, f'dice {dice.random()}': 1})


def end_unexpectedly(*_):
    raise OSError('the disk is full')


def sums(count, jobs, attack=tell_share):
    return sandbox.in_shares(attack, types.SimpleNamespace(count=count, jobs=jobs, seed=1))


class SharesTest(unittest.TestCase):
    def test_add_up_to_the_count(self):
        for count, jobs, attackers in ((7, 3, 3), (2, 5, 2), (6, 1, 1)):
            seen = sums(count, jobs)
            self.assertEqual((seen['made'], seen['attackers']), (count, attackers))

    def test_have_dice_of_their_own_which_the_seed_decides(self):
        seen = sums(3, 3)
        self.assertEqual(sum(name.startswith('dice') for name in seen), 3)
        self.assertEqual(seen, sums(3, 3))

    def test_an_attack_that_fails_fails_the_suite(self):
        with self.assertRaises(OSError):
            sums(2, 2, end_unexpectedly)


class SandboxTest(unittest.TestCase):
    def test_knows_its_processes_and_ends_them(self):
        with sandbox.Sandbox(pathlib.Path('/bin/true')) as place:
            process = subprocess.Popen(['sleep', '100'], env=place.environment)
            ends = time.monotonic() + 20
            while not place.processes() and time.monotonic() < ends:  # its environment is not there at once
                time.sleep(0.01)
            self.assertEqual(place.processes(), [process.pid])
        self.assertEqual(process.wait(), -9)
        self.assertFalse(place.folder.exists())

    def test_counts_what_is_left_in_temporary_folders(self):
        with sandbox.Sandbox(pathlib.Path('/bin/true')) as place, contextlib.redirect_stdout(io.StringIO()) as told:
            self.assertEqual(place.temporary_files(), 0)
            (place.folder / 'tmp' / 'left').mkdir()
            (place.folder / 'cache' / 'entry.tmp').touch()
            self.assertEqual(place.temporary_files(), 2)
        self.assertIn('entry.tmp', told.getvalue())

    def test_says_how_a_run_ended(self):
        with sandbox.Sandbox(pathlib.Path('/bin/sh')) as place:
            self.assertTrue(place.run('-c', 'kill -SEGV $$').crashed)
            self.assertTrue(place.run('-c', 'exit 1').failed_silently)
            told = place.run('-c', 'echo why >&2; exit 1')
            self.assertEqual((told.crashed, told.failed_silently, told.complaint), (False, False, 'why\n'))


class SignalsTest(unittest.TestCase):
    def test_a_program_under_attack_hears_what_the_suite_ignores(self):
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            process = subprocess.Popen(['sleep', '100'], preexec_fn=sandbox.hear_every_signal)
        finally:
            signal.signal(signal.SIGHUP, before)
        process.send_signal(signal.SIGHUP)
        try:
            self.assertEqual(process.wait(20), -signal.SIGHUP)
        finally:
            process.kill()


class ConcludeTest(unittest.TestCase):
    def test_any_fault_is_a_failure(self):
        for faults, status in ((0, 0), ([], 0), (1, 1), (['a fault'], 1)):
            with self.assertRaises(SystemExit) as ended, contextlib.redirect_stdout(io.StringIO()), \
                    contextlib.redirect_stderr(io.StringIO()):
                sandbox.conclude('line', faults)
            self.assertEqual(ended.exception.code, status)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
