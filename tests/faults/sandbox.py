"""What the fault suites share: a place of their own for a program under attack, and what it leaves behind there."""
import argparse
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid

SKIPPED = 77
PATIENCE_S = 20  # for what takes 2 s at most on an idle machine
PREDICTION = ['--device-model', 'h200']


def arguments(description, default_count):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', required=True, help='path of stencil-tune')
    parser.add_argument('--count', type=int, default=default_count)
    parser.add_argument('--seed', type=int, default=int(time.time()))
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    print(f'seed {options.seed}', flush=True)
    return options


class Sandbox:
    """A folder that is home, cache, data and temporary folder of the programs in it. All of them, and all that they
    start, are known by a variable in their environment."""

    def __init__(self, program):
        self.program = program
        self.root = tempfile.mkdtemp(prefix='stencil-tune-faults-')
        self.mark = uuid.uuid4().hex
        self.environment = dict(os.environ, STENCIL_TUNE_FAULTS_MARK=self.mark, LC_ALL='C')
        for name in ('STENCIL_TUNE_DB', 'STENCIL_TUNE_CACHE', 'STENCIL_TUNE_LOCK_DIR'):
            self.environment.pop(name, None)
        for name, folder in (('HOME', 'home'), ('TMPDIR', 'tmp'), ('XDG_DATA_HOME', 'data'),
                             ('XDG_CACHE_HOME', 'cache'), ('XDG_RUNTIME_DIR', 'run')):
            self.environment[name] = os.path.join(self.root, folder)
            os.mkdir(self.environment[name], 0o700)
        self.database = os.path.join(self.root, 'data', 'trials.db')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes():
            try:
                os.kill(process, 9)
            except ProcessLookupError:
                pass
        shutil.rmtree(self.root, ignore_errors=True)

    def command(self, *words):
        return [self.program, *words, '--db', self.database]

    def run(self, *words, **options):
        """To its end; standard output and error as text."""
        return subprocess.run(self.command(*words), env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors='replace', **options)

    def require_predictions(self):
        """Ends the suite as skipped where this machine cannot predict (no NVRTC)."""
        first = self.run('tune', '--dims', '32', *PREDICTION, '--max-trials', '1', '--budget', '120s')
        if first.returncode != 0 and 'NVRTC' in first.stderr:
            print(first.stderr)
            sys.exit(SKIPPED)
        if first.returncode != 0:
            sys.exit(f'a prediction without any fault fails: {first.stderr}')

    def processes(self):
        """Those alive that carry the mark."""
        wanted = f'STENCIL_TUNE_FAULTS_MARK={self.mark}'.encode()
        found = []
        for name in os.listdir('/proc'):
            if not name.isdigit() or int(name) == os.getpid():
                continue
            try:
                with open(f'/proc/{name}/environ', 'rb') as environment:
                    if wanted in environment.read().split(b'\0'):
                        found.append(int(name))
            except OSError:
                pass  # it ended meanwhile, or is another user's
        return found

    def processes_left(self):
        """How many still run when patience is over."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            left = self.processes()
            if not left or time.monotonic() > deadline:
                return len(left)
            time.sleep(0.02)

    def temporary_files(self):
        found = [os.path.join('tmp', name) for name in os.listdir(os.path.join(self.root, 'tmp'))]
        for folder, _, names in os.walk(self.root):
            found += [os.path.join(folder, name) for name in names if name.endswith('.tmp')]
        return found

    def trials(self):
        """Numbers of the stored trials; none where there is no database yet."""
        if not os.path.exists(self.database):
            return set()
        with sqlite3.connect(self.database, timeout=60) as database:
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'trials'").fetchall():
                return set()
            return {row[0] for row in database.execute('SELECT id FROM trials')}

    def locks_left(self):
        """Whether anybody who is gone still holds the database."""
        try:
            with sqlite3.connect(self.database, timeout=0) as database:
                database.execute('BEGIN IMMEDIATE')
                database.rollback()
            return 0
        except sqlite3.OperationalError as error:
            print(f'the database cannot be locked: {error}')
            return 1


def acknowledged(said):
    """How many trials the last line of progress counts as finished."""
    counts = re.findall(r'(\d+) tried', said)
    return int(counts[-1]) if counts else 0


def conclude(line, faults):
    """The suite's last line and its exit status."""
    print(line, flush=True)
    sys.exit(0 if faults == 0 else 1)
