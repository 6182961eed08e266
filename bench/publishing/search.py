"""The scores of search strategies, in docs/search.md: how far searches come over time, and in the end."""

from bench.publishing.plots import drawing, text_at
from bench.publishing.records import table

COLOURS = ["#08519c", "#4292c6", "#d95f02", "#7570b3", "#1b9e77", "#e7298a", "#66a61e", "#a6761d", "#999999"]
LEFT, TOP, WIDTH, HEIGHT, LABELS = 60, 50, 560, 360, 210
LEAST, MOST = -0.2, 1.0
LINE = 16  # height of a label


def mean_curve(strategy):
    """The mean of all spaces, point by point; a space that has none at a point (null) is left out there."""
    columns = zip(*(space["curve"] for space in strategy["spaces"]))
    present = [[value for value in column if value is not None] for column in columns]
    return [sum(values) / len(values) for values in present if values]


def x_of(share):
    return LEFT + WIDTH * share


def y_of(performance):
    return TOP + HEIGHT * (MOST - max(LEAST, performance)) / (MOST - LEAST)


def frame():
    marks = []
    for tenths in range(-2, 11, 2):
        y = y_of(tenths / 10)
        marks.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + WIDTH}" y2="{y:.1f}" '
                     f'stroke="{"#888" if tenths == 0 else "#ddd"}"/>')
        marks.append(text_at(LEFT - 8, y + 4, f"{tenths / 10:.1f}", "end"))
    for quarter in range(5):
        marks.append(text_at(x_of(quarter / 4), TOP + HEIGHT + 18, f"{25 * quarter} %", "middle"))
    marks.append(text_at(LEFT + WIDTH / 2, TOP + HEIGHT + 38, "of the score's times", "middle"))
    return marks


def labels(ends):
    """At the ends of the lines, moved apart where they are too near."""
    marks, above = [], TOP - LINE
    for y, words, colour in sorted(ends):
        above = max(y, above + LINE)
        marks.append(text_at(LEFT + WIDTH + 8, above + 4, words, more=f'style="fill:{colour}"'))
    return marks


def curves(record):
    """record: what `stencil-tune replay --json` printed. The mean over all spaces."""
    spaces = len(record["strategies"][0]["spaces"])
    marks = [text_at(20, 28, f"P(t), mean of {spaces} spaces and {record['repeats']} runs: 0 random search, 1 the optimum",
                     more='font-weight="bold"')]
    marks += frame()
    ends = []
    for strategy, colour in zip(record["strategies"], COLOURS):
        curve = mean_curve(strategy)
        points = " ".join(f"{x_of(i / (len(curve) - 1)):.1f},{y_of(value):.1f}" for i, value in enumerate(curve))
        width = 3 if strategy is record["strategies"][0] else 1.5
        marks.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}"/>')
        ends.append((y_of(curve[-1]), f"{strategy['name']} {strategy['score']:.2f}", colour))
    return drawing(LEFT + WIDTH + LABELS, TOP + HEIGHT + 54, marks + labels(ends))


def scores_section(record):
    """A row a space, but for random search, which is what a score is measured by."""
    strategies = [strategy for strategy in record["strategies"] if strategy["name"] != "random"]
    rows = [[f"{first['name']} ({first['evaluations']:,})", *(f"{space['score']:.2f}" for space in (first, *others))]
            for first, *others in zip(*(strategy["spaces"] for strategy in strategies))]
    means = [f"{strategy['score']:.3f}" for strategy in strategies]
    rows.append(["**mean**", f"**{means[0]}**", *means[1:]])
    return table(["space (evaluations)", *(strategy["name"] for strategy in strategies)], rows, numbers=True)
