#!/usr/bin/env python3
"""Files that would never end, or never begin, or fill the memory: pipes that nobody writes to and small files that unpack
to very much, wherever the program reads a file that it was given. Each is refused with a message, within the time and the
memory that a refusal takes.
"""
import contextlib
import gzip
import os
import resource
import shutil
import sqlite3
import subprocess
from collections import Counter

from sandbox import PREDICTION, SOURCES, Sandbox, arguments, conclude, in_shares

PATIENCE_S = 120  # seconds; a refusal takes one on an idle machine
ROOM = 4 << 30  # bytes of addresses
OWN = SOURCES / 'kernels' / 'reduction.cu'


def pipe(folder, name='pipe'):
    path = folder / name
    os.mkfifo(path)
    return path


def captured(folder, **pipes):
    """A captured launch of which one file is a pipe."""
    whole = folder / 'captured'
    whole.mkdir()
    shutil.copy(OWN, whole / 'definition.cu')
    shutil.copy(OWN, whole / 'kernel.cu')
    (whole / 'sizes.txt').write_text('')
    for name in pipes.values():
        (whole / name).unlink(missing_ok=True)
        pipe(whole, name)
    return whole


def database_with_a_journal(folder):
    path = folder / 'journal.db'
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript('PRAGMA application_id = 0x5354EC11; PRAGMA user_version = 1; CREATE TABLE trials (id)')
    pipe(folder, 'journal.db-journal')
    return path


def bomb(folder, begin, middle, mebibytes, name='bomb.json.gz'):
    path = folder / name
    with gzip.open(path, 'wb', compresslevel=1) as file:
        file.write(begin)
        for _ in range(mebibytes):
            file.write(middle * ((1 << 20) // len(middle)))
    return path


def imported(path, words=('t4',)):
    return ['db', 'import', path, '--format', *words]


# What is made in a folder, and what the program is asked to do with it.
CASES = {
    'definition': lambda at: ['--stencil', pipe(at, 'pipe.toml'), '--dims', '64', *PREDICTION, '--dry-run'],
    'kernel': lambda at: ['explain', 'kernel', pipe(at, 'pipe.cu')],
    'kernel to tune': lambda at: ['kernel', pipe(at, 'pipe.cu')],
    'captured definition': lambda at: ['kernel', captured(at, definition='definition.cu')],
    'captured source': lambda at: ['kernel', captured(at, source='kernel.cu')],
    'database': lambda at: ['list', '--db', pipe(at)],
    'journal': lambda at: ['list', '--db', database_with_a_journal(at)],
    'merged database': lambda at: ['db', 'merge', pipe(at)],
    'winners': lambda at: ['db', 'import', pipe(at)],
    'trials': lambda at: imported(pipe(at)),
    'recorded space': lambda at: ['replay', pipe(at)],
    'record of bench': lambda at: ['report', '--bench', pipe(at)],
    'record of links': lambda at: ['--dims', '512', '--gpus', '8', '--node-link', pipe(at), *PREDICTION],
    'zeros': lambda at: ['replay', bomb(at, b'', b'\0', 300)],
    'commas': lambda at: ['replay', bomb(at, b'', b',', 100)],
    'nested cache': lambda at: ['replay', bomb(at, b'{"cache": ', b'[', 120)],
    'nested results': lambda at: imported(bomb(at, b'{"results": ', b'[', 120)),
    'many results': lambda at: imported(bomb(at, b'{"results": [', b'[],', 120)),
    'nested wisdom': lambda at: imported(bomb(at, b'{"tunable_parameters": ["x"], "version": "1.0", '
                                              b'"objective": "time", "key": "k"}\n', b'[', 120), ['kernel-launcher']),
    'endless': lambda at: ['replay', '/dev/zero'],
    'endless winners': lambda at: ['db', 'import', '/dev/zero'],
}


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))


def attack(options, count, dice):
    seen = Counter()
    names = sorted(CASES)
    dice.shuffle(names)
    # Shares differ in their dice alone: each begins with all cases.
    with Sandbox(options.program) as sandbox:
        for number in range(count):
            name = names[number % len(names)]
            folder = sandbox.folder / f'case{number}'
            folder.mkdir()
            words = CASES[name](folder)
            words = words if '--db' in words else sandbox.on_database(*words) if words[0] in ('db', '--dims') else words
            try:
                ended = sandbox.run(*words, timeout=PATIENCE_S, preexec_fn=limit_memory)
            except subprocess.TimeoutExpired:
                print(f'{name}: not over after {PATIENCE_S} s', flush=True)
                seen['hung'] += 1
                sandbox.kill_processes()
                continue
            wrong = ended.crashed or ended.failed_silently or ended.status == 0
            if wrong:
                print(f'{name}: status {ended.status}: {ended.complaint[-500:]}', flush=True)
            seen['not refused'] += wrong
            shutil.rmtree(folder)
        seen['files'] += sandbox.temporary_files()
    return seen


def main():
    options = arguments(__doc__, 10 * len(CASES))
    options.jobs = 1 if options.count <= len(CASES) else options.jobs  # so that each case comes
    seen = in_shares(attack, options)
    conclude(f"inputs: {options.count} files, {seen['hung']} waited for, {seen['not refused']} not refused, "
             f"{seen['files']} temp files left", seen['hung'] + seen['not refused'] + seen['files'])


if __name__ == '__main__':
    main()
