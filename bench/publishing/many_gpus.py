"""The tables of docs/scaling.md: rates of many GPUs as the program predicts them, and as two were measured."""

import concurrent.futures
import json
import os
import re
import textwrap

from bench import ROOT, cores, program, said
from bench.publishing.records import table

GPUS = "8,64,512,4096"
NAMES = {"acoustic3d_o4": "acoustic o4"}  # shorter than the definition's
PREDICTED = ("star3d1r", "corpus/acoustic3d_o4.toml", "corpus/yee3d.toml")
SCALINGS = {"weak": ("--dims 1024", " --weak"), "strong": ("--dims 2048", "")}


def command(stencil, scaling, model):
    dims, weak = SCALINGS[scaling]
    return f"stencil-tune --stencil {stencil} {dims} --steps 100 --gpus {GPUS} --device-model {model}{weak}"


def predicted(words):
    """What the command prints as JSON, of the winners that ship alone."""
    shipped = {name: value for name, value in os.environ.items() if not name.startswith("STENCIL_TUNE_")}
    return json.loads(said(program(), *words.split()[1:], "--json", "--db", os.devnull + "/none", cwd=ROOT, env=shipped))


def predicted_section(scaling, model):
    commands = [command(stencil, scaling, model) for stencil in PREDICTED]
    with concurrent.futures.ThreadPoolExecutor(cores()) as at_once:
        answers = list(at_once.map(predicted, commands))
    rows = []
    for stencil, answer in zip(PREDICTED, answers):
        name = re.fullmatch(r"(?:.*/)?(\w+)(?:\.toml)?", stencil)[1]
        rows += [[f"{NAMES.get(name, name)}, f32", str(point["gpus"]), point["cut"], point["part"], str(point["fused_steps"]),
                  str(point["steps_per_exchange"]), f"{point['exchange_us']:.0f}", f"{point['step_us']:.1f}",
                  f"{point['gstencils']:.0f}", f"{100 * point['efficiency']:.1f} %"] for point in answer]
    header = ["stencil", "GPUs", "cut", "cells a GPU", "steps fused", "steps an exchange", "exchange, µs", "step, µs",
              "GStencil/s", "efficiency"]
    return "```sh\n" + "\n".join(commands) + "\n```\n\n" + table(header, rows)


def measured_section(record, printed, folder):
    """printed: what bench/scaling printed with the record: the model's error, by its rows."""
    errors = re.findall(r"^\S+ +(?:weak|strong) .* ([+-][\d.]+ %)$", printed, re.MULTILINE)
    rows, apart = [], []
    for point, error in zip(record["points"], errors, strict=True):
        name = NAMES.get(point["stencil"], point["stencil"])
        rows.append([name, point["scaling"], "x".join(map(str, point["dims"])), str(point["fused_steps"]),
                     f"{point['gstencils']:.1f}", f"{point['whole_on_one_gstencils']:.1f}", f"{100 * point['efficiency']:.1f} %",
                     f"{100 * point['target']:.0f} %" if point["target"] else "", error])
        if point["scaling"] == "strong":
            apart.append((name, point["one_gpu_gstencils"], 50 * point["gstencils"] / point["one_gpu_gstencils"]))
    links = record["links"]
    shares = "; ".join(f"{name} {rate:.1f} GStencil/s and {share:.1f} %" for name, rate, share in apart)
    header = ["stencil", "scaling", "grid", "steps fused", "GStencil/s on two", "on one", "efficiency", "target", "model"]
    return (f"On two {record['gpu']} at commit {record['commit'][:7]}, {record['date'][:10]}, with the winners that ship for the H200 "
            f"([scaling.json](../{folder}/scaling.json)):\n{links['node_gbs']:.0f} GB/s each way at once, "
            f"{links['node_latency_us']:.0f} µs an exchange. Runs of 100 steps, f32, boundary hold, bursts after a rest, median of "
            f"five.\n\n{table(header, rows)}\n"
            "On one: weak, half of the grid; strong, all of it. Model: predicted over measured rate, by the links and the rate of one\n"
            "GPU on its part. More than 100 % has its cause in one GPU, which alone on half of the grid ran faster than on the whole.\n"
            + textwrap.fill(f"Its rate there, and strong scaling against twice that rate: {shares}.", 120) + "\n")
