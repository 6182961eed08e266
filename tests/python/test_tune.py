"""Tuning by the program, in a child process. Without a GPU it predicts."""

import os
import pathlib
import signal
import stat
import subprocess
import sys
import types

import numpy
import pytest
from device_arrays import CudaArray, aligned

import stencil_tune as st
from stencil_tune._lookup import kernel_for

HEAT = "u_next = u + alpha*laplacian(u); alpha = 0.1"
REPORT = """{"stencil": "heat", "type": "f32", "dims": "64x64", "boundary": "hold", "steps": 1, "predicted": true,
"device": {"name": "H <200>"}, "kernels": [
{"kernel": "winner", "outcome": "ok", "code": "direct.bx32.by8", "gstencils": 400.0, "share_of_copy": 0.8},
{"kernel": "naive", "not_available": "no such kernel"}], "notes": ["2 trials"]}"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A stand-in for the program, from the lines of a shell script."""

    def make(script):
        path = tmp_path / "program"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("STENCIL_TUNE_PROGRAM", str(path))

    return make


@pytest.fixture
def arguments_of(program, tmp_path):
    """The program's arguments of a call of tune()."""

    def run(*given, **more):
        program(f"printf '%s\\n' \"$@\" >'{tmp_path}/arguments'\ncp \"$3\" '{tmp_path}/definition' 2>/dev/null\n"
                f"cat <<'E'\n{REPORT}\nE")
        st.tune(*given, progress=False, **more)
        words = (tmp_path / "arguments").read_text().splitlines()
        assert words[0] == "tune"
        return dict(zip(words[1:-1:2], words[2::2])) | {"last": words[-1]}

    return run


@pytest.mark.parametrize("made", [lambda stencil: stencil, lambda stencil: stencil.adjoint()])
def test_what_is_found_is_looked_up(made, tmp_path):
    events = []
    database = tmp_path / "winners.db"
    odd = made(st.stencil("v = 3*u[x-1] - 7*u[y+2]", rank=2))  # no winner ships for it
    report = st.tune(odd, dims=(80, 48), predict_for="h200", max_trials=1, budget=90,
                     candidates=["direct.bx32.by8"], database=database, progress=events.append)
    assert report.predicted and not report.interrupted
    assert report.code == "direct.bx32.by8" and report.gstencils > 0
    assert events[0]["event"] == "started" and events[0]["gpu"] == "NVIDIA H200"
    assert report.history and report.history[-1]["best"]["code"] == report.code
    page, shown = report.page(), report._repr_html_()
    assert "direct.bx32.by8" in page and "Roofline" in page
    assert "<iframe" in shown and "Roofline" in shown and "best so far" in shown and "direct.bx32.by8" in shown
    kernel = st.lookup(odd, dims=(80, 48), gpu="h200", database=database)
    assert kernel.match == "predicted" and kernel.evidence.code == report.code


def test_calls_take_what_was_tuned_between_them(gpus):
    """ndimage, gradients, PyTorch and JAX keep the kernels of earlier calls."""
    odd = st.stencil("v = 5*u[x-1] - 7*u[y+2]", rank=2)
    arrays = [CudaArray(gpus.own(aligned(numpy.zeros((48, 80), numpy.float32)))) for _ in range(2)]
    kernel = kernel_for(odd, arrays, "hold")
    assert kernel.match == "predicted" and kernel_for(odd, arrays, "hold") is kernel
    assert kernel.evidence.code != "direct.bx64.by2", "else tuning shows nothing"
    st.tune(odd, dims=(80, 48), predict_for="h200", max_trials=1, candidates=["direct.bx64.by2"], progress=False)
    tuned = kernel_for(odd, arrays, "hold")
    assert tuned.evidence.code == "direct.bx64.by2" and kernel_for(odd, arrays, "hold") is tuned


def test_a_lookup_that_races_starts_the_program_and_says_what_came_of_it(program, tmp_path, monkeypatch):
    monkeypatch.setattr(st._library, "_open", {})  # libraries that know this program
    program(f"printf '%s\\n' \"$@\" >'{tmp_path}/arguments'\necho nothing was right\nexit 1")
    odd = st.stencil("v = 11*u[x-1] - 13*u[y+2]", rank=2)
    kernel = st.lookup(odd, dims=(80, 48), steps=9, device=0, race=2.0)
    words = (tmp_path / "arguments").read_text().splitlines()
    assert [words[words.index(option) + 1] for option in ("--race", "--dims", "--steps")] == ["2s", "80x48", "9"]
    assert kernel.match == "predicted"
    assert "it did not race" in kernel.evidence.sentence and "nothing was right" in kernel.evidence.sentence
    with pytest.raises(st.ArgumentError, match="race_s is -1"):
        st.lookup(odd, dims=(80, 48), device=0, race=-1)


