"""Tuning: the program runs as a child process, so that no candidate can harm this one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from typing import Any, Callable, IO, Mapping, Sequence

from . import _arrays, _library, _program, _values
from ._errors import ArgumentError, Error
from ._report import TuningReport, mark_of
from ._request import Grid, asked_grid
from ._stencil import _DEFINE, _LOAD, Stencil

__all__ = ["TuningReport", "tune"]

_INTERRUPTED = 130
_WRONG_USE = 2
_LAST_WORDS = 2000  # bytes worth quoting
_Event = dict[str, Any]  # what the program tells
_Watch = Callable[[_Event], None]


def tune(stencil: Stencil | str | os.PathLike[str], dims: int | Sequence[int] | None = None, *, like: Any = None,
         shape: Sequence[int] | None = None, dtype: Any = None, boundary: str | Mapping[str, str] = "hold",
         steps: int = 1, pitch: int = 0, budget: float | str = 60, effort: str | None = None,
         max_trials: int | None = None, candidates: Sequence[str] = (), device: int | str | None = None,
         predict_for: str | None = None, objective: str = "time", database: str | os.PathLike[str] | None = None,
         progress: bool | Callable[[dict[str, Any]], None] = True) -> TuningReport:
    """Finds the fastest kernel for a stencil on a grid, and remembers it in the database, where lookup() finds it.

    Ctrl-C ends the search and keeps what was found; a second one ends at once. The same call again goes on where the
    last one stopped. Without a GPU it predicts, and the report says so.

    Args:
        stencil, dims, like, shape, dtype, boundary, steps, pitch: as for lookup(). An array of `like` stays as it is.
        budget: seconds, or a text such as "5m".
        effort: "quick" (15 s), "standard" or "exhaustive" (every legal candidate, no time limit), in place of a budget.
        max_trials: new trials at most.
        candidates: codes; these alone are tried.
        device: ordinal or UUID of the GPU; several of one model share the trials: "0,1".
        predict_for: a GPU that is not here, such as "h200": nothing is timed.
        objective: what wins: "time" (of a run the rate under continuous load), "burst" (the rate after a rest) or
            "energy" (the least energy of an update).
        database: to keep it in; None: STENCIL_TUNE_DB, else the user's data folder.
        progress: True: a line on standard error, in a notebook an output that is replaced; a function: called with what
            `stencil-tune --progress json` tells.

    Raises:
        ArgumentError: what is asked for does not fit together.
        Error: nothing could be tuned; the message has the program's last words.
        KeyboardInterrupt: interrupted before anything was found.
    """
    chosen, grid, layout = asked_grid(stencil, like=like, dims=dims, shape=shape, dtype=dtype, boundary=boundary,
                                      steps=steps, pitch=pitch)
    watch = _watcher(progress)
    if device is None and layout is not None and layout.device not in (None, _arrays.HOST):
        device = layout.device
    options = ["--objective", objective] if _values.text(objective, "objective") != "time" else []
    options += _search_options(budget, effort, max_trials, candidates, device, predict_for)
    where = _grid_options(grid) + (["--db", _values.path(database, "database")] if database is not None else [])
    with tempfile.TemporaryDirectory(prefix="stencil_tune-") as folder:
        command = [_program.path(), "tune", *_stencil_options(chosen, folder), *where, *options, "--progress", "json",
                   "--json"]
        report = _run(command, watch)
    report._make_page = lambda: _page_of(chosen, [*where, "--gpu", report.data["device"]["name"]])
    _library.reload()
    return report


def _page_of(stencil: Stencil, options: list[str]) -> str:
    with tempfile.TemporaryDirectory(prefix="stencil_tune-") as folder:
        done = subprocess.run([_program.path(), "report", *_stencil_options(stencil, folder), *options], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8")
    return done.stdout if done.returncode == 0 else ""


def _stencil_options(stencil: Stencil, folder: str) -> list[str]:
    kind, text, derivatives = stencil._source
    layers = [which[1:] for which in derivatives.split() if which[0] == "l"]
    widths = ["--layer", layers[-1]] if layers else []
    if len(derivatives.split()) > len(layers):
        kind, text = _DEFINE, stencil.definition()
    if kind == _LOAD:
        return ["--stencil", text, *widths]
    if kind != _DEFINE:
        return ["--expr", text, *widths]
    path = os.path.join(folder, stencil._file_name or "definition.toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return ["--stencil", path, *widths]


def _grid_options(grid: Grid) -> list[str]:
    options = ["--dims", "x".join(map(str, grid.extents)), "--rank", str(len(grid.extents)), "--type", grid.dtype,
               "--boundary", grid.boundary, "--steps", str(grid.steps)]
    return options + (["--pitch", str(grid.pitch)] if grid.pitch else [])


def _search_options(budget: float | str, effort: str | None, max_trials: int | None, candidates: Sequence[str],
                    device: int | str | None, predict_for: str | None) -> list[str]:
    if effort is not None:
        options = ["--effort", _values.text(effort, "effort")]
    elif isinstance(budget, str):
        options = ["--budget", _values.text(budget, "budget")]
    else:
        options = ["--budget", f"{_values.finite(budget, 'budget'):g}s"]
    if max_trials is not None:
        options += ["--max-trials", str(_values.whole(max_trials, "max_trials"))]
    codes = [_values.text(code, "a code of candidates")
             for code in _values.several(candidates, "candidates", "a list of codes is needed")]
    if codes:
        options += ["--candidates", ",".join(codes)]
    if device is not None:
        options += ["--device", _values.text(device, "device") if isinstance(device, str) else
                    str(_values.ordinal(device))]
    if predict_for is not None:
        options += ["--device-model", _values.text(predict_for, "predict_for")]
    return options


def _run(command: list[str], watch: _Watch) -> TuningReport:
    """Runs the program to its end and reads its report."""
    history: list[_Event] = []
    words: list[str] = []
    with tempfile.TemporaryFile() as output:
        # A session of its own: Ctrl-C reaches this process alone, which passes it on once.
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE, start_new_session=True, text=True,
                                 encoding="utf-8", errors="replace")
        interrupted = _follow(child, history, words, watch)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if child.returncode in (0, _INTERRUPTED) and text.strip():
        data = json.loads(text)
        if isinstance(data, list):
            raise ArgumentError("these GPUs are of several models, and a report is of one: what was found is in the "
                                "database; name GPUs of one model")
        return TuningReport(data, history, interrupted=interrupted or child.returncode == _INTERRUPTED)
    if interrupted:
        raise KeyboardInterrupt
    said = "".join(words)[-_LAST_WORDS:].strip() or "it said nothing"
    if child.returncode == _WRONG_USE:
        raise ArgumentError(said.removeprefix("stencil-tune: "))
    raise Error(f"stencil-tune could not tune (exit status {child.returncode}): {said}", "launch_failed")


def _follow(child: subprocess.Popen[str], history: list[_Event], words: list[str], watch: _Watch) -> bool:
    """Until the child ends. Returns whether this process was interrupted meanwhile."""
    interrupted = False
    while True:
        try:
            if child.stderr is not None:
                _read_events(child.stderr, history, words, watch)
            child.wait()
            return interrupted
        except KeyboardInterrupt:
            if interrupted:
                child.kill()
                child.wait()
                raise
            interrupted = True
            child.send_signal(signal.SIGINT)
        except BaseException:  # the caller's function raised it
            child.send_signal(signal.SIGINT)
            if child.stderr is not None:
                child.stderr.close()
            child.wait()
            raise


def _read_events(lines: IO[str], history: list[_Event], words: list[str], watch: _Watch) -> None:
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            event = None
        if not isinstance(event, dict):
            words.append(line)
            continue
        if event.get("event") == "progress":
            history.append(event)
        watch(event)


def _watcher(progress: bool | _Watch) -> _Watch:
    if callable(progress):
        return progress
    if not _values.flag(progress, "progress"):
        return lambda event: None
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return _NotebookOutput() if hasattr(shell, "kernel") else _ProgressLine(sys.stderr)


class _ProgressLine:
    """One line, redrawn on a terminal, where a new best is worth a line elsewhere."""

    def __init__(self, out: IO[str]):
        self.out = out
        self.redraws = out.isatty()
        self.said = 0.0
        self.mark = ""

    def __call__(self, event: _Event) -> None:
        if event["event"] == "started":
            what = "predicting for" if event["predicted"] else "tuning on"
            self.mark = mark_of(event["predicted"])
            self._line(f"{what} {event['gpu']} ({event['architecture']}), copy ceiling {self.mark}{event['ceiling_gbs']:.0f} "
                       "GB/s")
        elif event["event"] == "waiting":
            self._line(event["what"])
        elif event["event"] == "progress":
            self._progress(event)

    def _progress(self, event: _Event) -> None:
        best = event["best"]
        text = f"{event['elapsed_s']:4.0f} s  {event['trials']} tried  " + (
            f"best {self.mark}{best['gstencils']:.1f} GStencil/s ({self.mark}{100 * best['share']:.0f} % of copy) "
            f"{best['code']}"
            if best else "no result yet")
        if event["phase"] == "racing":
            text += "  racing the finalists"
        if self.redraws:
            self._redraw(text)
        elif best and best["gstencils"] > 1.005 * self.said:
            self.said = best["gstencils"]
            self._line(text)

    def _redraw(self, text: str) -> None:
        self.out.write("\r\033[K" + text)
        self.out.flush()

    def _line(self, text: str) -> None:
        self.out.write(("\r\033[K" if self.redraws else "") + text + "\n")
        self.out.flush()


class _NotebookOutput(_ProgressLine):
    """The same as one output of a notebook's cell, which is replaced as a whole."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self.redraws = True
        self.lines: list[str] = []
        self.display: Any = None

    def _redraw(self, text: str) -> None:
        shown = {"text/plain": "\n".join([*self.lines, text])}
        if self.display is None:
            from IPython.display import display

            self.display = display(shown, raw=True, display_id=True)
        else:
            self.display.update(shown, raw=True)

    def _line(self, text: str) -> None:
        self._redraw(text)
        self.lines.append(text)
