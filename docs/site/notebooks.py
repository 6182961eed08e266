"""Runs the Python blocks of tutorials, and writes the pages with what they draw, each with a notebook of the same cells.

    notebooks.py PAGE...     each is replaced; pictures and PAGE's notebook stand beside it

Blocks that say `gpu` are not run. Those that say `picture` draw, by matplotlib; nothing else runs them.
"""

import json
import os
import pathlib
import re
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

INK = "#808890"  # readable on light pages and on dark ones
pyplot.rcParams.update(dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK) |
                       {"savefig.transparent": True, "legend.framealpha": 0, "figure.constrained_layout.use": True})
BLOCK = re.compile(r"^```python ?(\w*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def cells_of(text):
    """(kind, text) of each cell: "markdown", "python", or what a block of Python says."""
    before, *rest = BLOCK.split(text)
    yield "markdown", before
    for note, code, after in zip(rest[::3], rest[1::3], rest[2::3]):
        yield note or "python", code
        yield "markdown", after


def notebook(cells):
    """As Jupyter reads it; without outputs."""
    def cell(number, kind, text):
        said = {"cell_type": "markdown" if kind == "markdown" else "code", "id": f"cell-{number}", "metadata": {},
                "source": text.strip().splitlines(keepends=True)}
        return said if kind == "markdown" else {**said, "execution_count": None, "outputs": []}

    return {"cells": [cell(number, *each) for number, each in enumerate(cells) if each[1].strip()],
            "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
            "nbformat": 4, "nbformat_minor": 5}


def drawn(page, number):
    """Keeps the figures that are open, and says where."""
    text = ""
    for figure in pyplot.get_fignums():
        path = page.with_name(f"{page.stem}-{number}-{figure}.png")
        pyplot.figure(figure).savefig(path, dpi=120, bbox_inches="tight")
        text += f"\n```{{image}} {path.name}\n:alt: what the lines above draw\n:class: drawn\n```\n"
    pyplot.close("all")
    return text


def write(page):
    cells = list(cells_of(page.read_text()))
    session = {}
    text = ""
    for number, (kind, part) in enumerate(cells):
        if kind == "markdown":
            text += part
            continue
        text += f"```python\n{part}```\n"
        if kind != "gpu":
            exec(compile(part, f"{page}:{number}", "exec"), session)
            text += drawn(page, number)
    page.with_suffix(".ipynb").write_text(json.dumps(notebook(cells), indent=1))
    title, rest = text.split("\n", 1)
    page.write_text(f"{title}\n\nThis page [as a notebook]({page.stem}.ipynb).\n{rest}")


def main():
    pages = [pathlib.Path(name).resolve() for name in sys.argv[1:]]
    for page in pages:
        os.chdir(page.parent)
        write(page)


if __name__ == "__main__":
    main()
