"""Writes the gallery: what each equation of corpus/ and of stencil_tune.models computes, its definition and its rates.

    gallery.py FOLDER PROGRAM     FOLDER: for the pages and pictures; PROGRAM: stencil-tune, which explains kernels.
                                  STENCIL_TUNE_LIBRARY and STENCIL_TUNE_REFERENCE name the libraries
"""

import inspect
import json
import pathlib
import re
import sys
import tomllib

import diagram
import numpy as np
import scenes
import stencil_tune as st
from matplotlib import image

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = sorted((ROOT / "corpus").glob("*.toml"))
MODELS = st.models.__all__[1:]  # but Model
PIXELS = 320  # a picture has as many at least


def draw(path, values, signed):
    """Writes a picture, and returns its range in words. The colour maps suit light pages and dark ones."""
    plane = np.atleast_2d(values)
    if plane.ndim == 3:
        plane = plane[len(plane) // 2]
    low, high = float(plane.min()), float(plane.max())
    if not np.isfinite([low, high]).all() or low == high:
        raise ValueError(f"{path.name} would show {low} to {high}: scenes.py needs another start")
    most = max(abs(low), abs(high))
    # A wave's front is drawn as bright as it can be: few cells, where a pulse starts or stands still, are brighter.
    bright = float(np.quantile(abs(plane), 0.995)) or most
    limits = {"vmin": -bright, "vmax": bright} if signed else {}
    scale = -(-PIXELS // max(plane.shape))
    image.imsave(path, np.kron(plane, np.ones((scale, scale))), cmap="berlin" if signed else "viridis", **limits)
    return f"{low:.3g} to {high:.3g}"


def shown(scene, fields, what=None):
    what = what or scene.show
    return fields[what] if isinstance(what, str) else what(fields)


def run(stencil, scene):
    """The fields at the start and after the run; those of one dimension with all steps as rows."""
    fields = {}
    for name in stencil.arguments:
        axes = stencil.profiles.get(name, "xyz"[:stencil.rank])
        shape = tuple(scene.shape[-1 - "xyz".index(axis)] for axis in reversed(axes))
        fields[name] = np.ascontiguousarray(np.broadcast_to(np.float32(scene.fields.get(name, 0)), shape))
    stencil = stencil.with_layer(scene.layer) if scene.layer else stencil
    kernel = st.lookup(stencil, shape=scene.shape, dtype="f32", boundary=scene.boundary, steps=max(scene.steps, 1),
                       device="cpu")
    arrays = [array.copy() for array in fields.values()]
    if scene.steps == 0:
        kernel(*arrays)
    elif stencil.rank > 1:
        kernel.advance(arrays, steps=scene.steps)
    else:
        rows = [arrays[0].copy()]
        for _ in range(scene.steps):
            kernel.advance(arrays, steps=1)
            rows.append(arrays[0].copy())
        return fields, {scene.show: np.stack(rows)}
    return fields, dict(zip(fields, arrays))


def figure(name, caption):
    return f"```{{figure}} {name}.png\n:alt: {caption}\n\n{caption}\n```\n"


def pictures(name, stencil, scene, folder):
    """The figures of a page; the picture of the result is NAME.png."""
    start, after = run(stencil, scene)
    steps = "one sweep" if scene.steps == 0 else f"after {scene.steps} step{'s' * (scene.steps > 1)}"
    field = f"{scene.show}, " if isinstance(scene.show, str) else ""
    ends = draw(folder / f"{name}.png", shown(scene, after), scene.signed)
    text = figure(name, f"{scene.what[0].upper()}{scene.what[1:]} ({steps}, {field}{ends})")
    if stencil.rank > 1:
        ends = draw(folder / f"{name}-start.png", shown(scene, start, scene.before), scene.signed)
        text = figure(f"{name}-start", f"The start ({scene.before + ', ' if scene.before else field}{ends})") + text
    return f":::{{container}} pictures\n{text}:::\n"


def remarks(text):
    """The comment that a definition begins with: the equation, then its source."""
    lines = [line.removeprefix("#").strip() for line in re.match(r"(#.*\n)+", text)[0].splitlines()]
    equation, _, source = " ".join(lines).replace("*", r"\*").replace("_", r"\_").partition("Source: ")
    return equation.strip(), source.strip()


def winners_of(name):
    """Trials of winners that ship, the H200's first."""
    found = [winner["trial"] for path in sorted((ROOT / "db/pretuned").glob("*.json"), reverse=True)
             for winner in json.loads(path.read_text())["winners"]]
    return [trial for trial in found if trial["stencil_name"] == name and not trial["predicted"]]


def of_zones(trials):
    """Keys of a grid's zones: where runs go by several keys, each is a zone's."""
    keys = {trial["stencil_key"] for trial in trials if trial["steps"] > 1}
    return keys if len(keys) > 1 else set()


def kernels(trials, stages, path, program):
    """What the fastest kernels in f32 on one GPU do, drawn: of runs, else of one step or of each stage."""
    zones = of_zones(trials)
    drawn = [trial for trial in trials if trial["gpu"] == trials[0]["gpu"] and trial["type"] == "f32" and
             trial["stencil_key"] not in zones]
    runs = [trial for trial in drawn if trial["steps"] > 1]
    text = ""
    for trial in runs[:1] or {trial["stage"]: trial for trial in drawn}.values():
        text += (f"{run_of(trial, stages, zones)[0].upper()}{run_of(trial, stages, zones)[1:]}, {trial['gpu']}: `{trial['code']}`\n\n"
                 f"{diagram.drawing(diagram.explained(program, trial, str(path)))}\n")
    return f"## Kernel\n\n{text}" if text else ""


def run_of(trial, stages, zones):
    if stages > 1 and trial["stage"] >= 0 and trial["steps"] == 1:
        return f"stage {trial['stage']} alone"
    steps = "one step" if trial["steps"] == 1 else f"{trial['steps']} steps"
    return f"{steps} of a zone" if trial["stencil_key"] in zones else steps


def rates(trials, stages):
    """As a table."""
    rows = []
    for trial in trials:
        dims = "x".join(str(trial[axis]) for axis in ("nx", "ny", "nz")[:trial["rank"]])
        edges = {trial[f"boundary_{axis}"] for axis in "xyz"[:trial["rank"]]}
        under_load = f"{trial['sustained_rate']:.1f}" if trial["sustained_rate"] else ""
        rows.append((trial["gpu"].split()[1], trial["type"], dims, ", ".join(sorted(edges)), run_of(trial, stages, of_zones(trials)),
                     f"{trial['rate']:.1f}", under_load, f"`{trial['code']}`"))
    if not rows:
        return ("## Recorded rates\n\nNone yet: no winner of this equation ships. "
                "`stencil-tune --stencil NAME --dims N` finds one on your GPU.\n")
    head = ("GPU", "type", "grid", "boundary", "run", "GStencil/s", "under load", "kernel")
    rows.sort(key=lambda row: (row[0] != "H200", row[:5]))
    lines = ["| " + " | ".join(row) + " |" for row in (head, ("---",) * len(head), *rows)]
    return ("## Recorded rates\n\nMeasured, of winners that ship. A rate counts every step of a run, in a burst on a rested "
            "GPU; under load: the same kernel without rests ([how](../docs/measuring.md)).\n\n:::{container} wide\n" +
            "\n".join(lines) + "\n:::\n")


def corpus_page(path, folder, program):
    name, text = path.stem, path.read_text()
    equation, source = remarks(text)
    stencil, scene = st.stencil(str(path)), getattr(scenes, name)()
    stages = len(tomllib.loads(text).get("stage", "x"))
    edges = scene.boundary.replace(",", ", ")
    trials = winners_of(name)
    parts = [f"# {name}\n\n{equation}\n", pictures(name, stencil, scene, folder),
             f"Run by the CPU reference on {' x '.join(map(str, scene.shape[::-1]))} cells, boundary {edges}.\n",
             f"Source: {source}\n" if source else "",
             f"## Definition\n\n```{{literalinclude}} ../corpus/{path.name}\n:language: toml\n:start-at: name =\n```\n",
             "## What is read\n\n```text\n" + stencil.show().rstrip() + "\n```\n",
             kernels(trials, stages, path, program), rates(trials, stages)]
    (folder / f"{name}.md").write_text("\n".join(part for part in parts if part))
    return name, scene.what


def model_page(name, folder):
    scene, function = getattr(scenes, f"model_{name}"), getattr(st.models, name)
    what = inspect.getdoc(scene).rstrip(".")
    ends = draw(folder / f"model-{name}.png", scene(), name != "heat")
    about = inspect.getdoc(function).split("\n\nArgs:")[0].replace("*", r"\*")
    program = "\n\n".join(inspect.getsource(part).rstrip() for part in (scenes.shot, scene))
    (folder / f"model-{name}.md").write_text(
        f"# models.{name}\n\n{about}\n\n{figure(f'model-{name}', f'{what} ({ends})')}\n"
        f"Arguments: {{py:func}}`stencil_tune.models.{name}`. "
        "How it is used: [ready equations](../docs/python.md#ready-equations).\n\n"
        "## Program\n\n```python\nimport numpy as np\nimport stencil_tune as st\nfrom stencil_tune import models\n\n"
        f"{program}\n```\n")
    return f"model-{name}", what


def listed(pages):
    """Pictures with their names, and the pages of the navigation."""
    cells = "\n".join(f":::{{container}}\n[![{what}]({name}.png)]({name}.md)\n\n"
                      f"[{name.removeprefix('model-')}]({name}.md): {what}\n:::" for name, what in pages)
    names = "\n".join(name for name, _ in pages)
    return f"::::{{container}} gallery\n{cells}\n::::\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"


def main():
    folder, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.md").write_text(
        "# Gallery\n\nEach picture is a run of the CPU reference on a small grid. Tuned kernels compute the same.\n\n"
        "## Equations of the corpus\n\n`--stencil NAME` tunes one, `st.stencil(\"corpus/NAME.toml\")` is one in Python.\n\n" +
        listed([corpus_page(path, folder, program) for path in CORPUS]) +
        "\n## Ready equations\n\nWith absorbing layers: `stencil_tune.models`.\n\n" +
        listed([model_page(name, folder) for name in MODELS]))


if __name__ == "__main__":
    main()
