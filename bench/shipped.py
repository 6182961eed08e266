#!/usr/bin/env python3
"""The winners that ship (db/pretuned/NAME.json), for the scripts that tune them and race them: bench/shipping.sh.

    bench/shipped.py check NAME FILE DEVICES          fails unless the devices are of the GPU model that FILE is for
    bench/shipped.py races FILE LISTED WHICH PART [ALSO]   a `tune ...` a line for each race
    bench/shipped.py merge FILE RACED                 puts what raced into FILE

DEVICES and LISTED are what `stencil-tune devices --json` and `list --shipped --json` print, RACED is of `db export`.
"""

import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROBLEM = ["stencil_name", "type", "nx", "ny", "nz", "stencil_key", "stage", "boundary_x", "boundary_y", "boundary_z",
           "pitch", "steps"]  # columns that name one


def winners_in(path):
    path = pathlib.Path(path)
    return json.loads(path.read_text())["winners"] if path.exists() else []


def problem(winner):
    return tuple(winner["trial"][column] for column in PROBLEM)


def key(winner):
    """What one winner stands for. Texts of the first format have no objective: all races were in bursts."""
    return (*problem(winner), winner["trial"]["gpu"], winner["trial"].get("objective", "burst"))


# ---- is this the GPU? ------------------------------------------------------------------------------------------------

def objection(name, winners, devices):
    """Why these devices cannot measure for the file NAME; None where they can."""
    if not devices:
        return "no GPU here: what ships is measured"
    known = {winner["trial"]["gpu"] for winner in winners}
    for device in sorted(set(devices)):
        if known and device not in known:
            return f"{name} has winners of {', '.join(sorted(known))}, and this is {device}"
        if not known and name.lower() not in device.lower().split():
            return f"winners of {device} cannot be called {name}"
    return None


# ---- what races ------------------------------------------------------------------------------------------------------

def dims(trial):
    return "x".join(str(trial[n]) for n in ("nx", "ny", "nz")[: trial["rank"]])


def is_run(winner):
    return winner["trial"]["steps"] > 1


def read_also(path):
    """{(stencil, type, dims, steps): codes} of lines `STENCIL TYPE DIMS STEPS CODE`, where # begins a comment, or of a
    file of winners (*.json), such as another GPU's."""
    also = {}
    if path and path.endswith(".json"):
        for trial in (winner["trial"] for winner in winners_in(path)):
            if named := short_key(trial):
                also.setdefault(named, []).append(trial["code"])
        return also
    for line in pathlib.Path(path).read_text().splitlines() if path else []:
        words = line.partition("#")[0].split()
        if words:
            stencil, type, grid, steps, code = words
            also.setdefault((stencil, type, grid, int(steps)), []).append(code)
    return also


def short_key(trial):
    """By which a file of further codes names a problem: boundary hold and dense rows, whole steps."""
    boundaries = {trial[f"boundary_{axis}"] for axis in "xyz"[: trial["rank"]]}
    plain = boundaries == {"hold"} and trial["pitch"] == trial["nx"] and trial["stage"] <= 0
    return (trial["stencil_name"], trial["type"], dims(trial), trial["steps"]) if plain else None


def definition(stencil):
    """What --stencil takes: the file in corpus/, from the repository's root, else the built-in's name."""
    file = pathlib.Path("corpus", stencil + ".toml")
    return str(file) if (ROOT / file).exists() else stencil


def stencil_options(trial):
    stencil, _, symmetric = trial["stencil_name"].partition("-")
    if not symmetric:
        return ["--stencil", definition(stencil)]
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
    return ["tune", "--stencil", definition(stencil), "--type", type, "--dims", grid, "--steps", str(steps),
            "--candidates", ",".join(codes)]


