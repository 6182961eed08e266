"""What is measured beside `stencil-tune bench`, as subcommands of bench/bench. Here is what they share."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "build/default/bin"


def program():
    """The program stencil-tune: of the environment variable STENCIL_TUNE, else of the build."""
    return os.environ.get("STENCIL_TUNE") or str(BIN / "stencil-tune")


def said(*command, **more):
    """What a command prints; more: for subprocess.run. It has to succeed."""
    return subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True, **more).stdout


def gpus():
    """The names of this machine's GPUs."""
    return [device["name"] for device in json.loads(said(program(), "devices", "--json"))["devices"]]


def cores():
    return len(os.sched_getaffinity(0))


def write_whole(path, text):
    """The file has all of the text, or stays as it was."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    unfinished.write_text(text)
    unfinished.replace(path)
