"""What ships of the corpus, in docs/stencils.md."""

import textwrap

from bench import ROOT
from bench.publishing.records import grid, table
from bench.shipped import dims, winners_in


def corpus():
    """(name, stages) of each definition."""
    return [(path.stem, max(1, path.read_text().count("\n[[stage]]"))) for path in sorted((ROOT / "corpus").glob("*.toml"))]


def one_sweep_row(winners, name, stage, stages):
    """In f32, of the smallest square or cube; none where no such winner ships."""
    def fits(trial):
        same = (trial["stencil_name"], trial["stage"], trial["type"], trial["steps"]) == (name, stage, "f32", 1)
        return same and trial["raced"] and len(set(dims(trial).split("x"))) == 1

    winner = min((each for each in winners if fits(each["trial"])), key=lambda each: each["trial"]["nx"], default=None)
    if winner is None:
        return []
    trial = winner["trial"]
    return [[f"`{name}{f', stage {stage}' if stages > 1 else ''}`", f"f32, {grid(dims(trial))}", f"**{trial['rate']:.1f}**",
             f"{100 * trial['share']:.1f} %", f"{winner['naive_rate']:.1f}", f"`{trial['code']}`"]]


def kinds_of_runs(trials):
    """(name and types of whole grids, of zones): a name that stands for several stencils is that of a grid cut into zones."""
    types, keys = {}, {}
    for trial in trials:
        if trial["steps"] > 1:
            types.setdefault(trial["stencil_name"], set()).add(trial["type"])
            keys.setdefault(trial["stencil_name"], set()).add(trial["stencil_key"])
    words = {name: f"`{name}` ({', '.join(sorted(types[name]))})" for name in sorted(types)}
    return ([words[name] for name in words if len(keys[name]) == 1], [words[name] for name in words if len(keys[name]) > 1])


def corpus_section(path, folder):
    """path: of the file of one GPU's winners; folder: of its records."""
    definitions = corpus()
    names = {name for name, _ in definitions}
    winners = [winner for winner in winners_in(path) if winner["trial"]["stencil_name"] in names]
    if not winners:
        return ""
    trials = [winner["trial"] for winner in winners]
    rows = [row for name, stages in definitions for stage in range(stages) for row in one_sweep_row(winners, name, stage, stages)]
    whole, zones = kinds_of_runs(trials)
    shipped = [f"Winners of runs ship of {', '.join(whole)}"] if whole else []
    shipped += [f"of the zones of runs on grids with layers, of {', '.join(zones)}"] if zones else []
    none = ", ".join(f"`{name}`" for name in sorted(names - {trial["stencil_name"] for trial in trials}))
    header = ["definition", "type, grid", "GStencil/s", "of its bound", "naive", "candidate"]
    words = f"{'; '.join(shipped)}. " if shipped else ""
    return (f"One sweep, on one {trials[0]['gpu']}: the winners that ship, raced until {max(t['created_at'] for t in trials)[:10]} "
            f"([how](../{folder}/README.md)).\n"
            "The bound is the traffic of the stencil itself, each field it reads read once, each it writes written once, at the\n"
            f"speed of a plain copy.\n\n{table(header, rows)}\n"
            + textwrap.fill(f"{words}No winner ships of {none}.", 120, break_on_hyphens=False, break_long_words=False) + "\n")
