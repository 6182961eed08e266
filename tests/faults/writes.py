#!/usr/bin/env python3
"""Lets writes fail while a session tunes, each time at another place, and looks at what becomes of the trials.

Files may grow no further than a random size (RLIMIT_FSIZE), no descriptors are left, the disk is full, the folder of the
database is read-only, or nobody takes the output. A session may then fail with a message. It may not crash or hang, and no
trial that was stored before or that its progress counted as finished may be lost: after the fault the database is sound
and the next session goes on. (SQLite's own writes fail one by one in tests/db/faults_test.cpp.)
"""
import os
import resource
import shutil
import subprocess
from collections import Counter

from sandbox import (PREDICTION, Sandbox, acknowledged, arguments, compilers_each, conclude, in_shares,
                     require_predictions)

FAULTS = ['file size', 'descriptors', 'full disk', 'read-only', 'output']
WORDS = ['tune', '--dims', '64', *PREDICTION, '--budget', '120s', '--max-trials', '6']
LONGEST_S = 240


def limit(what, value):
    return lambda: resource.setrlimit(what, (value, resource.getrlimit(what)[1]))


class FullDisk:
    """The database's folder is a file system of its own with hardly any space left. Takes root; else it is not tried."""

    def __init__(self, sandbox, free_bytes):
        self.folder = sandbox.database.parent
        self.kept = self.folder.with_suffix('.kept')
        shutil.copytree(self.folder, self.kept)
        used = sum(file.stat().st_size for file in self.folder.iterdir())
        pages = (used + free_bytes) // 4096 + 2
        mount = subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={pages * 4096},mode=0700', 'faults', self.folder],
                               capture_output=True, check=False)
        self.is_there = mount.returncode == 0
        if self.is_there:
            for file in self.kept.iterdir():
                shutil.copy(file, self.folder)

    def end(self):
        if self.is_there:
            after = self.folder.with_suffix('.after')
            shutil.copytree(self.folder, after)
            subprocess.run(['umount', self.folder], check=True)
            shutil.rmtree(self.folder)
            os.rename(after, self.folder)
        shutil.rmtree(self.kept)


def run_with(sandbox, dice, fault, words):
    """The session's status and what it said. Nothing where this machine cannot have that fault."""
    options = {'timeout': LONGEST_S}
    if fault == 'file size':
        options['preexec_fn'] = limit(resource.RLIMIT_FSIZE, dice.choice([0, dice.randrange(1 << 17), 1 << 20]))
    elif fault == 'descriptors':
        options['preexec_fn'] = limit(resource.RLIMIT_NOFILE, dice.randrange(4, 40))
    elif fault == 'full disk':
        disk = FullDisk(sandbox, dice.randrange(1 << 16))
        try:
            return sandbox.run_on_database(*words, **options) if disk.is_there else None
        finally:
            disk.end()
    elif fault == 'read-only':
        if os.geteuid() == 0:
            return None  # root may write all the same
        folder = sandbox.database.parent
        os.chmod(folder, 0o500)
        try:
            return sandbox.run_on_database(*words, **options)
        finally:
            os.chmod(folder, 0o700)
    elif fault == 'output':
        with open('/dev/full', 'w', encoding='ascii') as full:
            subprocess.run([sandbox.program, *sandbox.on_database(*words)], env=sandbox.environment,
                           stdin=subprocess.DEVNULL, stdout=full, stderr=full, timeout=LONGEST_S, check=False)
        return sandbox.run_on_database('list')
    return sandbox.run_on_database(*words, **options)


def is_damaged(sandbox):
    """Whether the database is unsound. A first session that could write nothing leaves none, or an empty file."""
    if not sandbox.database.exists() or not sandbox.database.stat().st_size:
        return False
    check = sandbox.run_on_database('db', 'check')
    if check.status != 0:
        print(check.out.decode() + check.complaint, flush=True)
    return check.status != 0


def attack(options, count, dice):
    seen = Counter()
    possible = list(FAULTS)
    words = [*WORDS, *compilers_each(options.jobs)]
    with Sandbox(options.program) as sandbox:
        while seen['tried'] < count:
            fault = dice.choice(possible)
            before = sandbox.trials()
            try:
                ended = run_with(sandbox, dice, fault, words)
            except subprocess.TimeoutExpired:
                print(f'{fault}: stuck', flush=True)
                seen.update({'tried': 1, 'stuck': 1})
                continue
            if ended is None:
                possible.remove(fault)  # this machine cannot have it
                continue
            after = sandbox.trials()
            missing = len(before - after) + max(0, acknowledged(ended.complaint) - len(after - before))
            damaged = is_damaged(sandbox)
            crash = ended.crashed or ended.failed_silently
            if crash or missing or damaged:
                print(f'{fault}: status {ended.status}, {missing} lost; {ended.complaint[-1000:]}', flush=True)
            seen.update({'tried': 1, fault: 1, 'crashes': crash, 'lost': missing, 'damaged': damaged})
        last = sandbox.run_on_database(*words)
        if last.status != 0:
            print(last.complaint, flush=True)
            seen['damaged'] += 1
    return seen


def main():
    options = arguments(__doc__, 200)
    require_predictions(options.program)
    seen = in_shares(attack, options)
    print(', '.join(f'{fault}: {seen[fault]} times' for fault in FAULTS))
    conclude(f"writes: {seen['tried']} sessions with failing writes, {seen['crashes']} crashed, {seen['stuck']} stuck, "
             f"{seen['lost']} acknowledged trials lost, {seen['damaged']} databases damaged",
             seen['crashes'] + seen['stuck'] + seen['lost'] + seen['damaged'])


main()
