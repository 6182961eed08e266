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


def axes_across(kernel):
    """Numbers of the axes of the plane that is drawn, which a block does not walk along: two, or one."""
    return [axis for axis in range(len(kernel.tile)) if "xyz"[axis] != kernel.walk][:2]


def box(x, y, width, height, name):
    """x, y: its middle."""
    return (f'<rect x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'class="{name}"/>')


def words(x, y, text):
    return f'<text x="{x:.0f}" y="{y:.0f}">{text}</text>'


def plane(kernel, middle):
    """The box of a block among the tiles of its neighbours, to scale but for sides of a pixel or two; its height."""
    axes = axes_across(kernel)
    computed, tile = ([cells[axis] for axis in axes] + [0] * (2 - len(axes)) for cells in (kernel.computed, kernel.tile))
    scale = SIDE / max(computed + tile)
    (wide, high), (width, height) = ([max(LEAST, scale * cells) for cells in sides] for sides in (computed, tile))
    wide, high = max(wide, width), max(high, height)
    marks = [box(middle + i * width, j * height, width, height, "other")
             for i in (-1, 0, 1) for j in ((-1, 0, 1) if len(axes) > 1 else (0,))]
    return [*marks, box(middle, 0, wide, high, "computed"), box(middle, 0, width, height, "stored")], high


def walk(kernel, left):
    """Planes that are on their way: the one that is read goes ahead, the one that is stored comes last."""
    first = axes_across(kernel)[0]
    stored = SIDE * min(1, kernel.tile[first] / kernel.computed[first])
    step = min(24, 150 / kernel.steps)
    marks = []
    for level in range(kernel.steps + 1):
        high = SIDE + (stored - SIDE) * level / kernel.steps
        name = "stored" if level == kernel.steps else "computed"
        marks.append(box(left + (kernel.steps - level) * step, 0, step / 2, high, name))
    right = left + kernel.steps * step + 20
    return [*marks, words(left - step / 4, SIDE / 2 + 18, "stored"), words(right, SIDE / 2 + 18, "read"),
            f'<path d="M {right:.0f} 0 h 56 m -8 -5 l 8 5 l -8 5" class="walk"/>', words(right + 2, -10, f"along {kernel.walk}")]


def caption(kernel):
    def cells(sides):
        return " x ".join(str(sides[axis]) for axis in axes_across(kernel))

    blocks = f"One of {kernel.blocks:,} blocks"
    if not kernel.walk:
        return f"{blocks}: its threads compute {' x '.join(map(str, kernel.tile))} cells at once."
    slab = "plane" if len(kernel.tile) > 2 else "row"
    text = f"{blocks}: its threads compute {cells(kernel.computed)} cells of a {slab} at a time"
    if cells(kernel.computed) != cells(kernel.tile):
        text += f", and it stores {cells(kernel.tile)} of them"
    text += f". It walks {kernel.tile['xyz'.index(kernel.walk)]} {slab}s along {kernel.walk}."
    if kernel.steps > 1:
        text += f" What lies behind what it reads goes through {kernel.steps} steps on chip."
    return text


def drawing(kernel):
    """A figure as HTML, light and dark by the page's own colours."""
    boxes, high = plane(kernel, 150)
    width, tall = (640, SIDE + 56) if kernel.walk else (300, high + 44)
    window = f'viewBox="20 {-tall / 2:.0f} 260 {tall:.0f}" y="{-tall / 2:.0f}" height="{tall:.0f}"'
    marks = [f'<svg x="20" width="260" {window}>', *boxes, "</svg>", *(walk(kernel, 350) if kernel.walk else [])]  # cut off
    text = caption(kernel)
    return (f'<figure class="kernel">\n<svg viewBox="0 {-tall / 2:.0f} {width} {tall:.0f}" style="max-width: {width / 16}rem" '
            f'role="img" aria-label="{text}">\n' + "\n".join(marks) + f"\n</svg>\n<figcaption>{text}</figcaption>\n</figure>\n")
