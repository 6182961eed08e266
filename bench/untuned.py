"""What does who never tunes get? Each winner that ships beside what the library would choose if it were not known.

    bench/bench untuned NAME [--without stencil|size] [--only TEXT] [--race TIME] [--seconds N] [--bin FOLDER]

NAME: of the GPU model, such as h200. Without a GPU it says what stencil_tune_bench_untuned does: the choices, and their shares
by the model and by recorded trials. On one both codes of each problem are verified and raced: shares of the winner's rate, the
match, the problem and both codes, then mean and least of each match. --race: what a race of that time finds runs beside them,
and has a share of its own. --seconds: start nothing more after that time.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import time

from bench import BIN, ROOT, gpus, program, said
from bench.shipped import dims, stencil_options, winners_in


def add_arguments(parser):
    parser.add_argument("name", help="of the GPU model: h200")
    parser.add_argument("--without", choices=["stencil", "size"], default="stencil",
                        help="what is not known: the winner's stencil, or its form on its grid")
    parser.add_argument("--only", default="", metavar="TEXT", help="problems whose name contains it")
    parser.add_argument("--race", metavar="TIME", help="such as 2s: what a lookup that races so long gets, too")
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


def unknowing(given, problem):
    """The winners that ship without those that know the problem."""
    stencil, _, extents, *_ = problem.split()
    trials = [winner["trial"] for winner in winners_in(ROOT / f"db/pretuned/{given.name}.json")]
    what = "stencil_key" if given.without == "stencil" else "form"
    known = {trial[what] for trial in trials if trial["stencil_name"] == stencil.partition(":")[0]}
    return [trial for trial in trials
            if trial[what] not in known or given.without == "size" and dims(trial) != extents]


def raced_code(given, problem, scratch):
    """What wins a race of that time where nobody knows the problem; none where the race came to nothing."""
    others, site, own = (scratch / name for name in ("others.json", "others.db", "own.db"))
    own.unlink(missing_ok=True)
    site.unlink(missing_ok=True)
    winners = [{"naive_rate": 0, "trials_seen": 0, "trial": trial} for trial in unknowing(given, problem)]
    others.write_text(json.dumps({"format": "stencil-tune winners", "version": 1, "winners": winners}))
    said(program(), "db", "import", others, "--db", site)
    known = {**os.environ, "STENCIL_TUNE_SITE_DB": str(site), "STENCIL_TUNE_PRETUNED": "off"}
    options = [*problem_options(problem), "--db", own]
    try:
        said(program(), "tune", *options, "--race", given.race, "-q", env=known)
        return json.loads(said(program(), "show", *options, "--json", env=known))["code"]
    except subprocess.CalledProcessError:
        return None


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
            codes = {match: code}
            if given.race and (raced := raced_code(given, problem, pathlib.Path(scratch))):
                codes[f"race of {given.race}"] = raced
            rates = raced_rates(problem, [winner, *codes.values()], pathlib.Path(scratch) / "untuned.db")
            for match, code in codes.items():
                share = rates.get(code, 0) / rates[winner] if winner in rates else float("nan")
                shares.setdefault(match, []).append(share)
                print(f"{share:.3f} {match}: {problem} {code} {winner}", flush=True)
    for match, all in shares.items():
        print(f"{match}: {len(all)} problems, mean {sum(all) / len(all):.3f}, least {min(all):.3f}")
    return 0
