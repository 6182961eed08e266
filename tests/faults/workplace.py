"""What the suites share: a folder of their own, the program run in it, and the one last line."""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCES = pathlib.Path(__file__).resolve().parents[2]
SHIPPED_WINNERS = SOURCES / "db" / "pretuned" / "h200.json"
FROZEN_DATABASE = SOURCES / "tests" / "db" / "frozen" / "schema-1.db"
LONGEST_RUN_S = 300
PLANNED_EXITS = (0, 1, 2)


class Run:
    """How one run of the program ended."""

    def __init__(self, status, out, err):
        self.status = status
        self.out = out
        self.err = err

    @property
    def crashed(self):
        return self.status not in PLANNED_EXITS or b"internal error" in self.err


class Workplace:
    """A fresh folder with HOME and all XDG folders inside; gone at the end."""

    def __init__(self, program):
        self.program = pathlib.Path(program).resolve()
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="stencil-tune-faults-", dir=memory)).resolve()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("STENCIL_TUNE_")}
        for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "TMPDIR"):
            self.environment[name] = str(self.folder / name.lower())
            (self.folder / name.lower()).mkdir()
        self.environment["STENCIL_TUNE_PRETUNED"] = "off"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *words, environment=None, cwd=None, program=None, **options):
        command = [program or self.program, *words]
        done = subprocess.run(command, env={**self.environment, **(environment or {})}, cwd=cwd or self.folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=LONGEST_RUN_S, check=False, **options)
        return Run(done.returncode, done.stdout, done.stderr)

    def tool(self, *words):
        """The helper that is built beside the program: it writes what the program would not."""
        done = self.run(*words, program=self.program.parent / "fault_tool")
        if done.status != 0:
            raise RuntimeError(f"fault_tool {words}: {done.err.decode(errors='replace')}")
        return done.out.decode()


def parse_arguments(purpose, count):
    parser = argparse.ArgumentParser(description=purpose)
    parser.add_argument("--program", required=True, help="the stencil-tune to test")
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def in_parallel(work, items):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, items))


def conclude(line, faults):
    """The last line of the suite; `faults` are sentences that say what went wrong, at most some are shown."""
    for fault in faults[:20]:
        print(fault, file=sys.stderr)
    print(line)
    sys.exit(1 if faults else 0)
