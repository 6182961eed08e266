"""The plots, as SVG."""

import html
from typing import NamedTuple

from bench.publishing.records import SYSTEMS, TEXTBOOK, find, fused_steps, grid, number, rate, sustained, title, with_winner
from bench.publishing.sections import best_rival, with_rivals

COLOURS = ["#d95f02", "#7570b3", "#1b9e77", "#e7298a"]
BAR, ROW, LEFT, WIDTH = 14, 26, 250, 620
STYLE = "font-family:Helvetica,Arial,sans-serif;font-size:13px"
COLOURS_OF_PAGE = """<style>svg { fill: #222; } .paper { fill: #fff; } .halo { stroke: #fff; }
@media (prefers-color-scheme: dark) {
  svg { fill: #d5dae1; } .paper { fill: #14181f; } .halo { stroke: #14181f; } line { stroke-opacity: 0.4; }
}</style>"""


def text_at(x, y, words, anchor="start", more=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" {more}>{html.escape(words)}</text>'


def drawing(width, height, marks):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'style="{STYLE}">\n{COLOURS_OF_PAGE}\n<rect width="100%" height="100%" class="paper"/>\n' + "\n".join(marks) + "\n</svg>\n")


def axis_step(most):
    return next(step for step in (100, 200, 250, 500, 1000, 2000) if most / step <= 8)


def panel(rows, rivals, top):
    """Our rates as bars with their figures at the end of the row, those of others as marks; one scale for all rows.
    Returns the drawing and where it ends."""
    most = 1.02 * max(max(rate(ours, "winner"), best_rival(rivals, rival)) for rival, ours in rows)
    bottom = top + ROW * len(rows)

    def at(value):
        return LEFT + WIDTH * value / most

    marks = []
    for value in range(0, int(most) + 1, axis_step(most)):
        x = at(value)
        marks.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="#ddd"/>')
        marks.append(text_at(x, bottom + 16, str(value), "middle"))
    for i, (rival, ours) in enumerate(rows):
        y = top + ROW * i + (ROW - BAR) / 2
        winner = rate(ours, "winner")
        marks.append(text_at(LEFT - 8, y + BAR - 3, f"{rival['title'].split(' (')[0]}, {rival['type']}", "end"))
        marks.append(f'<rect x="{LEFT}" y="{y}" width="{at(winner) - LEFT:.1f}" height="{BAR}" fill="#9ecae1"/>')
        one_sweep = rate(ours, "one sweep")
        if one_sweep:
            marks.append(f'<rect x="{LEFT}" y="{y}" width="{at(one_sweep) - LEFT:.1f}" height="{BAR}" fill="#4292c6"/>')
        for colour, system in zip(COLOURS, rivals["systems"]):
            if system["key"] in rival:
                x = at(rival[system["key"]])
                marks.append(f'<rect x="{x - 2:.1f}" y="{y - 3}" width="4" height="{BAR + 6}" fill="{colour}"/>')
        marks.append(text_at(LEFT + WIDTH + 50, y + BAR - 3, number(winner), "end", 'font-weight="bold"'))
    return marks, bottom + 40


def legend(rivals, y):
    entries = [("#9ecae1", "stencil-tune"), ("#4292c6", "its one sweep")]
    entries += list(zip(COLOURS, (system["name"] for system in rivals["systems"])))
    x = 20
    marks = []
    for colour, words in entries:
        marks.append(f'<rect x="{x}" y="{y - 11}" width="12" height="12" fill="{colour}"/>')
        marks.append(text_at(x + 18, y, words))
        x += 40 + 7 * len(words)
    return marks


def runs_plot(record, rivals):
    both = [(rival, ours) for rival, ours in with_rivals(record, rivals) if ours is not None]
    device = with_winner(record)[0]["device"]["name"]
    marks = [text_at(20, 28, f"GStencil/s on one {device}, runs of {record['cases'][0]['steps']} steps", "start",
                     'font-weight="bold"')]
    marks += legend(rivals, 54)
    y = 74
    for axes in (3, 2):
        rows = [(rival, ours) for rival, ours in both if rival["dims"].count("x") == axes - 1]
        if rows:
            marks.append(text_at(20, y + 12, "512³" if axes == 3 else "16384²", "start", 'font-weight="bold"'))
            drawn, y = panel(rows, rivals, y)
            marks += drawn
    width = LEFT + WIDTH + 60
    return drawing(width, y, marks)


# ---- what tuning gains: one stencil ----------------------------------------------------------------------------------

