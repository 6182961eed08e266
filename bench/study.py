"""Default tunes beside a long search: how near do they come to the best there is?

    bench/bench study FOLDER [--sweeps | --runs] [--seeds N] [--trials N] [--budget TIME] [--seconds N] [options of tune]

For six problems, two of one sweep and four runs, one of them of a system: a long search of many trials, then default tunes,
each with a seed and a database of its own. A tune finds nothing compiled by another: each has a cache of its own. Then what
they chose is timed in turn in one process, since the same kernel differs by up to 8 % from one process to another, and a
table says how far behind the best each is: of runs by the rate under load, by which tunes choose their winners. All
candidates are recorded in FOLDER/study.trials.gz. Last, seeds that were not tuned live are replayed on them.

Everything is kept in FOLDER, and the same command goes on where it stopped. All GPUs of the machine work, each on a tune of
its own with its part of the cores.
"""

import argparse
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from bench import program, said
from bench.spread import Unfinished, spread

SWEEPS = {
    "star3d1r-f32": "--dims 512 --type f32",
    "star3d4r-f64": "--dims 512 --type f64 --order 4",
}
RUNS = {
    "star3d1r-f32-run": "--dims 512 --type f32 --steps 100",
    "box3d1r-f64-run": "--dims 512 --type f64 --shape box --steps 100",
    "star2d1r-f64-run": "--dims 16384x16384 --type f64 --steps 100",
    "acoustic3d_o2-f32-run": "--stencil acoustic3d_o2 --dims 512 --type f32 --steps 100",
}
ALL_SEEDS = 10


def add_arguments(parser):
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sweeps", dest="cases", action="store_const", const=SWEEPS, default={**SWEEPS, **RUNS},
                        help="these problems alone")
    parser.add_argument("--runs", dest="cases", action="store_const", const=RUNS, default=argparse.SUPPRESS,
                        help="these problems alone")
    parser.add_argument("--seeds", type=int, default=3, help="that are tuned live; of ten, the others are replayed")
    parser.add_argument("--trials", type=int, default=3000, help="of the long search")
    parser.add_argument("--budget", metavar="TIME", help="of each default tune, and of each part of the long search")
    parser.add_argument("--seconds", type=float, default=0, help="start nothing more after that time")
    parser.set_defaults(options=[])


def count_trials(database):
    if not database.exists():
        return 0
    return int(re.search(r"(\d+) trials?,", said(program(), "db", "check", "--db", database))[1])


def winner_of(database):
    """As `list` has it; None where there is none."""
    winners = json.loads(said(program(), "list", "--db", database, "--json")) if database.exists() else []
    return winners[-1] if winners else None


