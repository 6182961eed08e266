"""What the fault suites share: their arguments, a place of their own for a program under attack, what it leaves behind
there, several attacks at once, and the one last line."""
import argparse
import concurrent.futures
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter

SOURCES = pathlib.Path(__file__).resolve().parents[2]
SHIPPED_WINNERS = SOURCES / 'db' / 'pretuned' / 'h200.json'
PREDICTION = ['--device-model', 'h200']
CORES = len(os.sched_getaffinity(0))
SKIPPED = 77
PATIENCE_S = 20  # for what takes 2 s at most on an idle machine
LONGEST_RUN_S = 300
LONGEST_TOOL_S = 1800  # 200,000 trials were stored within 20 s on two idle cores
PLANNED_EXITS = (0, 1, 2)
ROOM_IN_MEMORY = 1 << 30  # containers often have less of it


def arguments(description, default_count):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', required=True, type=pathlib.Path, help='path of stencil-tune')
    parser.add_argument('--count', type=int, default=default_count)
    parser.add_argument('--seed', type=int, default=int(time.time()))
    parser.add_argument('--jobs', type=int, default=CORES, help='attacks at once (default: one a core)')
    options = parser.parse_args()
    options.program = options.program.resolve()
    print(f'seed {options.seed}, {options.jobs} at once', flush=True)
    return options


def neutral_environment():
    """Without what would make a difference between two people's machines: their settings of the program, their GPUs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith('STENCIL_TUNE_')}
    return {**kept, 'CUDA_VISIBLE_DEVICES': ''}


def hear_every_signal():
    """In a child before its program: under nohup and in the background of a script some signals are ignored, and what is
    started inherits that."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


class Run:
    """How one run of the program ended."""

    def __init__(self, status, out, err):
        self.status = status
        self.out = out
        self.err = err

    @property
    def crashed(self):
        return self.status not in PLANNED_EXITS or b'internal error' in self.err

    @property
    def failed_silently(self):
        return self.status != 0 and not self.err

    @property
    def complaint(self):
        return self.err.decode(errors='replace')


class Sandbox:
    """A folder that is home, cache, data and temporary folder of the programs in it, and is gone at the end. All of them,
    and all that they start, are known by a variable in their environment."""

    def __init__(self, program, parent=None, **variables):
        self.program = program
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='stencil-tune-faults-', dir=parent)).resolve()
        self.database = self.folder / 'data' / 'trials.db'
        self.mark = f'STENCIL_TUNE_FAULTS_MARK={uuid.uuid4().hex}'
        self.environment = {**neutral_environment(), **dict([self.mark.split('=')]), **variables}
        for name, folder in (('HOME', 'home'), ('TMPDIR', 'tmp'), ('XDG_DATA_HOME', 'data'), ('XDG_CACHE_HOME', 'cache'),
                             ('XDG_CONFIG_HOME', 'config'), ('XDG_RUNTIME_DIR', 'run')):
            self.environment[name] = str(self.folder / folder)
            (self.folder / folder).mkdir(mode=0o700)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill_processes()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *words, environment=None, cwd=None, program=None, timeout=LONGEST_RUN_S, **options):
        """To its end."""
        done = subprocess.run([program or self.program, *words], env={**self.environment, **(environment or {})},
                              cwd=cwd or self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=timeout, check=False, **options)
        return Run(done.returncode, done.stdout, done.stderr)

    def on_database(self, *words):
        """What runs the program on the sandbox's database."""
        return [*words, '--db', self.database]

    def run_on_database(self, *words, **options):
        return self.run(*self.on_database(*words), **options)

    def tool(self, *words):
        """The helper that is built beside the program: it writes what the program would not."""
        done = self.run(*words, program=self.program.parent / 'fault_tool', timeout=LONGEST_TOOL_S)
        if done.status != 0:
            raise RuntimeError(f'fault_tool {words}: {done.complaint}')
        return done.out.decode()

    def processes(self):
        """Those alive that carry the mark."""
        found = []
        for name in os.listdir('/proc'):
            if not name.isdigit() or int(name) == os.getpid():
                continue
            try:
                with open(f'/proc/{name}/environ', 'rb') as environment:
                    if self.mark.encode() in environment.read().split(b'\0'):
                        found.append(int(name))
            except OSError:
                pass  # it ended meanwhile, or is another user's
        return found

    def kill_processes(self):
        for process in self.processes():
            try:
                os.kill(process, 9)
            except ProcessLookupError:
                pass

    def processes_left(self):
        """How many still run when patience is over; afterwards they do no more."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            left = self.processes()
            if not left or time.monotonic() > deadline:
                self.kill_processes()
                return len(left)
            time.sleep(0.02)

    def temporary_files(self):
        """Counted, and named in the output."""
        found = [*(self.folder / 'tmp').iterdir(), *self.folder.rglob('*.tmp')]
        if found:
            print('left:', *found, flush=True)
        return len(found)

    def trials(self):
        """Numbers of the stored trials; none where there is no database yet."""
        if not self.database.exists():
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


def file_sandbox(program):
    """For suites of many small files: in memory where there is room, and without the winners that ship."""
    memory = '/dev/shm'
    fits = os.access(memory, os.W_OK | os.X_OK) and shutil.disk_usage(memory).free > ROOM_IN_MEMORY
    return Sandbox(program, memory if fits else None, STENCIL_TUNE_PRETUNED='off')


def require_predictions(program):
    """Ends the suite as skipped where this machine cannot predict (no NVRTC)."""
    with Sandbox(program) as sandbox:
        first = sandbox.run_on_database('tune', '--dims', '32', *PREDICTION, '--max-trials', '1', '--budget', '120s')
    if first.status != 0 and 'NVRTC' in first.complaint:
        print(first.complaint)
        sys.exit(SKIPPED)
    if first.status != 0:
        sys.exit(f'a prediction without any fault fails: {first.complaint}')


def compilers_each(jobs):
    """For each of so many sessions at once: two at least, so that a session has several processes to end."""
    return ['--jobs', str(max(2, CORES // jobs))]


def acknowledged(said):
    """How many trials the last line of progress counts as finished."""
    counts = re.findall(r'(\d+) tried', said)
    return int(counts[-1]) if counts else 0


def in_parallel(work, items, jobs):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(work, items))


def in_shares(attack, options):
    """Divides the count among processes: each calls `attack(options, its share, dice of its own)`, which says how often it
    saw what. The sums."""
    jobs = min(options.jobs, options.count)
    shares = [options.count // jobs + (number < options.count % jobs) for number in range(jobs)]
    with concurrent.futures.ProcessPoolExecutor(jobs, multiprocessing.get_context('fork')) as pool:
        attacks = [pool.submit(attack, options, share, random.Random(f'{options.seed}.{number}'))
                   for number, share in enumerate(shares)]
        total = Counter()
        for each in attacks:
            total.update(each.result())
    return total


def conclude(line, faults):
    """The last line of the suite and its exit status. `faults` are sentences, of which some are shown, or their number."""
    for fault in faults[:20] if isinstance(faults, list) else []:
        print(fault, file=sys.stderr)
    print(line, flush=True)
    sys.exit(1 if faults else 0)
