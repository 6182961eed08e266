#!/usr/bin/env python3
"""Lets writes fail while a session tunes, each time at another place, and looks at what becomes of the trials.

Files may grow no further than a random size (RLIMIT_FSIZE), no descriptors are left, the disk is full, the folder of the
database is read-only, or nobody takes the output. A session may then fail with a message. It may not crash or hang, and no
trial that was stored before or that its progress counted as finished may be lost: after the fault the database is sound
and the next session goes on. (SQLite's own writes fail one by one in tests/db/faults_test.cpp.)
"""
import os
import random
import resource
import shutil
import subprocess

from sandbox import PREDICTION, Sandbox, acknowledged, arguments, conclude

WORDS = ['tune', '--dims', '64', *PREDICTION, '--budget', '120s', '--max-trials', '6']
LONGEST_S = 240


def limit(what, value):
    return lambda: resource.setrlimit(what, (value, resource.getrlimit(what)[1]))


class FullDisk:
    """The database's folder is a file system of its own with hardly any space left. Takes root; else it is not tried."""

    def __init__(self, sandbox, free_bytes):
        self.folder = os.path.dirname(sandbox.database)
        self.kept = self.folder + '.kept'
        shutil.copytree(self.folder, self.kept)
        used = sum(os.path.getsize(os.path.join(self.folder, name)) for name in os.listdir(self.folder))
        pages = (used + free_bytes) // 4096 + 2
        mount = subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={pages * 4096},mode=0700', 'faults', self.folder],
                               capture_output=True, check=False)
        self.is_there = mount.returncode == 0
        if self.is_there:
            for name in os.listdir(self.kept):
                shutil.copy(os.path.join(self.kept, name), self.folder)

    def end(self):
        if self.is_there:
            after = self.folder + '.after'
            shutil.copytree(self.folder, after)
            subprocess.run(['umount', self.folder], check=True)
            shutil.rmtree(self.folder)
            os.rename(after, self.folder)
        shutil.rmtree(self.kept)


def run_with(sandbox, dice, fault):
    """The session's status and what it said. Nothing where this machine cannot have that fault."""
    options = {'timeout': LONGEST_S}
    if fault == 'file size':
        options['preexec_fn'] = limit(resource.RLIMIT_FSIZE, dice.choice([0, dice.randrange(1 << 17), 1 << 20]))
    elif fault == 'descriptors':
        options['preexec_fn'] = limit(resource.RLIMIT_NOFILE, dice.randrange(4, 40))
    elif fault == 'full disk':
        disk = FullDisk(sandbox, dice.randrange(1 << 16))
        try:
            return sandbox.run(*WORDS, **options) if disk.is_there else None
        finally:
            disk.end()
    elif fault == 'read-only':
        if os.geteuid() == 0:
            return None  # root may write all the same
        folder = os.path.dirname(sandbox.database)
        os.chmod(folder, 0o500)
        try:
            return sandbox.run(*WORDS, **options)
        finally:
            os.chmod(folder, 0o700)
    elif fault == 'output':
        with open('/dev/full', 'w', encoding='ascii') as full:
            subprocess.run(sandbox.command(*WORDS), env=sandbox.environment, stdin=subprocess.DEVNULL, stdout=full,
                           stderr=full, timeout=LONGEST_S, check=False)
        return sandbox.run('list')
    return sandbox.run(*WORDS, **options)


def main():
    options = arguments(__doc__, 200)
    dice = random.Random(options.seed)
    faults = ['file size', 'descriptors', 'full disk', 'read-only', 'output']
    tried = crashes = stuck = lost = damaged = 0
    skipped = set()
    with Sandbox(options.program) as sandbox:
        sandbox.require_predictions()
        while tried < options.count:
            fault = dice.choice([one for one in faults if one not in skipped])
            before = sandbox.trials()
            try:
                ended = run_with(sandbox, dice, fault)
            except subprocess.TimeoutExpired:
                print(f'{fault}: stuck')
                stuck += 1
                continue
            if ended is None:
                skipped.add(fault)
                continue
            tried += 1
            after = sandbox.trials()
            missing = len(before - after) + max(0, acknowledged(ended.stderr) - len(after - before))
            check = sandbox.run('db', 'check')
            crash = ended.returncode < 0 or ended.returncode > 2 or (ended.returncode != 0 and not ended.stderr)
            if crash or missing or check.returncode:
                print(f'{fault}: status {ended.returncode}, {missing} lost; {check.stdout}{ended.stderr[-1000:]}')
            crashes += crash
            lost += missing
            damaged += check.returncode != 0
        last = sandbox.run(*WORDS)
        if last.returncode != 0:
            print(last.stderr)
            damaged += 1
    if skipped:
        print('not tried, this machine cannot:', *sorted(skipped))
    conclude(f'G4 writes: {tried} sessions with failing writes, {crashes} crashed, {stuck} stuck, {lost} acknowledged '
             f'trials lost, {damaged} databases damaged', crashes + stuck + lost + damaged)


main()
