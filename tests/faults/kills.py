#!/usr/bin/env python3
"""Kills sessions at random times and looks at what is left.

A trial is acknowledged when the program's progress has counted it as finished ("12 tried"): from then on it must be in
the database, whatever happens. So must all that were stored before the session began. Sessions die by SIGKILL,
SIGTERM, SIGINT, SIGHUP or with their terminal: some while they search, some while they check their finalists on the CPU,
with a compiler that never ends.
Afterwards no process, temporary file or lock may be left. What a SIGKILL leaves of temporary folders goes when the next
session starts; the last one is not killed.
"""
import os
import pty
import random
import signal
import subprocess
import threading
import time

from sandbox import PATIENCE_S, PREDICTION, Sandbox, acknowledged, arguments, conclude

WAYS = ['KILL', 'TERM', 'INT', 'HUP', 'terminal']
LONGEST_LIFE_S = 4.0


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
        self.line, theirs = pty.openpty() if on_terminal else os.pipe()
        command = sandbox.command(*words)
        if on_terminal:
            # The program's controlling terminal: setsid makes the next terminal that is opened one.
            command = ['setsid', '--ctty', '--wait', *command]
        self.process = subprocess.Popen(command, env=sandbox.environment, stdin=theirs if on_terminal else
                                        subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        while True:
            try:
                data = os.read(self.line, 65536)
            except OSError:  # the terminal's other side is gone
                return
            if not data:
                return
            self.said += data.decode(errors='replace')

    def end(self, way):
        """False where it had ended by itself, or does not end."""
        if self.process.poll() is not None:
            self.reader.join()
            os.close(self.line)
            return False
        if way == 'terminal':
            pty_line, self.line = self.line, os.open(os.devnull, os.O_RDONLY)
            os.close(pty_line)
        else:
            self.process.send_signal(getattr(signal, 'SIG' + way))
        self.process.wait()
        return True


def words_of(random_number):
    """Half of the sessions search without end, half soon come to their finalists."""
    trials = '100000' if random_number < 0.5 else '2'
    return ['tune', '--dims', '64', *PREDICTION, '--budget', '1h', '--max-trials', trials]


def write_endless_compiler(path):
    """With a child of its own, as compilers have."""
    with open(path, 'w', encoding='ascii') as script:
        script.write('#!/bin/sh\nsleep 100000 & wait\n')
    os.chmod(path, 0o700)


def main():
    options = arguments(__doc__, 1000)
    dice = random.Random(options.seed)
    killed = lost = processes = stuck = 0
    possible = ways()
    with Sandbox(options.program) as sandbox:
        sandbox.require_predictions()
        compiler = os.path.join(sandbox.root, 'endless')
        write_endless_compiler(compiler)
        sandbox.environment['CXX'] = compiler
        while killed < options.count:
            before = sandbox.trials()
            way = possible[killed % len(possible)]
            session = Session(sandbox, words_of(dice.random()), way == 'terminal')
            time.sleep(dice.uniform(0, LONGEST_LIFE_S))
            began = time.monotonic()
            counted = session.end(way)
            stuck += time.monotonic() - began > PATIENCE_S
            left = sandbox.processes_left()
            after = sandbox.trials()
            missing = len(before - after) + max(0, acknowledged(session.said) - len(after - before))
            if left or missing:
                print(f'kill {killed} by {way}: {left} processes left, {missing} trials lost\n{session.said[-500:]}')
            killed += counted
            processes += left
            lost += missing
        del sandbox.environment['CXX']
        locks = sandbox.locks_left()
        last = sandbox.run('tune', '--dims', '64', *PREDICTION, '--max-trials', '1', '--budget', '120s')
        check = sandbox.run('db', 'check')
        if last.returncode != 0 or check.returncode != 0 or stuck:
            print(f'{stuck} did not end in time; afterwards: {last.stderr}{check.stdout}{check.stderr}')
            locks += 1
        files = sandbox.temporary_files()
        if files:
            print('left:', *files)
    conclude(f'G1 kills: {killed} killed, {lost} acknowledged trials lost, {processes} processes left, '
             f'{len(files)} temp files left, {locks} locks left', lost + processes + len(files) + locks)


main()