def chosen(winners, which, listed, also):
    """The winners that are raced. WHICH: all, stale, runs, bursts (runs without a rate under load) or also (those that
    the file of further codes names)."""
    stale = {(each["code"], each["created_at"]) for each in listed if each["stale"]}
    tests = {
        "all": lambda winner: True,
        "stale": lambda winner: (winner["trial"]["code"], winner["trial"]["created_at"]) in stale,
        "runs": is_run,
        "bursts": lambda winner: is_run(winner) and not winner["trial"].get("sustained_gstencils"),
        "also": lambda winner: short_key(winner["trial"]) in also,
    }
    return [winner for winner in winners if tests[which](winner)]


def races(winners, which, part, listed, also):
    """Of each problem one race of all its codes; those of `also` race with them, or on their own where none ships."""
    problems = {}
    for winner in sorted(chosen(winners, which, listed, also), key=problem):
        problems.setdefault(problem(winner), []).append(winner["trial"])
    lines = []
    for trials in problems.values():
        codes = [trial["code"] for trial in trials] + also.get(short_key(trials[0]), [])
        lines.append(race(trials[0], list(dict.fromkeys(codes))))
    if which in ("all", "runs", "also"):
        shipped = {short_key(winner["trial"]) for winner in winners}
        lines += [new_race(named, codes) for named, codes in sorted(also.items())
                  if named not in shipped and (which != "runs" or named[3] > 1)]
    number, parts = map(int, part.split("/"))
    return lines[number - 1 :: parts]


# ---- back into the file ----------------------------------------------------------------------------------------------

# What an older format did not have is not known.
UNKNOWN = {"sharpness": -1, "objective": "burst"}


def in_format_of(winner, example):
    trial = winner["trial"]
    fields = {field: trial.get(field, UNKNOWN.get(field, "" if isinstance(value, str) else 0))
              for field, value in example.items()}
    return dict(winner, trial=fields)


def merged(old, new):
    """What raced takes the place of the winner of the same problem, GPU and objective; all others stay. A run that
    raced under load also takes the place of one that only raced in bursts: its race has both rates."""
    if not new:
        return old
    winners = {key(winner): winner for winner in (in_format_of(each, new[0]["trial"]) for each in old)}
    for winner in new:
        before = [winners.pop(key(winner), None)]
        if is_run(winner) and winner["trial"]["objective"] == "time":
            before.append(winners.pop((*key(winner)[:-1], "burst"), None))
        seen = [each["trials_seen"] for each in before if each and each["trial"]["code"] == winner["trial"]["code"]]
        winners[key(winner)] = dict(winner, trials_seen=max([winner["trials_seen"], *seen]))
    return sorted(winners.values(), key=key)


def write(path, text):
    """Whole or not at all."""
    temporary = f"{path}.{os.getpid()}"
    pathlib.Path(temporary).write_text(text)
    os.replace(temporary, path)


def merge(path, raced):
    file = json.loads(pathlib.Path(raced).read_text())
    new = [winner for winner in file["winners"] if not winner["trial"].get("predicted")]
    if not new:
        print("nothing raced")
        return
    file["winners"] = merged(winners_in(path), new)
    write(path, json.dumps(file, indent=2, ensure_ascii=False) + "\n")
    trials = [winner["trial"] for winner in file["winners"]]
    print(f"{len(new)} raced, {sum(w['trial']['sustained_gstencils'] > 0 for w in new)} of them under load; "
          f"{len(trials)} winners in {path}, {sum(t['steps'] > 1 for t in trials)} of runs, of which "
          f"{sum(t['steps'] > 1 and t['sustained_gstencils'] > 0 for t in trials)} have raced under load")


def main():
    command, *words = sys.argv[1:] or [""]
    if command == "check":
        name, path, devices = words
        why = objection(name, winners_in(path), [each["name"] for each in json.loads(devices)["devices"]])
        sys.exit(why)
    elif command == "races":
        path, listed, which, part, *also = words
        for line in races(winners_in(path), which, part, json.loads(pathlib.Path(listed).read_text()),
                          read_also(also[0] if also else None)):
            print(*line)
    elif command == "merge":
        merge(*words)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
