#!/usr/bin/env python3
"""The same keys, sources and winners from the same input, whatever the machine.

    reproduce.py --program stencil-tune [--count N]

Prints a digest of the stencil keys of corpus/, of the exports of up to N shipped winners (default: all), and of N predicted
tunes with a fixed number of trials and one compiler at a time. Everything is made twice here, in fresh folders; two machines
agree where they print the same digest. The program's own version and NVRTC's are no part of it, the winners are.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from sandbox import SHIPPED_WINNERS, SOURCES, arguments, conclude, in_parallel, neutral_environment

TUNES = [["--dims", "256"], ["--dims", "2048x2048", "--type", "f64"], ["--dims", "192", "--steps", "10"],
         ["--stencil", str(SOURCES / "corpus/hotspot2d.toml"), "--dims", "1024x1024"], ["--dims", "1000003", "--rank", "1"]]


def run(program, folder, *words):
    environment = {**neutral_environment(), "HOME": str(folder), "XDG_DATA_HOME": str(folder / "data"),
                   "XDG_CACHE_HOME": str(folder / "cache"), "COLUMNS": "120"}
    done = subprocess.run([program, *words], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def key_of(program, folder, definition):
    return re.search(r"key ([0-9a-f]{32})", run(program, folder, "stencils", "show", str(definition)))[1]


def stage_of(trial):
    """The option for it; whole steps, of which a stencil of one stage has one, need none."""
    return ["--stage", str(trial["stage"])] if trial["stage"] >= 0 else []


def export_of(program, folder, trial):
    definition = SOURCES / "corpus" / (trial["stencil_name"] + ".toml")
    extents = [trial["nx"], trial["ny"], trial["nz"]][: trial["rank"]]
    boundary = ",".join(f"{axis}={trial['boundary_' + axis]}" for axis in "xyz"[: trial["rank"]])
    text = run(program, folder, "export", "--stencil", str(definition) if definition.exists() else trial["stencil_name"],
               "--type", trial["type"], "--dims", "x".join(map(str, extents)), "--boundary", boundary, "--pitch",
               str(trial["pitch"]), "--steps", str(trial["steps"]), "--gpu", trial["gpu"], "--objective", trial["objective"],
               "--name", "update_cells", *stage_of(trial))
    if f"Candidate {trial['code']} for" not in text:
        sys.exit(f"another winner than {trial['code']} was exported: {text[:400]}")
    return re.sub(r"stencil-tune [0-9][^\s,;)]*", "stencil-tune", text)


def shipped_trials():
    return [winner["trial"] for file in sorted(SHIPPED_WINNERS.parent.glob("*.json"))
            for winner in json.loads(file.read_text())["winners"]]


def predicted_winner(program, folder, tune):
    report = json.loads(run(program, folder, "tune", *tune, "--device-model", "h200", "--jobs", "1", "--max-trials", "12",
                            "--budget", "600s", "--json"))
    return next(f"{kernel['code']} {kernel['gstencils']:.6g}" for kernel in report["kernels"]
                if kernel["kernel"] == "winner")


def digest(program, count, jobs):
    """The tunes come one after the other: each begins with what those before have found."""
    definitions = sorted((SOURCES / "corpus").glob("*.toml"))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        parts = in_parallel(lambda definition: key_of(program, folder, definition), definitions, jobs)
        parts += in_parallel(lambda trial: export_of(program, folder, trial), shipped_trials()[:count], jobs)
        parts += [predicted_winner(program, folder, tune) for tune in TUNES[:count]]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16], len(parts)


def main():
    options = arguments(__doc__, len(shipped_trials()))  # there is nothing random here
    (first, made), (second, _) = in_parallel(lambda _: digest(options.program, options.count, options.jobs), range(2), 2)
    differ = int(first != second)
    conclude(f"reproduction: {made} keys, exports and predicted winners, made twice, {differ} different, digest {first}",
             differ)


if __name__ == "__main__":
    main()
