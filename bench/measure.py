"""Makes the figures that need a GPU within a time limit, and packs them.

    bench/bench measure OUT [STEP...] [--seconds N] [--bin build/portable/bin] [--faststencil CHECKOUT] [--resume TAR]
                            [--dry-run]

For a machine that is there for minutes. Without STEPs all of them, the most valuable first. Each has a limit of its own, and
none starts that could not get far. A step that overruns is told to end; what it had by then is kept. OUT gets three files,
written anew after each step: results.tar.gz, measure.json (commit, date, driver, clocks, how each step ended) and
measure.txt (what they said). Steps that were cut short go on where they stopped: on the same machine by themselves, on
another with --resume and the results.tar.gz of before. --dry-run prints the plan. bench/README.md says how to build what it
needs.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import time

from bench import ROOT, write_whole

# Name, seconds at most, command. {name}: the GPU's file in db/pretuned; {work}: what is kept; {seconds}: when to start
# nothing more. Files that a step needs stand behind it: of {bin} and others.
STEPS = [
    ("contenders", 150, "bench/bench retime {name} also --also bench/contenders.txt --into {work}/shipped --seconds {seconds}",
     ["{bin}/stencil-tune", "db/pretuned/{name}.json"]),
    ("faststencil", 570, "bench/peers/faststencil/side-by-side {faststencil} {work}/faststencil --bin {bin} "
     "--seconds {seconds}", ["{bin}/stencil-tune", "{faststencil}/2dstencil"]),
    ("bursts", 300, "bench/bench retime {name} bursts --also bench/contenders.txt --into {work}/shipped "
     "--seconds {seconds}",
     ["{bin}/stencil-tune", "db/pretuned/{name}.json"]),
    ("exports", 480, "bench/bench exports {work}/exports --bin {bin} --seconds {seconds}",
     ["{bin}/stencil_tune_bench_kernel_code", "{bin}/stencil_tune_bench_shipped_rates"]),
    ("systems", 400, "bench/bench record systems {work}/systems --cases 1-18 --budget 8s", ["{bin}/stencil-tune"]),
    ("torch", 300, "bench/peers/torch_systems.py --json", []),
    ("torch-f64", 300, "bench/peers/torch_systems.py --json --type f64", []),
    ("variants", 570, "bench/bench record systems {work}/variants --cases 37- --budget 5s", ["{bin}/stencil-tune"]),
    ("winners", 570, "bench/bench pretune {name} --into {work}/shipped --seconds {seconds} --budget 10s",
     ["{bin}/stencil-tune"]),
]
OUTPUT_IS_RESULT = {"torch": "torch-systems.jsonl", "torch-f64": "torch-systems.jsonl"}


def heard(*command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.strip()
    except OSError:
        return ""


def device_of(program):
    said = heard(str(program), "devices", "--json")
    devices = json.loads(said)["devices"] if said else []
    return devices[0] if devices else None


def pretuned_name(device):
    """h200 of "NVIDIA H200": the word with a digit that comes first."""
    words = device["name"].lower().split() if device else []
    return next((word for word in words if any(c.isdigit() for c in word)), "none")


def gpu_state():
    """Driver, clocks and power as nvidia-smi has them; nothing where it is not there."""
    fields = ["name", "driver_version", "clocks.sm", "clocks.mem", "power.limit", "temperature.gpu"]
    said = heard("nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader")
    return [dict(zip(fields, line.split(", "))) for line in said.splitlines()]


class Plan:
    """The chosen steps with all that their commands name."""

    def __init__(self, given, device):
        self.given = given
        self.values = {"name": pretuned_name(device), "work": str(given.work), "bin": str(given.bin),
                       "faststencil": str(given.faststencil or "CHECKOUT")}
        self.steps = [step for step in STEPS if not given.steps or step[0] in given.steps]

    def missing(self, step):
        files = [need.format(**self.values) for need in step[3]]
        return [file for file in files if not (ROOT / file).exists()]

    def command(self, step, limit):
        words = step[2].format(**self.values, seconds=max(int(limit - 1.5 * self.given.grace), 1)).split()
        raced = self.given.work / "shipped" / f"{self.values['name']}.json"  # what will ship, once a step has raced it
        return words + ["--winners", str(raced)] if step[0] == "exports" and raced.exists() else words


# ---- running ---------------------------------------------------------------------------------------------------------

def run_step(command, limit, grace, result, environment):
    """How it ended, and seconds. The step runs in a process group of its own, which hears of its limit as a whole."""
    began = time.monotonic()
    with open(result, "ab") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT if result.suffix == ".txt"
                                   else None, stdin=subprocess.DEVNULL, env=environment, start_new_session=True)
        status = None
        for sign, wait in ((None, limit - grace), (signal.SIGTERM, grace), (signal.SIGKILL, None)):
            if sign is not None:
                os.killpg(process.pid, sign)
            try:
                status = process.wait(wait)
                break
            except subprocess.TimeoutExpired:
                pass
    overran = time.monotonic() - began >= limit - grace
    return "cut short" if overran else "done" if status == 0 else f"status {status}", time.monotonic() - began


def pack(given, record):
    """OUT's files, each whole or not at all. What steps built stays here."""
    def kept(entry):
        name = pathlib.PurePath(entry.name)
        return None if "built" in name.parts or name.suffix in (".unfinished", ".svg") else entry

    temporary = given.out / "results.unfinished"
    with tarfile.open(temporary, "w:gz") as tar:
        tar.add(given.work, arcname="results", filter=kept)
    temporary.replace(given.out / "results.tar.gz")
    write_whole(given.out / "measure.json", json.dumps(record, indent=2) + "\n")
    lines = [f"{step['step']:<12} {step['status']:<10} {step['seconds']:6.0f} s" for step in record["steps"]]
    logs = [f"\n==== {path.stem}\n{path.read_text(errors='replace')[-20000:]}" for path in sorted(given.work.glob("*.txt"))]
    write_whole(given.out / "measure.txt", "\n".join(lines) + "\n" + "".join(logs))


