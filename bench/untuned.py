"""What does who never tunes get? Each winner that ships beside what the library would choose if it were not known.

    bench/bench untuned NAME [--without stencil|size] [--only TEXT] [--seconds N] [--bin FOLDER]

NAME: of the GPU model, such as h200. Without a GPU it says what stencil_tune_bench_untuned does: the choices, and their shares
by the model and by recorded trials. On one both codes of each problem are verified and raced: shares of the winner's rate, the
match, the problem and both codes, then mean and least of each match. --seconds: start nothing more after that time.
"""

import json
import pathlib
import subprocess
import tempfile
import time

from bench import BIN, ROOT, gpus, program, said
from bench.shipped import stencil_options


def add_arguments(parser):
    parser.add_argument("name", help="of the GPU model: h200")
    parser.add_argument("--without", choices=["stencil", "size"], default="stencil",
                        help="what is not known: the winner's stencil, or its form on its grid")
    parser.add_argument("--only", default="", metavar="TEXT", help="problems whose name contains it")
    parser.add_argument("--seconds", type=float, default=0, help="start no race after that time")
    parser.add_argument("--bin", type=pathlib.Path, default=BIN, metavar="FOLDER", help="of the programs")


def problem_options(problem):
    """Options of `tune` and `show` for "stencil[:stage] type dims pitch boundary steps"."""
    stencil, type, dims, pitch, boundary, steps = problem.split()
    stencil, _, stage = stencil.partition(":")
    options = [*stencil_options({"stencil_name": stencil}), "--type", type, "--dims", dims, "--pitch", pitch, "--boundary",
               boundary, "--steps", steps]
    return options + (["--stage", stage] if stage not in ("", "-1") else [])


def raced_rates(problem, codes, database):
    """By code; none where the race came to nothing."""
    options = [*problem_options(problem), "--db", database]
    try:
        said(program(), "tune", *options, "--candidates", ",".join(dict.fromkeys(codes)))
        trials = json.loads(said(program(), "show", *options, "--json"))["trials"]
    except subprocess.CalledProcessError:
        return {}
    return {trial["code"]: trial.get("sustained_gstencils") or trial["gstencils"]
            for trial in trials if trial["outcome"] == "ok"}


def run(given):
    chosen = said(given.bin / "stencil_tune_bench_untuned", "--gpu", given.name, "--without", given.without, "--only",
                  given.only, *sorted(ROOT.glob(f"bench/results/{given.name}/*.trials.gz")))
    if not gpus():
        print(chosen, end="")
        return 0
    shares, began = {}, time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        for line in chosen.splitlines():
            columns = line.split(" | ")
            if line.startswith("#") or len(columns) < 4 or columns[2].endswith(" ..."):  # several kernels, not one code
                continue
            if given.seconds and time.monotonic() - began > given.seconds:
                print("not finished")
                break
            problem, match, code, winner = columns[:4]
            rates = raced_rates(problem, [winner, code], pathlib.Path(scratch) / "untuned.db")
            share = rates.get(code, 0) / rates[winner] if winner in rates else float("nan")
            shares.setdefault(match, []).append(share)
            print(f"{share:.3f} {match}: {problem} {code} {winner}", flush=True)
    for match, all in shares.items():
        print(f"{match}: {len(all)} problems, mean {sum(all) / len(all):.3f}, least {min(all):.3f}")
    return 0
