#!/usr/bin/env python3
"""Kills sessions at random times and looks at what is left.

A trial is acknowledged when the program's progress has counted it as finished ("12 tried"): from then on it must be in
the database, whatever happens. So must all that were stored before the session began. Sessions die by SIGKILL,
SIGTERM, SIGINT, SIGHUP or with their terminal: some while they search, some while they check their finalists on the CPU,
with a compiler that never ends.
Afterwards no process, temporary file or lock may be left. What a SIGKILL leaves of temporary folders goes when the next
session starts; the last one is not killed.
"""
import contextlib
import os
import pty
import select
import signal
import subprocess
import threading
import time
from collections import Counter

from sandbox import (PATIENCE_S, PREDICTION, Sandbox, acknowledged, arguments, compilers_each, conclude, hear_every_signal,
                     in_shares, require_predictions)

WAYS = ['KILL', 'TERM', 'INT', 'HUP', 'terminal']
LIVES = 1.5  # longest life, in whole sessions
STOP_S = 2  # what is promised on a machine that is not overloaded: told, since this suite loads it


def ways():
    """A bare chroot has no pseudo-terminals: then nobody's terminal can vanish."""
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError:
        return [way for way in WAYS if way != 'terminal']
    return WAYS


class Session:
    """A tuner whose progress goes to a terminal of its own or to a pipe, and is read all the time."""

    def __init__(self, sandbox, words, on_terminal):
        self.said = ''
        self.closing = threading.Event()
        self.line, theirs = pty.openpty() if on_terminal else os.pipe()
        command = [sandbox.program, *sandbox.on_database(*words)]
        if on_terminal:
            # The program's controlling terminal: setsid makes the next terminal that is opened one.
            command = ['setsid', '--ctty', '--wait', *command]
        self.process = subprocess.Popen(command, env=sandbox.environment, stdin=theirs if on_terminal else
                                        subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
                                        preexec_fn=hear_every_signal)
        os.close(theirs)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        while True:
            closing = self.closing.is_set()
            if not select.select([self.line], [], [], 0 if closing else 0.02)[0]:
                if closing:
                    return
                continue
            try:
                data = os.read(self.line, 65536)
            except OSError:  # the terminal's other side is gone
                return
            if not data:
                return
            self.said += data.decode(errors='replace')

    def end(self, way):
        """False where it had ended by itself. A terminal that is being read is not gone, so reading ends before. One that
        has not ended when patience is over is a process left."""
        if self.process.poll() is not None:
            return False
        if way == 'terminal':
            self.close()
        else:
            self.process.send_signal(getattr(signal, 'SIG' + way))
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE_S)
        return True

    def close(self):
        """After the last that was said."""
        if not self.closing.is_set():
            self.closing.set()
            self.reader.join()
            os.close(self.line)


def words_of(random_number):
    """Half of the sessions search without end, half soon come to their finalists."""
    trials = '100000' if random_number < 0.5 else '2'
    return ['tune', '--dims', '64', *PREDICTION, '--budget', '1h', '--max-trials', trials]


def write_endless_compiler(path):
    """With a child of its own, as compilers have."""
    path.write_text('#!/bin/sh\nsleep 100000 & wait\n', encoding='ascii')
    path.chmod(0o700)


def longest_life_s(sandbox, compilers):
    """Somewhat longer than a session of two trials takes here, from its start to its last finalist: lives that end before
    cover the start, the search and the checks alike."""
    words = [*words_of(1), *compilers]
    sandbox.run_on_database(*words)  # which fills the caches
    began = time.monotonic()
    sandbox.run_on_database(*words)
    return LIVES * (time.monotonic() - began)


def phase_of(said):
    """How far a session came before its end."""
    if 'finalists' in said:
        return 'checking'
    return 'searching' if acknowledged(said) else 'starting'


def attack(options, count, dice):
    seen = Counter()
    possible = ways()
    compilers = compilers_each(options.jobs)
    with Sandbox(options.program) as sandbox:
        life = longest_life_s(sandbox, compilers)
        compiler = sandbox.folder / 'endless'
        write_endless_compiler(compiler)
        sandbox.environment['CXX'] = str(compiler)
        while seen['killed'] < count:
            before = sandbox.trials()
            way = dice.choice(possible)
            session = Session(sandbox, [*words_of(dice.random()), *compilers], way == 'terminal')
            time.sleep(dice.uniform(0, life))
            began = time.monotonic()
            was_alive = session.end(way)
            left = sandbox.processes_left()
            took = time.monotonic() - began
            session.process.wait()
            session.close()
            after = sandbox.trials()
            missing = len(before - after) + max(0, acknowledged(session.said) - len(after - before))
            if left or missing or took > PATIENCE_S:
                print(f'{way}: {left} processes left, {missing} trials lost, {took:.1f} s\n{session.said[-500:]}', flush=True)
            seen.update({'lost': missing, 'processes': left, 'late': took > STOP_S, 'stuck': took > PATIENCE_S})
            if was_alive:
                seen.update({'killed': 1, phase_of(session.said): 1})
        del sandbox.environment['CXX']
        seen['locks'] += sandbox.locks_left()
        last = sandbox.run_on_database('tune', '--dims', '64', *PREDICTION, '--max-trials', '1', '--budget', '120s')
        check = sandbox.run_on_database('db', 'check')
        if last.status != 0 or check.status != 0:
            print(f'afterwards: {last.complaint}{check.out.decode()}{check.complaint}', flush=True)
            seen['unsound'] += 1
        seen['files'] += sandbox.temporary_files()
    return seen


def main():
    options = arguments(__doc__, 1000)
    require_predictions(options.program)
    seen = in_shares(attack, options)
    print(f"{seen['starting']} while they started, {seen['searching']} searching, {seen['checking']} checking finalists")
    conclude(f"kills: {seen['killed']} killed, {seen['lost']} acknowledged trials lost, {seen['processes']} processes "
             f"left, {seen['files']} temp files left, {seen['locks']} locks left, {seen['unsound']} databases unsound, "
             f"{seen['late']} ends over {STOP_S} s, {seen['stuck']} over {PATIENCE_S} s",
             sum(seen[fault] for fault in ('lost', 'processes', 'files', 'locks', 'unsound', 'stuck')))


main()