GAINS = ("star3d1r", "f32", "512x512x512")
OURS, OTHERS = "#4292c6", "#bdbdbd"
HALO = 'paint-order="stroke" class="halo" stroke-width="4"'  # keeps a figure readable upon a line


CHARTED_SYSTEMS = ("yee3d", "acoustic3d_o2")


class Bar(NamedTuple):
    words: str
    rate: float  # GStencil/s; None where it was not measured
    colour: str = OTHERS
    under_load: float = None


def bar_of_run(case):
    return Bar(f"stencil-tune, {fused_steps(case)} steps a launch", rate(case, "winner"), OURS, sustained(case))


def system_gains(systems, torch):
    """(heading, bars) of some systems, of their runs beside what was measured of others."""
    groups = []
    for stencil in CHARTED_SYSTEMS if systems else ():
        case = next((c for c in with_winner(systems) if (c["stencil"], c["type"]) == (stencil, "f32")
                     and not c.get("compared_with_case")), None)
        if case is None:
            continue
        bars = [Bar("torch.compile", torch.get((stencil, "f32", case["dims"]))),
                Bar("stage by stage", rate(case, "stage by stage")), bar_of_run(case)]
        groups.append((f"whole steps, runs of {case['steps']}: {SYSTEMS[stencil]}", [bar for bar in bars if bar.rate]))
    return groups


def gains(single, temporal, rivals):
    """(heading, bars) of GAINS. None where the records lack it."""
    sweep, run = find(single, *GAINS), find(temporal, *GAINS)
    peers = rivals["one_sweep"]
    peer = next((case for case in peers["cases"] if (case["stencil"], case["type"], case["dims"]) == GAINS), {})
    other = next((case for case in rivals["cases"] if (case["stencil"], case["type"], case["dims"]) == GAINS), {})
    if not sweep or not run:
        return None
    sweeps = [Bar("naive kernel, its best block size", rate(sweep, "naive")),
              Bar("best kernel of a textbook", rate(sweep, *TEXTBOOK)),
              Bar("torch.compile", peer.get("torch_compile")),
              Bar("stencil-tune", rate(sweep, "winner"), OURS)]
    runs = [Bar(system["name"] + system.get("mark", ""), other.get(system["key"])) for system in rivals["systems"]]
    runs.append(bar_of_run(run))
    return [("one sweep a launch", [bar for bar in sweeps if bar.rate]),
            ("fused steps, runs of 100 steps", [bar for bar in runs if bar.rate])]


def ceiling_line(value, scale, top, bottom):
    x = LEFT + value * scale
    return [f'<line x1="{x:.1f}" y1="{top - 4}" x2="{x:.1f}" y2="{bottom}" stroke="#d95f02" stroke-dasharray="4 3"/>',
            text_at(x + 6, top + BAR - 3, f"speed of a plain copy: {number(value)}", more='style="fill:#d95f02"')]


def gains_plot(single, temporal, rivals, systems=None, torch=None):
    groups = gains(single, temporal, rivals)
    if not groups:
        return None
    groups += system_gains(systems, torch or {})
    case = find(single, *GAINS)
    most = max(bar.rate for _, bars in groups for bar in bars)
    scale = WIDTH / most
    name = f"{title(case['stencil'])} (7 points), {case['type']}, {grid(case['dims'])}"
    marks = [text_at(20, 28, f"{name}: GStencil/s on one {case['device']['name']}", more='font-weight="bold"')]
    y = 44
    for heading, bars in groups:
        marks.append(text_at(20, y + 14, heading, more='font-style="italic"'))
        y += 24
        if heading == groups[0][0]:
            marks += ceiling_line(case["copy_ceiling_gstencils"], scale, y, y + (ROW - 4) * len(bars))
        for bar in bars:
            figures = number(bar.rate) + (f" ({number(bar.under_load)} under load)" if bar.under_load else "")
            marks.append(text_at(LEFT - 8, y + BAR - 3, bar.words, "end"))
            marks.append(f'<rect x="{LEFT}" y="{y}" width="{bar.rate * scale:.1f}" height="{BAR}" fill="{bar.colour}"/>')
            marks.append(text_at(LEFT + bar.rate * scale + 6, y + BAR - 3, figures,
                                 more=HALO + (' font-weight="bold"' if bar.colour == OURS else "")))
            y += ROW - 4
        y += 10
    return drawing(LEFT + WIDTH + 210, y, marks)  # the longest figure's, in the widest font of those that browsers take
