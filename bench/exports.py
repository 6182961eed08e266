"""Whether every winner that ships runs as fast exported and built by nvcc as in the library.

    bench/bench exports FOLDER [--bin build/default/bin] [--winners FILE] [--jobs N] [--only TEXT] [--seconds N]

All have to come within 3 %. Each is exported with its own check and benchmark and built by nvcc as its first lines say, as
many at a time as there are cores. Then each runs once in the library and once exported, one after the other, with nothing
else at work: batches of launches without rests, after 100 ms of warming up, a median each. FOLDER gets exports.json and
exports.txt, written anew after each winner, and what was built; the same command goes on where it stopped. --winners: of
`stencil-tune db export`, or of `retime --into`, in place of those that ship. --seconds: start nothing more after that time.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from bench import BIN, ROOT, cores, said, write_whole

CLOSE = 0.97  # of the library's rate


def write_sources(given):
    """Files with check and benchmark of the winners that are asked for, by name."""
    command = [str(given.bin / "stencil_tune_bench_kernel_code"), "--exports", str(given.folder / "built"), "--with-main",
               "--threads", str(given.jobs), "--winners", given.winners]
    subprocess.run(command + sorted(map(str, (ROOT / "corpus").glob("*.toml"))), check=True, stdout=subprocess.DEVNULL)
    sources = sorted((given.folder / "built").glob("*.cu"))
    return {source.stem: source for source in sources if given.only in source.stem}


def build(source):
    """What nvcc said where it failed, else nothing; the program comes beside the source."""
    program = source.with_suffix("")
    if program.exists():
        return ""
    nvcc, *flags = re.search(r"^// Build: (nvcc [^(\n]*?) \S+\.cu\b", source.read_text(), re.MULTILINE)[1].split()
    if os.environ.get("CUDA_HOME"):
        nvcc = os.path.join(os.environ["CUDA_HOME"], "bin", nvcc)
    unfinished = source.with_suffix(".unfinished")
    done = subprocess.run([nvcc, *flags, "-o", str(unfinished), str(source)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        return done.stdout.strip()[-400:] or "nvcc failed"
    unfinished.rename(program)
    return ""


class LibraryRates:
    """The program that times winners in the library, one after the other as they are asked for."""

    def __init__(self, given):
        command = [str(given.bin / "stencil_tune_bench_shipped_rates"), "--winners", given.winners, "--only", given.only,
                   "--threads", str(given.jobs), "--scratch", str(given.folder / "built" / "winners.db")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.about = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("stencil_tune_bench_shipped_rates ended: its message is above")
        return json.loads(line)

    def of(self, name):
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return self.read()


def fused_steps(name):
    """Steps of a launch: t4 of the code, where there is one."""
    found = re.search(r"\.t(\d+)(?=\.|$)", name)
    return int(found[1]) if found else 1


def run_exported(program, name):
    done = subprocess.run([str(program)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    timed = re.search(r": ([\d.]+) ms, ([\d.]+) GStencil/s", done.stdout)
    if done.returncode or not timed:
        return {"problem": done.stdout.strip()[-400:] or f"status {done.returncode}"}
    return {"ms_a_step": float(timed[1]) / fused_steps(name), "gstencils": float(timed[2])}


def measure(name, program, unbuilt, library):
    row = {"winner": name, "library": library.of(name)}
    row["exported"] = {"problem": unbuilt} if unbuilt else run_exported(program, name)
    both = [row[side].get("ms_a_step") for side in ("library", "exported")]
    if all(both):
        row["share"] = both[0] / both[1]
    return row


def line(row):
    def rate(side):
        return f"{row[side]['gstencils']:8.1f}" if "gstencils" in row[side] else "       -"

    problems = [f"{side}: {row[side]['problem']}" for side in ("library", "exported") if "problem" in row[side]]
    share = f"{100 * row['share']:6.1f} %" if "share" in row else "       -"
    return f"{rate('library')} {rate('exported')} {share}  {row['winner']} {'; '.join(problems)}".rstrip()


def summary(rows):
    shares = sorted(row["share"] for row in rows if "share" in row)
    if not shares:
        return "none was timed both ways"
    far = sum(share < CLOSE for share in shares)
    return (f"{len(rows)} winners, {len(shares)} timed both ways; exported, of the library's rate: median "
            f"{100 * shares[len(shares) // 2]:.1f} %, least {100 * shares[0]:.1f} %, {far} below {100 * CLOSE:.0f} %")


def keep(folder, about, rows):
    write_whole(folder / "exports.json", json.dumps({**about, "exports": rows}, indent=2) + "\n")
    head = (f"Winners as the library launches them and exported, {about['gpu']}, driver {about['driver']}, commit "
            f"{about['commit']}, {about['date']}\nGStencil/s in batches without rests: library, exported, share\n\n")
    write_whole(folder / "exports.txt", head + "".join(line(row) + "\n" for row in rows) + "\n" + summary(rows) + "\n")


def add_arguments(parser):
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=BIN)
    parser.add_argument("--winners", default="")
    parser.add_argument("--jobs", type=int, default=cores())
    parser.add_argument("--only", default="", help="winners whose problem or code contains this")
    parser.add_argument("--seconds", type=float, default=0)


def run(given):
    began = time.monotonic()
    (given.folder / "built").mkdir(parents=True, exist_ok=True)
    record = given.folder / "exports.json"
    rows = json.loads(record.read_text())["exports"] if record.exists() else []
    known = {row["winner"] for row in rows}

    sources = {name: source for name, source in write_sources(given).items() if name not in known}
    if not sources and not rows:
        sys.exit("no such winner")
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        unbuilt = dict(zip(sources, pool.map(build, sources.values())))
    library = LibraryRates(given)
    about = {"gpu": library.about["gpu"], "driver": library.about["driver"],
             "commit": said(given.bin / "stencil-tune", "--version").strip(),
             "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())}
    for name, source in sources.items():
        if given.seconds and time.monotonic() - began > given.seconds:
            print("not finished: the same command goes on")
            break
        rows.append(measure(name, source.with_suffix(""), unbuilt[name], library))
        print(line(rows[-1]), flush=True)
        keep(given.folder, about, rows)
    print(summary(rows))
    return 0 if rows and all(row.get("share", 0) >= CLOSE for row in rows) else 1
