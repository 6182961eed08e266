"""Runs a suite of `stencil-tune bench` and keeps what it found.

    bench/bench record SUITE FOLDER [options of stencil-tune bench]
    bench/bench record main bench/results/h200 --budget 20s

FOLDER gets SUITE.json, with commit, date, driver and clocks, and SUITE.txt, the tables as they were printed. All GPUs of
the machine share the cases, unless --device or --cases says which; SUITE.txt then has a table for each.
"""

import functools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from bench import gpus, program, write_whole
from bench.spread import spread

PROGRESS = re.compile(r" *\d* s  |racing |tuning ")


def add_arguments(parser):
    parser.add_argument("suite")
    parser.add_argument("folder", type=pathlib.Path)
    parser.set_defaults(options=[])


def run_part(command, record, log, on_gpu):
    """Writes the part's JSON; what it says meanwhile is shown too. Returns its status."""
    with record.open("w") as out, log.open("w") as tables:
        process = subprocess.Popen([*command, *on_gpu], stdout=out, stderr=subprocess.PIPE, text=True)
        for line in process.stderr:
            sys.stderr.write(line)
            if not PROGRESS.match(line):
                tables.write(line)
    return process.wait()


def merged(texts):
    """One record with the cases of all parts, in the suite's order."""
    if len(texts) == 1:
        return texts[0]
    records = [json.loads(text) for text in texts]
    cases = [case for record in records for case in record.get("cases", [])]  # none where a signal came first
    return json.dumps(dict(records[0], cases=sorted(cases, key=lambda case: case["case"])), indent=2) + "\n"


def run(given):
    """1 where some case failed or a signal left some out: the others are kept, and the record says which."""
    command = [program(), "bench", "--suite", given.suite, "--json", *given.options]
    chosen = any(option.partition("=")[0] in ("--device", "--cases") for option in given.options)
    parts = 1 if chosen else max(len(gpus()), 1)
    statuses = {}
    with tempfile.TemporaryDirectory() as scratch:
        records = [pathlib.Path(scratch, f"{part}.json") for part in range(1, parts + 1)]
        logs = [record.with_suffix(".log") for record in records]

        def task(part, on_gpu):
            share = [*on_gpu, "--cases", f"{part + 1}-/{parts}"] if parts > 1 else []
            statuses[part] = run_part(command, records[part], logs[part], share)

        spread([functools.partial(task, part) for part in range(parts)])
        if texts := [text for record in records if (text := record.read_text())]:
            given.folder.mkdir(parents=True, exist_ok=True)
            write_whole(given.folder / f"{given.suite}.json", merged(texts))
            write_whole(given.folder / f"{given.suite}.txt", "".join(log.read_text() for log in logs))
    return int(any(statuses.values()))
