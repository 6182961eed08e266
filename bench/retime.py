"""Verifies and races again the winners that ship, and writes them back with today's evidence.

    bench/bench retime NAME WHICH [--part N/PARTS] [--also FILE] [--like OTHER] [--into FOLDER] [--seconds N] [options of tune]

    bench/bench retime h200 all                                 after a change of the checks or of what is recorded
    bench/bench retime h200 runs --part 1/2                     later 2/2
    bench/bench retime h200 also --also bench/contenders.txt    what the file names, beside what ships
    bench/bench retime h200 runs --objective energy             winners by energy stand beside those by time
    bench/bench retime h100 runs --like h200                    what ships for the H200, on a model that has no winners yet
    bench/bench retime h100 runs --also db/pretuned/h200.json   what ships for it, beside the winners that the model has

WHICH: all, stale (those whose template has changed since they raced), runs (those of several steps, which race in bursts
and under continuous load), bursts (runs without a rate under load) or also (what --also names). It needs the GPU that NAME
stands for. The kernels stay what a search found (pretune), and so does the number of trials that each was the best of. A
winner that is no longer right, or that another kernel of its race beats, is replaced. Cut short, it keeps what was done.
"""

import json
import pathlib

from bench import program, said, shipped, shipping


def add_arguments(parser):
    shipping.add_arguments(parser)
    parser.add_argument("which", choices=list(shipped.WHICH))
    parser.add_argument("--part", default="1/1", metavar="N/PARTS", help="of the races, every so manieth")
    parser.add_argument("--also", type=pathlib.Path, metavar="FILE",
                        help="further codes that race with them, `STENCIL TYPE DIMS STEPS CODE` a line, or winners (*.json)")
    parser.add_argument("--like", metavar="OTHER", help="races the winners of that GPU, and keeps what won as NAME's")


def run(given):
    listed = json.loads(said(program(), "list", "--shipped", "--json"))
    winners = shipped.winners_in(shipping.pretuned(given.like or given.name))
    races = shipped.races(winners, given.which, listed, shipped.read_also(given.also))
    number, parts = map(int, given.part.split("/"))
    return shipping.tune_all(given, races[number - 1 :: parts], at_once=2)
