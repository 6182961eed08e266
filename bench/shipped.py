"""The winners that ship (db/pretuned/NAME.json): which of them race again, and what becomes of the file."""

import json
import pathlib
import re
import sys

from bench import write_whole

PROBLEM = ["stencil_name", "type", "nx", "ny", "nz", "stencil_key", "stage", "boundary_x", "boundary_y", "boundary_z",
           "pitch", "steps"]  # columns that name one


def winners_in(path):
    return json.loads(path.read_text())["winners"] if path.exists() else []


def problem(winner):
    return tuple(winner["trial"][column] for column in PROBLEM)


def key(winner):
    """What one winner stands for."""
    return (*problem(winner), winner["trial"]["gpu"], winner["trial"]["objective"])


# ---- is this the GPU? ------------------------------------------------------------------------------------------------

def check_gpus(name, winners, gpus):
    """Ends the program where these GPUs cannot measure for the file NAME."""
    if not gpus:
        sys.exit("no GPU here: what ships is measured")
    known = {winner["trial"]["gpu"] for winner in winners}
    for gpu in gpus:
        if known and gpu not in known:
            sys.exit(f"{name} has winners of {', '.join(sorted(known))}, and this is {gpu}")
        if not known and name.lower() not in gpu.lower().split():
            sys.exit(f"winners of {gpu} cannot be called {name}")


# ---- what races ------------------------------------------------------------------------------------------------------

def dims(trial):
    return "x".join(str(trial[n]) for n in ("nx", "ny", "nz")[: trial["rank"]])


def is_run(winner):
    return winner["trial"]["steps"] > 1


def read_also(path):
    """{(stencil, type, dims, steps): codes} of lines `STENCIL TYPE DIMS STEPS CODE`, where # begins a comment, or of a
    file of winners (*.json), such as another GPU's."""
    also = {}
    if path and path.suffix == ".json":
        for trial in (winner["trial"] for winner in winners_in(path)):
            if named := short_key(trial):
                also.setdefault(named, []).append(trial["code"])
        return also
    for line in path.read_text().splitlines() if path else []:
        words = line.partition("#")[0].split()
        if words:
            stencil, type, grid, steps, code = words
            also.setdefault((stencil, type, grid, int(steps)), []).append(code)
    return also


def short_key(trial):
    """What a file of further codes names a problem by: boundary hold and dense rows, whole steps."""
    boundaries = {trial[f"boundary_{axis}"] for axis in "xyz"[: trial["rank"]]}
    plain = boundaries == {"hold"} and trial["pitch"] == trial["nx"] and trial["stage"] <= 0
    return (trial["stencil_name"], trial["type"], dims(trial), trial["steps"]) if plain else None


def stencil_options(trial):
    stencil, _, symmetric = trial["stencil_name"].partition("-")
    if not symmetric:
        return ["--stencil", stencil]
    shape, rank, order = re.fullmatch(r"(star|box)(\d)d(\d+)r", stencil).groups()
    return ["--shape", shape, "--rank", rank, "--order", order, "--coefficients", "symmetric"]


def race(trial, codes):
    boundary = ",".join(f"{axis}={trial['boundary_' + axis]}" for axis in "xyz"[: trial["rank"]])
    words = ["tune", *stencil_options(trial), "--type", trial["type"], "--dims", dims(trial), "--boundary", boundary,
             "--pitch", str(trial["pitch"]), "--steps", str(trial["steps"])]
    if trial["stage"] >= 0:  # whole steps need no option
        words += ["--stage", str(trial["stage"])]
    return words + ["--candidates", ",".join(codes)]


def new_race(named, codes):
    stencil, type, grid, steps = named
    return ["tune", "--stencil", stencil, "--type", type, "--dims", grid, "--steps", str(steps),
            "--candidates", ",".join(codes)]


# Which winners race again, given (code, created_at) of the stale ones and the further codes.
WHICH = {
    "all": lambda winner, stale, also: True,
    "stale": lambda winner, stale, also: (winner["trial"]["code"], winner["trial"]["created_at"]) in stale,
    "runs": lambda winner, stale, also: is_run(winner),
    "bursts": lambda winner, stale, also: is_run(winner) and not winner["trial"]["sustained_rate"],
    "also": lambda winner, stale, also: short_key(winner["trial"]) in also,
}


def races(winners, which, listed, also):
    """A race for each problem, of all its codes; those of `also` race with them, or on their own where none ships. Each is
    the words of a tune."""
    stale = {(each["code"], each["created_at"]) for each in listed if each["stale"]}
    problems = {}
    for winner in sorted((each for each in winners if WHICH[which](each, stale, also)), key=problem):
        problems.setdefault(problem(winner), []).append(winner["trial"])
    found = []
    for trials in problems.values():
        codes = [trial["code"] for trial in trials] + also.get(short_key(trials[0]), [])
        found.append(race(trials[0], list(dict.fromkeys(codes))))
    if which in ("all", "runs", "also"):
        shipped = {short_key(winner["trial"]) for winner in winners}
        found += [new_race(named, codes) for named, codes in sorted(also.items())
                  if named not in shipped and (which != "runs" or named[3] > 1)]
    return found


# ---- back into the file ----------------------------------------------------------------------------------------------

def merged(old, new):
    """What raced takes the place of the winner of the same problem, GPU and objective; all others stay. A run that
    raced under load also takes the place of one that only raced in bursts: its race has both rates."""
    winners = {key(winner): winner for winner in old}
    for winner in new:
        before = [winners.pop(key(winner), None)]
        if is_run(winner) and winner["trial"]["objective"] == "time":
            before.append(winners.pop((*key(winner)[:-1], "burst"), None))
        seen = [each["trials_seen"] for each in before if each and each["trial"]["code"] == winner["trial"]["code"]]
        winners[key(winner)] = dict(winner, trials_seen=max([winner["trials_seen"], *seen]))
    return sorted(winners.values(), key=key)


def merge(path, raced):
    """Puts what raced, in a text of `db export`, into the file. Returns what is to be told of it."""
    file = json.loads(raced.read_text())
    new = [winner for winner in file["winners"] if not winner["trial"].get("predicted")]
    if not new:
        return "nothing raced"
    file["winners"] = merged(winners_in(path), new)
    write_whole(path, json.dumps(file, indent=2, ensure_ascii=False) + "\n")
    trials = [winner["trial"] for winner in file["winners"]]
    return (f"{len(new)} raced, {sum(w['trial']['sustained_rate'] > 0 for w in new)} of them under load; "
            f"{len(trials)} winners in {path}, {sum(t['steps'] > 1 for t in trials)} of runs, of which "
            f"{sum(t['steps'] > 1 and t['sustained_rate'] > 0 for t in trials)} have raced under load")
