"""Tunes for what ships, and puts the winners into db/pretuned/NAME.json: what pretune and retime share."""

import contextlib
import functools
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

from bench import ROOT, gpus, program, said, shipped
from bench.spread import Unfinished, spread

SIGNALLED = (129, 130, 143, -1, -2, -15)  # statuses of a program that a signal ended


def add_arguments(parser):
    parser.add_argument("name", help="of the file in db/pretuned/: a word of the GPU's name, such as h100")
    parser.add_argument("--into", type=pathlib.Path, metavar="FOLDER", help="keeps all there, and db/pretuned/ as it is; "
                        "the same command goes on where it stopped")
    parser.add_argument("--seconds", type=float, default=0, help="start nothing more after that time")
    parser.set_defaults(options=[])


def pretuned(name):
    return ROOT / "db/pretuned" / f"{name}.json"


@contextlib.contextmanager
def workplace(into):
    if into:
        into.mkdir(parents=True, exist_ok=True)
        yield into
    else:
        with tempfile.TemporaryDirectory() as scratch:
            yield pathlib.Path(scratch)


def outcome(said_by_tune, status):
    """What is told of one tune."""
    winner = re.search(r"^ *winner +(.*)", said_by_tune, re.MULTILINE)
    if status == 0 and winner:
        return " ".join(winner[1].split())
    return f"no winner: {(said_by_tune.splitlines() or [''])[-1]}"


def tune_all(given, tunes, at_once=1):
    """Makes the tunes, of which each is a list of words, but for those that an earlier call made, and puts what won into the
    file, also where it was cut short. Returns 1 then."""
    began = time.monotonic()
    with workplace(given.into) as work:
        file = pretuned(given.name)
        if given.into:
            kept = work / file.name
            if file.exists() and not kept.exists():
                shutil.copy(file, kept)
            file = kept
        shipped.check_gpus(given.name, shipped.winners_in(file), gpus())
        database, done, report = (work / f"{given.name}.{kind}" for kind in ("db", "done", "txt"))

        def tune(words, on_gpu):
            if given.seconds and time.monotonic() - began >= given.seconds:
                raise Unfinished
            ended = subprocess.run([program(), *words, "--db", database, *on_gpu, *given.options], cwd=ROOT,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if ended.returncode in SIGNALLED:  # the next call makes it again
                raise Unfinished
            line = f"{' '.join(words)}: {outcome(ended.stdout, ended.returncode)}\n"
            print(line, end="", flush=True)
            for path, text in ((report, line), (done, " ".join(words) + "\n")):
                with path.open("a") as log:
                    log.write(text)

        known = done.read_text().splitlines() if done.exists() else []
        finished = True
        try:
            spread([functools.partial(tune, words) for words in tunes if " ".join(words) not in known], at_once)
        except Unfinished:
            finished = False
        if database.exists():
            raced = work / f"{given.name}.raced.json"
            said(program(), "db", "export", raced, "--db", database)
            print(shipped.merge(file, raced))
        if not finished:
            print("not finished: the same command goes on" if given.into else "not finished")
        print(f"{time.monotonic() - began:.0f} s")
        return int(not finished)