def test_arguments_reach_the_program(arguments_of, tmp_path):
    said = arguments_of(HEAT, shape=(8, 16, 32), dtype="float64", boundary={"x": "zero", "y": "hold", "z": "hold"},
                        steps=5, pitch=40, budget="5m", device=1)
    assert said == {"--expr": HEAT, "--dims": "32x16x8", "--rank": "3", "--type": "f64", "--steps": "5", "--pitch": "40",
                    "--boundary": "x=zero,y=hold,z=hold", "--budget": "5m", "--device": "1", "--progress": "json",
                    "last": "--json"}
    definition = 'rank = 1\nfields = ["u", "v"]\n[update]\nv = "u[x+1]"\n'
    arguments_of(definition, dims=64)
    assert (tmp_path / "definition").read_text() == definition
    layered = st.stencil("v = u + m; m(x in layer)", rank=1).with_layer(3).with_layer("0:20")
    asked = arguments_of(layered, dims=64)
    assert (asked["--expr"], asked["--layer"]) == ("v = u + m; m(x in layer)", "0:20")


def test_a_failure_has_the_programs_words(program):
    program("echo 'stencil-tune: no such kernel' >&2; exit 1")
    with pytest.raises(st.Error, match="no such kernel"):
        st.tune(HEAT, dims=8, progress=False)


def test_what_the_program_calls_a_wrong_use_is_an_argument(program):
    program("echo 'stencil-tune: unknown objective' >&2; exit 2")
    with pytest.raises(st.ArgumentError, match="^unknown objective$"):
        st.tune(HEAT, dims=8, objective="speed", progress=False)


TRAPPED = "echo '{\"event\": \"waiting\", \"what\": \"x\"}' >&2\nwhile :; do sleep 0.05; done"


def test_reports_of_several_gpu_models_are_refused(program):
    program(f"cat <<'E'\n[{REPORT}, {REPORT}]\nE")
    with pytest.raises(st.ArgumentError, match="several models"):
        st.tune(HEAT, dims=64, device="all", progress=False)


def test_ctrl_c_keeps_what_was_found(program):
    program(f"trap 'cat <<E\n{REPORT}\nE\nexit 130' INT\n{TRAPPED}")
    report = st.tune(HEAT, dims=64, progress=interrupt)
    assert report.interrupted and report.code == "direct.bx32.by8"


def test_ctrl_c_before_anything_is_found(program):
    program(f"trap 'exit 130' INT\n{TRAPPED}")
    with pytest.raises(KeyboardInterrupt):
        st.tune(HEAT, dims=64, progress=interrupt)


def interrupt(event):
    """Once the program has said something it minds interrupts."""
    os.kill(os.getpid(), signal.SIGINT)


def test_a_function_that_fails_ends_the_program(program):
    def fail(event):
        raise ZeroDivisionError

    program("echo '{\"event\": \"waiting\", \"what\": \"x\"}' >&2\ntrap 'exit 130' INT\nwhile :; do sleep 0.05; done")
    with pytest.raises(ZeroDivisionError):
        st.tune(HEAT, dims=64, progress=fail)


def test_the_report_is_text_and_html(program, capsys):
    best = '"best": {"code": "c", "gstencils": 400.0, "share": 0.8}'
    events = f"""{{"event": "started", "gpu": "H200", "architecture": "sm_90", "ceiling_gbs": 4200, "predicted": true}}
{{"event": "progress", "phase": "racing", "elapsed_s": 1.0, "trials": 3, {best}}}"""
    program(f"cat >&2 <<'END'\n{events}\nEND\ncat <<'END'\n{REPORT}\nEND")
    report = st.tune(HEAT, dims=64)
    said = capsys.readouterr().err
    assert "predicting for H200" in said and "best ~400.0 GStencil/s (~80 % of copy) c  racing the finalists" in said
    assert "copy ceiling ~4200 GB/s" in said
    assert "no such kernel" in str(report) and " ~400.0 GStencil/s  ~80.0 % of copy" in str(report)
    assert "direct.bx32.by8, ~400.0 GStencil/s, predicted" in repr(report)
    page = report._repr_html_()
    assert "<svg" in page and "H &lt;200&gt;" in page and "ceiling ~500" in page and "<td>~400.0</td><td>~80.0</td>" in page


def test_a_notebooks_cell_has_one_output(program, capsys, monkeypatch):
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append((raw, data["text/plain"]))

    def display(data, raw, display_id):
        assert display_id
        shown.append((raw, data["text/plain"]))
        return Handle()

    shell = types.SimpleNamespace(kernel=None)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    events = """{"event": "started", "gpu": "H200", "architecture": "sm_90", "ceiling_gbs": 4200, "predicted": true}
{"event": "progress", "phase": "searching", "elapsed_s": 1.0, "trials": 3, "best": null}
{"event": "progress", "phase": "searching", "elapsed_s": 2.0, "trials": 4, "best": null}"""
    program(f"cat >&2 <<'END'\n{events}\nEND\ncat <<'END'\n{REPORT}\nEND")
    st.tune(HEAT, dims=64)
    first = "predicting for H200 (sm_90), copy ceiling ~4200 GB/s"
    assert shown == [(True, first), (True, first + "\n   1 s  3 tried  no result yet"),
                     (True, first + "\n   2 s  4 tried  no result yet")]
    assert capsys.readouterr().err == ""
    del shell.kernel  # IPython on a terminal
    st.tune(HEAT, dims=64)
    assert len(shown) == 3 and "predicting for H200" in capsys.readouterr().err


def test_the_command_line_comes_along():
    command = [pathlib.Path(sys.executable).with_name("stencil-tune"), "stencils", "show", "heat2d"]
    if not command[0].exists():
        pytest.skip("the package is not installed")
    assert "o O o" in subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
