"""How scripts/check-mutants divides its list among copies of the tree, and resumes it. Builds nothing."""
import contextlib
import dataclasses
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest

SCRIPT = str(pathlib.Path(__file__).resolve().parents[2] / 'scripts' / 'check-mutants')
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader('check_mutants', SCRIPT)
check_mutants = importlib.util.module_from_spec(importlib.util.spec_from_loader('check_mutants', loader))
sys.modules['check_mutants'] = check_mutants
loader.exec_module(check_mutants)


def mutants(test, count, suffix='.cpp'):
    return [check_mutants.Mutant(f'{test} {number}{suffix}', f'{number}{suffix}', test, '*', 'a', 'b') for number in range(count)]


class QueueTest(unittest.TestCase):
    def test_each_mutant_is_taken_once(self):
        queue = check_mutants.Queue(mutants('large_test', 5) + mutants('small_test', 2))
        taken, last = [], [None, None, None]
        for turn in range(10):
            mutant = queue.take(last[turn % 3])
            if mutant:
                taken.append(mutant.name)
                last[turn % 3] = mutant.test
        self.assertEqual(sorted(taken), sorted(each.name for each in mutants('large_test', 5) + mutants('small_test', 2)))

    def test_a_copy_stays_with_the_program_that_it_has_built(self):
        queue = check_mutants.Queue(mutants('large_test', 9) + mutants('small_test', 3))
        programs = ['small_test']
        while mutant := queue.take(programs[-1]):
            programs.append(mutant.test)
        self.assertEqual(programs[1:], ['small_test'] * 3 + ['large_test'] * 9)

    def test_copies_go_where_most_is_left_for_each(self):
        queue = check_mutants.Queue(mutants('large_test', 9) + mutants('small_test', 5))
        self.assertEqual([queue.take(None).test for _ in range(3)], ['large_test', 'small_test', 'large_test'])

    def test_headers_which_take_longest_to_build_come_first(self):
        queue = check_mutants.Queue(mutants('some_test', 2) + mutants('some_test', 1, '.cuh'))
        self.assertEqual(queue.take(None).file, '0.cuh')


class RecordTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / 'noticed.txt'
        self.noticed, self.unbuilt, self.survivor, self.later = mutants('some_test', 4)
        first = check_mutants.Record(self.file, resume=False)
        first.untried([self.noticed, self.unbuilt, self.survivor, self.later])
        with contextlib.redirect_stdout(io.StringIO()):
            first.add(self.noticed, '2 tests fail', 1)
            first.add(self.unbuilt, 'does not build', 1)
            first.add(self.survivor, '', 1)

    def test_resumed_it_leaves_out_what_was_noticed_and_counts_it(self):
        record = check_mutants.Record(self.file, resume=True)
        left = record.untried([self.noticed, self.unbuilt, self.survivor, self.later])
        self.assertEqual(left, [self.unbuilt, self.survivor, self.later])
        self.assertEqual((record.count, record.tried), (4, 1))

    def test_a_mutant_that_changed_is_tried_again(self):
        changed = dataclasses.replace(self.noticed, after='c')
        self.assertEqual(check_mutants.Record(self.file, resume=True).untried([changed]), [changed])

    def test_without_resuming_all_are_tried(self):
        self.assertEqual(check_mutants.Record(self.file, resume=False).untried([self.noticed]), [self.noticed])


unittest.main()