def measure(given, plan, record):
    began = time.monotonic()
    environment = {**os.environ, "STENCIL_TUNE": str(given.bin / "stencil-tune"),
                   "STENCIL_TUNE_DB": str(given.work / "tuned.db"), "PYTHONUNBUFFERED": "1"}
    for step in plan.steps:
        name = step[0]
        limit = min(step[1], given.seconds - (time.monotonic() - began))
        entry = {"step": name, "seconds": 0.0}
        record["steps"].append(entry)
        if missing := plan.missing(step):
            entry["status"] = "left out"
            entry["missing"] = missing
        elif limit < min(3 * given.grace, step[1]):
            entry["status"] = "no time"
        else:
            command = plan.command(step, limit)
            print(f"{name}: {' '.join(command)} ({limit:.0f} s at most)", flush=True)
            result = given.work / OUTPUT_IS_RESULT.get(name, f"{name}.txt")
            entry["status"], entry["seconds"] = run_step(command, limit, given.grace, result, environment)
        print(f"{name}: {entry['status']}{', no ' + ', '.join(missing) if missing else ''}", flush=True)
        record["gpu_after"] = gpu_state()
        pack(given, record)


def dry_run(given, plan):
    total = 0
    for step in plan.steps:
        missing = plan.missing(step)
        total += 0 if missing else step[1]
        print(f"{step[0]:<12} {step[1]:4} s  {' '.join(plan.command(step, step[1]))}"
              + (f"\n{'':20}left out: no {', '.join(missing)}" if missing else ""))
    programs = {ROOT / need.format(**plan.values) for step in plan.steps for need in step[3] if need.startswith("{bin}")}
    size = sum(program.stat().st_size for program in programs if program.exists())
    print(f"{total} s at most in all, {given.seconds} s a call; programs of {given.bin}: {size / 2**20:.1f} MiB")


def add_arguments(parser):
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("steps", nargs="*", metavar="STEP", help=", ".join(step[0] for step in STEPS))
    parser.add_argument("--seconds", type=int, default=570, help="of all (default 570)")
    parser.add_argument("--grace", type=int, default=20, help="seconds that a step gets to end in good order (default 20)")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/portable/bin")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/measure", help="where steps keep what they made")
    parser.add_argument("--faststencil", type=pathlib.Path, help="a copy of its repository")
    parser.add_argument("--resume", type=pathlib.Path, help="results.tar.gz of an earlier call")
    parser.add_argument("--dry-run", action="store_true")


def run(given):
    names = [step[0] for step in STEPS]
    if unknown := set(given.steps) - set(names):
        sys.exit(f"no step {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    for path in ("out", "bin", "work", "faststencil"):
        if getattr(given, path):
            setattr(given, path, getattr(given, path).resolve())
    device = device_of(given.bin / "stencil-tune")
    plan = Plan(given, device)
    if given.dry_run:
        dry_run(given, plan)
        return 0
    if device is None:
        sys.exit(f"{given.bin}/stencil-tune finds no GPU here")
    given.out.mkdir(parents=True, exist_ok=True)
    if given.resume and not given.work.exists():
        given.work.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(given.resume) as tar:
            safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Python 3.11.4 and later
            tar.extractall(given.work.parent / "resumed", **safely)
        shutil.move(given.work.parent / "resumed" / "results", given.work)
    given.work.mkdir(parents=True, exist_ok=True)
    record = {"date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
              "program": heard(str(given.bin / "stencil-tune"), "--version"), "device": device, "gpu_before": gpu_state(),
              "steps": []}
    measure(given, plan, record)
    return 0 if all(step["status"] == "done" for step in record["steps"]) else 1
