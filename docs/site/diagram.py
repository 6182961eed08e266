"""Draws what a block of a kernel does: the cells that it computes at a time and those that it stores, and its walk."""

import re
import subprocess
from typing import NamedTuple

SIDE, LEAST = 150, 6  # pixels of the longer side of what a block computes; of any side


class Kernel(NamedTuple):
    """What `stencil-tune explain` says of a candidate."""

    computed: list[int]  # cells that the threads hold at a time, x first
    tile: list[int]  # cells that a block stores
    blocks: int
    steps: int  # fused
    walk: str  # the axis; "": none

    @property
    def planes(self):
        return self.tile["xyz".index(self.walk)] if self.walk else 1


def explained(program, trial, stencil):
    """The kernel of a winner. stencil: a name or a file."""
    dims = "x".join(str(trial[axis]) for axis in ("nx", "ny", "nz")[:trial["rank"]])
    command = [program, "explain", trial["code"], "--stencil", stencil, "--type", trial["type"], "--dims", dims,
               "--steps", str(trial["steps"]), "--arch", trial["architecture"], "--pitch", str(trial["pitch"])]
    if trial["stage"] >= 0:
        command += ["--stage", str(trial["stage"])]
    text = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout
    value = {name: int(number) for name, number in re.findall(r"\b(bx|by|bz|rx|ry|rz|t)(\d+)\b", text.splitlines()[0])}
    tile = [int(cells) for cells in re.search(r"output tile +([\dx]+) cells", text)[1].split("x")]
    family = trial["code"].split(".")[0]
    rank = len(tile)
    walk = "" if family in ("direct", "tiled") else "y" if ".walky" in trial["code"] else "xyz"[rank - 1]
    computed = [value.get(f"b{axis}", 1) * value.get(f"r{axis}", 1) for axis in "xyz"[:rank]]
    if walk:
        computed["xyz".index(walk)] = 1
        if ".walky" in trial["code"]:
            computed[2] = value.get("by", 1) * value.get("ry", 1)
    return Kernel(computed, tile, int(re.search(r"blocks +(\d+)", text)[1]), value.get("t", 1), walk)


def box(x, y, width, height, name):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" class="{name}"/>'


def words(x, y, text, anchor="middle"):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{text}</text>'


def plane(kernel, middle, centre):
    """The box of a block among the tiles of its neighbours, to scale but for sides of a pixel or two."""
    axes = ["xyz".index(axis) for axis in "xyz"[:len(kernel.tile)] if axis != kernel.walk][:2]
    computed, tile = ([cells[axis] for axis in axes] + [0] * (2 - len(axes)) for cells in (kernel.computed, kernel.tile))
    scale = SIDE / max(computed + tile)
    (wide, high), (width, height) = ([max(LEAST, scale * cells) for cells in sides] for sides in (computed, tile))
    wide, high = max(wide, width), max(high, height)
    marks = [box(middle + i * width - width / 2, centre + j * height - height / 2, width, height, "other")
             for i in (-1, 0, 1) for j in ((-1, 0, 1) if len(axes) > 1 else (0,))]
    marks += [box(middle - wide / 2, centre - high / 2, wide, high, "computed"),
              box(middle - width / 2, centre - height / 2, width, height, "stored")]
    return marks, "xyz"[axes[0]] + ("xyz"[axes[1]] if len(axes) > 1 else "")


def walk(kernel, left, centre):
    """Planes that are on their way: the one that is read goes ahead, the one that is stored comes last."""
    first = next(axis for axis in range(len(kernel.tile)) if "xyz"[axis] != kernel.walk)
    stored = SIDE * min(1, kernel.tile[first] / kernel.computed[first])
    step = min(24, 150 / kernel.steps)
    marks = []
    for level in range(kernel.steps + 1):
        high = SIDE + (stored - SIDE) * level / kernel.steps
        name = "stored" if level == kernel.steps else "computed"
        marks.append(box(left + (kernel.steps - level) * step, centre - high / 2, step / 2, high, name))
    right = left + kernel.steps * step + step / 4
    low = centre + SIDE / 2 + 18
    return [*marks, words(left, low, "stored", "start"), words(right + 14, low, "read", "start"),
            f'<path d="M {right + 14:.0f} {centre} h 56 m -8 -5 l 8 5 l -8 5" class="walk"/>',
            words(right + 16, centre - 10, f"along {kernel.walk}", "start")]


def caption(kernel, axes):
    def cells(sides):
        return " x ".join(str(sides["xyz".index(axis)]) for axis in axes)

    held = f"{cells(kernel.computed)} cells" + (f" of a {'plane' if len(kernel.tile) > 2 else 'row'} at a time" if kernel.walk else "")
    if not kernel.walk:
        held = " x ".join(map(str, kernel.tile)) + " cells at once"
    parts = [f"One of {kernel.blocks:,} blocks: its threads compute {held}"]
    if kernel.walk and cells(kernel.computed) != cells(kernel.tile):
        parts[0] += f", and it stores {cells(kernel.tile)} of them"
    if kernel.walk:
        parts.append(f"It walks {kernel.planes} {'planes' if len(kernel.tile) > 2 else 'rows'} along {kernel.walk}")
    if kernel.steps > 1:
        parts.append(f"What lies behind what it reads goes through {kernel.steps} steps on chip")
    return ". ".join(parts) + "."


def drawing(kernel):
    """A figure as HTML, light and dark by the page's own colours."""
    boxes, axes = plane(kernel, 150, 105)
    marks = ['<svg x="20" y="0" width="260" height="210" viewBox="20 0 260 210">', *boxes, "</svg>"]  # cuts neighbours off
    width = 300
    if kernel.walk:
        marks += walk(kernel, 350, 105)
        width = 640
    text = caption(kernel, axes)
    return (f'<figure class="kernel">\n<svg viewBox="0 0 {width} 222" role="img" aria-label="{text}">\n' + "\n".join(marks) +
            f"\n</svg>\n<figcaption>{text}</figcaption>\n</figure>\n")
