"""What tuning found, as text, as HTML for notebooks, and as data."""

from __future__ import annotations

import html
import re
from typing import Any, Callable, Sequence

_FRAME_HEIGHT = 420  # pixels that the charts of the program's page take
_WIDTH, _HEIGHT, _MARGIN = 480, 200, 36  # pixels of the chart


class TuningReport:
    """What tune() found.

    Attributes:
        data: all of it, as `stencil-tune --json` prints it.
        interrupted: Ctrl-C ended the search.
        history: what was told on the way: `elapsed_s`, `trials`, `best` and so on, in order.
    """

    def __init__(self, data: dict[str, Any], history: Sequence[dict[str, Any]], interrupted: bool = False,
                 make_page: Callable[[], str] = str):
        self.data = data
        self._make_page = make_page
        self._page: str | None = None
        self.history = list(history)
        self.interrupted = interrupted

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The table: the winner, then the textbook's kernels: `kernel`, and its trial's figures or why there are none."""
        rows: list[dict[str, Any]] = self.data.get("kernels", [])
        return rows

    @property
    def winner(self) -> dict[str, Any] | None:
        """The first row, where some candidate won; else None."""
        first = self.rows[0] if self.rows else {}
        return first if first.get("kernel") in ("winner", "best predicted") and _ran(first) else None

    @property
    def code(self) -> str | None:
        """The winner's code; None where there is none."""
        return self.winner["code"] if self.winner else None

    @property
    def gstencils(self) -> float:
        """GStencil/s of the winner, 10^9 cells updated a second; 0 where there is none."""
        return self.winner["gstencils"] if self.winner else 0.0

    @property
    def predicted(self) -> bool:
        """No GPU was timed: figures are the performance model's."""
        return bool(self.data.get("predicted"))

    @property
    def problem(self) -> str:
        """"heat3d: f32, 512x512x512, boundary hold, 100 steps on NVIDIA H200"."""
        data = self.data
        return (f"{data['stencil']}: {data['type']}, {data['dims']}, boundary {data['boundary']}, {data['steps']} "
                f"step{'s' if data['steps'] > 1 else ''} {'predicted for' if self.predicted else 'on'} "
                f"{data['device']['name']}")

    @property
    def notes(self) -> list[str]:
        return list(self.data.get("notes", []))

    def __str__(self) -> str:
        lines = [self.problem]
        for row in self.rows:
            line = _why_not(row)
            if _ran(row):
                rate, share = self._figures(row)
                line = f"{rate:>8} GStencil/s{_sustained(row)}  {share:>5} % of copy  {row['code']}"
            lines.append(f"  {row['kernel']:<16} {line}")
        return "\n".join([*lines, *self.notes])

    def __repr__(self) -> str:
        found = f"{self.code}, {self._figures(self.winner)[0]} GStencil/s" if self.winner else "nothing found"
        return f"<TuningReport: {found}{', predicted' if self.predicted else ''}>"

    def _figures(self, row: dict[str, Any]) -> tuple[str, str]:
        """Rate and share of the copy ceiling in percent, as the program prints them."""
        mark = mark_of(self.predicted)
        return f"{mark}{row['gstencils']:.1f}", f"{mark}{100 * row['share_of_copy']:.1f}"

    def page(self) -> str:
        """The page of `stencil-tune report` about the winner, as HTML: how it was found, what limits it, its source. Empty
        where nothing won."""
        if self._page is None:
            self._page = self._make_page()
        return self._page

    def _repr_html_(self) -> str:
        """The table; the trials with the best so far, and the roofline."""
        cells = "".join(self._html_row(row) for row in self.rows)
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return (f"<div><b>{html.escape(self.problem)}</b><table><tr><th>kernel</th>"
                f"<th>GStencil/s</th><th>% of copy</th><th>code</th></tr>{cells}</table>{self._charts() or self._chart()}"
                f"<ul>{notes}</ul></div>")

    def _html_row(self, row: dict[str, Any]) -> str:
        if not _ran(row):
            return f"<tr><td>{html.escape(row['kernel'])}</td><td colspan=3>{html.escape(_why_not(row))}</td></tr>"
        rate, share = self._figures(row)
        return (f"<tr><td>{html.escape(row['kernel'])}</td><td>{rate}</td><td>{share}</td>"
                f"<td><code>{html.escape(row['code'])}</code></td></tr>")

    def _charts(self) -> str:
        """Those of the page, in a frame of their own, so that its style is not the notebook's."""
        page = self.page()
        style = re.search(r"<style>.*?</style>", page, re.DOTALL)
        charts = re.search(r'<div class="charts">.*?</div>', page, re.DOTALL)
        if style is None or charts is None:
            return ""
        inside = html.escape(f"<!DOCTYPE html><meta charset='utf-8'>{style[0]}{charts[0]}")
        return (f'<iframe srcdoc="{inside}" style="width: 100%; height: {_FRAME_HEIGHT}px; border: 0" '
                'sandbox title="trials and roofline"></iframe>')

    def _chart(self) -> str:
        """Best so far over seconds, with the copy ceiling, as SVG; nothing before there is a result."""
        points = [(event["elapsed_s"], event["best"]["gstencils"], event["best"]["share"])
                  for event in self.history if event.get("best")]
        if not points:
            return ""
        ceiling = max((rate / share for _, rate, share in points if share > 0), default=0)
        last, top = max(points[-1][0], 1e-9), max([ceiling, *(rate for _, rate, _ in points)])

        def place(seconds: float, rate: float) -> str:
            x = _MARGIN + (_WIDTH - 2 * _MARGIN) * seconds / last
            return f"{x:.1f},{_HEIGHT - _MARGIN - (_HEIGHT - 2 * _MARGIN) * rate / top:.1f}"

        steps, before = [], points[0][1]
        for seconds, rate, _ in points:
            steps += [place(seconds, before), place(seconds, rate)]
            before = rate
        roof = f"<polyline fill='none' stroke='gray' stroke-dasharray='4' points='{place(0, ceiling)} {place(last, ceiling)}'/>"
        mark = mark_of(self.predicted)
        return (f"<svg width='{_WIDTH}' height='{_HEIGHT}'>{roof if ceiling else ''}"
                f"<polyline fill='none' stroke='black' points='{' '.join(steps)}'/>"
                f"<text x='{_MARGIN}' y='14' font-size='12'>best so far, {mark}GStencil/s (dashed: copy ceiling "
                f"{mark}{ceiling:.0f})"
                f"</text><text x='{_WIDTH - _MARGIN}' y='{_HEIGHT - 12}' font-size='12' text-anchor='end'>{last:.0f} s"
                "</text></svg>")


def mark_of(predicted: bool) -> str:
    """What stands before a figure that the performance model says."""
    return "~" if predicted else ""


def _ran(row: dict[str, Any]) -> bool:
    return row.get("outcome") == "ok"


def _sustained(row: dict[str, Any]) -> str:
    """The sustained rate of a kernel that raced under continuous load; its other rate is a burst's."""
    return f" burst, {row['sustained_gstencils']:.1f} sustained" if row.get("sustained_gstencils") else ""


def _why_not(row: dict[str, Any]) -> str:
    return str(row.get("not_available") or row.get("message") or row.get("outcome", ""))
