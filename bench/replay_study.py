"""The search for stencils, and every strategy for tables, on recorded problems of an H200.

    bench/bench replay-study [--all] [options of stencil-tune replay]

Ten seeds on seven problems: three of one sweep and four runs, one of them of a system. What the study does live, without a
GPU. It prints the tables of docs/search.md.
"""

import subprocess

from bench import ROOT, program

RECORDS = ROOT / "bench/results/h200"
SEVEN = [RECORDS / f"{name}.trials.gz" for name in ("study", "temporal", "systems")]
ONLY = "star3d1r f32,star3d4r f64,box2d1r f32,box3d1r f64,star2d1r f64,acoustic3d_o2 f32"


def add_arguments(parser):
    parser.add_argument("--all", action="store_true", help="every problem with 20 recorded candidates or more")
    parser.add_argument("--strategy", default="all")
    parser.add_argument("--repeats", default="10")
    parser.set_defaults(options=[])


def run(given):
    files = sorted(RECORDS.glob("*.trials.gz")) if given.all else [*SEVEN, "--only", ONLY]
    return subprocess.run([program(), "replay", *files, "--after", "25,50,100,200,400", "--strategy", given.strategy,
                           "--repeats", given.repeats, *given.options]).returncode