class Study:
    def __init__(self, given):
        self.given = given
        self.options = [*(["--budget", given.budget] if given.budget else []), *given.options]
        self.live = [str(seed) for seed in range(1, given.seeds + 1)]
        self.began = time.monotonic()

    def time_is_up(self):
        return self.given.seconds and time.monotonic() - self.began >= self.given.seconds

    def database(self, case, of):
        """The database of a seed, of the long search or of the race."""
        return self.given.folder / f"{case}.{of}.db"

    def tune(self, database, case, *options, environment=None):
        """Its report and its progress are kept beside the database."""
        with database.with_suffix(".txt").open("a") as report, database.with_suffix(".log").open("a") as log:
            ended = subprocess.run([program(), "tune", "--db", database, *self.given.cases[case].split(), *options],
                                   stdin=subprocess.DEVNULL, stdout=report, stderr=log, env=environment)
        if ended.returncode:
            sys.stderr.write(f"a tune of {case} failed: {log.name} says why\n")
            raise Unfinished

    def tune_with_seed(self, case, seed, on_gpu):
        database = self.database(case, seed)
        done, cache = (pathlib.Path(f"{database}.{what}") for what in ("done", "cache"))
        if done.exists() or self.time_is_up():
            return
        database.unlink(missing_ok=True)  # a tune that was cut short is made again from nothing
        shutil.rmtree(cache, ignore_errors=True)
        cache.mkdir(mode=0o700)
        self.tune(database, case, *on_gpu, "--seed", seed, *self.options,
                  environment={**os.environ, "STENCIL_TUNE_CACHE": str(cache)})
        shutil.rmtree(cache)
        done.touch()

    def search_long(self, case, on_gpu):
        """Searches in parts, each with a seed of its own, until there are enough trials or a part finds nothing new."""
        database = self.database(case, "long")
        before, found = -1, count_trials(database)
        while before < found < self.given.trials and not self.time_is_up():
            self.tune(database, case, *on_gpu, "--seed", str(1000 + found), "--max-trials", str(self.given.trials - found),
                      *self.options)
            before, found = found, count_trials(database)

    def race(self, case, on_gpu):
        """The winners of a case, again where they are others than those that raced before."""
        database = self.database(case, "race")
        raced = pathlib.Path(f"{database}.codes")
        winners = filter(None, (winner_of(self.database(case, of)) for of in ("long", *self.live)))
        codes = ",".join(sorted({winner["code"] for winner in winners}))
        if not codes or self.time_is_up() or (raced.exists() and raced.read_text() == codes):
            return
        database.unlink(missing_ok=True)
        self.tune(database, case, *on_gpu, "--candidates", codes)
        raced.write_text(codes)

    def table(self, case):
        """Lines on each winner: its rates in the one race of all."""
        database = self.database(case, "race")
        if not pathlib.Path(f"{database}.codes").exists():
            return []
        shown = json.loads(said(program(), "show", *self.given.cases[case].split(), "--db", database, "--json"))
        raced = {trial["code"]: trial for trial in shown["trials"]}  # the race comes after the trials
        found = {of: winner for of in ("long", *self.live) if (winner := winner_of(self.database(case, of)))}

        def rates(winner):
            trial = raced.get(winner["code"], {})
            return trial.get("gstencils", 0), trial.get("sustained_gstencils", 0)

        best = [max(rates(winner)[which] for winner in found.values()) for which in (0, 1)]
        lines = [case]
        for of, winner in found.items():
            burst, load = rates(winner)
            share = load / best[1] if load else burst / best[0]
            under_load = f", {load:8.1f} under load" if load else ""
            lines.append(f"  {of:<5} {winner['gstencils']:8.1f} found in {count_trials(self.database(case, of)):5} trials; "
                         f"in one race {burst:8.1f} in bursts{under_load}: {100 * share:6.2f} % of the best  {winner['code']}")
        return lines

    def run(self):
        self.given.folder.mkdir(parents=True, exist_ok=True)
        cases = self.given.cases
        spread([functools.partial(self.tune_with_seed, case, seed) for seed in self.live for case in cases]
               + [functools.partial(self.search_long, case) for case in cases])
        spread([functools.partial(self.race, case) for case in cases])
        for case in cases:
            sys.stdout.writelines(f"{line}\n" for line in self.table(case))
        self.replay()

    def replay(self):
        record_trials = pathlib.Path(program()).parent / "stencil_tune_record_trials"
        if not record_trials.exists():
            return
        record = self.given.folder / "study.trials.gz"
        print(said(record_trials, record, *sorted(self.given.folder.glob("*.db"))), end="")
        if self.given.seeds < ALL_SEEDS:
            print(said(program(), "replay", record, "--strategy", "stencil", "--seed", str(self.given.seeds + 1), "--repeats",
                       str(ALL_SEEDS - self.given.seeds), "--after", "100,200,400"), end="")


def run(given):
    os.environ["STENCIL_TUNE_PRETUNED"] = "off"  # the search is judged, not what shipped
    study = Study(given)
    try:
        study.run()
        finished = not study.time_is_up()
    except Unfinished:
        finished = False
    if not finished:
        print("not finished: the same command goes on")
    return int(not finished)
