"""The sections of docs/performance.md, and README's sentence on systems."""

import textwrap

from bench.publishing.records import (SYSTEMS, TEXTBOOK, find, fused_steps, grid, number, provenance, rate, sustained, table,
                                title, with_winner)


def with_rivals(record, rivals):
    """(rivals' case, our case or None), in the order of the rivals' file."""
    return [(rival, find(record, rival["stencil"], rival["type"], rival["dims"])) for rival in rivals["cases"]]


def best_rival(rivals, case):
    return max(case[system["key"]] for system in rivals["systems"] if system["key"] in case)


def temporal_table(record, rivals):
    rows = []
    notes = []
    for rival, ours in with_rivals(record, rivals):
        if ours is None:
            continue
        winner = rate(ours, "winner")
        best = best_rival(rivals, rival)
        cells = [f"{rival['title']}, {rival['type']}, {grid(rival['dims'])}"]
        cells += [f"**{number(winner)}**", number(sustained(ours)), str(fused_steps(ours))]
        cells += [number(rate(ours, "one sweep"))]
        cells += [f"{winner / best:.2f} x"]
        cells += [number(rival.get(system["key"])) for system in rivals["systems"]]
        if "note" in rival:
            notes.append(f"{rival['title']}, {rival['type']}: {rival['note']}.")
        rows.append(cells)
    header = ["stencil, type, grid", "stencil-tune, burst", "sustained", "steps fused", "one sweep"]
    header += ["over the best other"]
    text = table(header + [system["name"] for system in rivals["systems"]], rows)
    return text + "".join(f"\n{note}\n" for note in notes)


def other_grids(record, rivals):
    """What no other system was measured for: odd extents, larger grids, grids that fit in L2."""
    compared = [id(ours) for rival, ours in with_rivals(record, rivals)]
    rows = []
    for case in with_winner(record):
        if id(case) in compared:
            continue
        winner = rate(case, "winner")
        against = case.get("compared_with_case")
        share = ""
        other = next((c for c in record["cases"] if against and c["case"] == against), None)
        if other and rate(other, "winner"):
            share = f"{100 * winner / rate(other, 'winner'):.0f} % of {grid(other['dims'])}"
        elif case["fits_in_l2"]:
            share = "fits in L2"
        cells = [f"{title(case['stencil'])}, {case['type']}, {grid(case['dims'])}", f"**{number(winner)}**"]
        cells += [number(sustained(case)), str(fused_steps(case))]
        rows.append(cells + [number(rate(case, "one sweep")), share])
    return table(["stencil, type, grid", "stencil-tune, burst", "sustained", "steps fused", "one sweep", ""], rows) if rows else ""


def temporal_section(record, rivals, folder, plot):
    sources = "; ".join(f"{s['name']}: {s['how']}" for s in rivals["systems"])
    steps = record["cases"][0]["steps"]
    theirs = (f"The other systems were measured on the same GPU model, {rivals['date']}, with their own published kernels, of each the "
              f"best of all its configurations ([bench/rivals.json](../bench/rivals.json)). {sources}.")
    parts = [
        f"![Rate of {steps} steps against other systems]({plot})\n",
        f"GStencil/s of whole runs of {steps} steps, boundary hold, every cell compared with repeated plain sweeps. Burst: after a\n"
        "rest, as all figures of one sweep and of the other systems; sustained: under continuous load (–: not measured)\n"
        f"({provenance(record, folder, 'temporal')}):\n",
        temporal_table(record, rivals),
        "One sweep: the fastest kernel of one sweep that was tuned for the same grid, of this record or of\n"
        f"[single-sweep.json](../{folder}/single-sweep.json) (–: none was).\n",
        textwrap.fill(theirs, 120, break_on_hyphens=False, break_long_words=False) + "\n",
        other_grids(record, rivals),
    ]
    return "\n".join(part for part in parts if part)


def one_sweep_row(case, name):
    share = 100 * rate(case, "winner") / case["copy_ceiling_gstencils"]
    others = [rate(case, "naive")] + [rate(case, kernel) for kernel in TEXTBOOK]
    return [name, f"**{number(rate(case, 'winner'))}**", f"{share:.0f} %"] + [number(other) for other in others]


def one_sweep_name(case):
    name = f"{title(case['stencil'])}, {case['type']}, {grid(case['dims'])}"
    if case["pitch"] != int(case["dims"].split("x")[0]):
        name += ", rows padded"
    return name if case["boundary"] == "hold" else f"{name}, {case['boundary']}"


def is_plain(case):
    """Among the cases that come first: a cube or square, dense, and the types most use."""
    sides = case["dims"].split("x")
    return case["type"] in ("f32", "f64") and case["boundary"] == "hold" and set(sides) <= {"512", "16384"}


def one_sweep_section(record, folder):
    cases = [case for case in with_winner(record) if not case["stencil"].endswith("-symmetric")]
    header = ["stencil, type, grid", "winner", "of a plain copy", "naive, best block"]
    header += [kernel.removeprefix("pmpp-") for kernel in TEXTBOOK]
    plain = [one_sweep_row(case, one_sweep_name(case)) for case in cases if is_plain(case)]
    others = [one_sweep_row(case, one_sweep_name(case)) for case in cases if not is_plain(case)]
    section = (f"One sweep, GStencil/s, boundary hold, every kernel verified in the run that timed it\n"
               f"({provenance(record, folder, 'single-sweep')}):\n\n{table(header, plain)}")
    if others:
        section += (f"\n<details><summary>Other grids, boundaries and 16-bit storage</summary>\n\n{table(header, others)}"
                    "\n</details>\n")
    return section


# ---- one sweep of other systems --------------------------------------------------------------------------------------


def peers_section(single, rivals):
    """What other ways of writing one sweep reach, beside ours where the record has it."""
    peers = rivals["one_sweep"]
    keys = [system["key"] for system in peers["systems"]]
    rows = []
    for case in peers["cases"]:
        ours = find(single, case["stencil"], case["type"], case["dims"])
        cells = [f"{title(case['stencil'])}, {case['type']}, {grid(case['dims'])}"]
        cells.append(f"**{number(rate(ours, 'winner'))}**" if ours else "–")
        rows.append(cells + [number(case.get(key)) for key in keys])
    header = ["stencil, type, grid", "stencil-tune"] + [system["name"] for system in peers["systems"]]
    text = f"GStencil/s of one sweep, boundary hold. {peers['about']} ([bench/rivals.json](../bench/rivals.json))."
    return textwrap.fill(text, 120, break_on_hyphens=False, break_long_words=False) + "\n\n" + table(header, rows)


# ---- whole steps of systems ------------------------------------------------------------------------------------------

def torch_rates(lines):
    """{(stencil, type, dims): GStencil/s} of what bench/peers/torch_systems.py --json printed."""
    return {(line["case"], line["type"], line["extents"]): line["gstencils"] for line in lines if "case" in line}


def systems_table(record, torch):
    rows = []
    for type in ("f32", "f64"):
        for stencil, name in SYSTEMS.items():
            case = next((c for c in with_winner(record) if (c["stencil"], c["type"]) == (stencil, type)
                         and not c.get("compared_with_case")), None)
            if case is None:
                continue
            winner, other = rate(case, "winner"), torch.get((stencil, type, case["dims"]))
            rows.append([f"{name}, {type}, {grid(case['dims'])}", f"**{number(winner)}**", number(sustained(case)),
                         str(fused_steps(case)), number(rate(case, "stage by stage")), number(other),
                         f"{winner / other:.1f} x" if other else ""])
    return table(["equations, type, grid", "burst", "sustained", "steps fused", "stage by stage", "torch.compile",
                  "burst over it"], rows)


def systems_in_words(record, torch):
    """How many times as fast as with torch.compile, as a paragraph; nothing where that was not measured."""
    def over_it(names):
        ratios = [rate(case, "winner") / other for case in (with_winner(record) if record else ()) if not case.get("compared_with_case")
                  and case["stencil"] in names and (other := torch.get((case["stencil"], case["type"], case["dims"])))]
        return f"{min(ratios):.1f} to {max(ratios):.1f} times" if ratios else None

    elastic = over_it({"elastic3d"})
    others = over_it(SYSTEMS.keys() - {"elastic3d"})
    if not others:
        return ""
    return ("\nWhole steps of systems fuse too: Maxwell's equations, waves, diffusion, reactions and shallow water run "
            f"{others} as fast as with torch.compile{f', elastic waves {elastic}' if elastic else ''} (runs of 100 steps, in "
            "bursts). All rates: [docs/performance.md](docs/performance.md).\n")


def variants_table(record):
    """Odd extents, padded rows and other boundaries, of the rate on the even grid under boundary hold."""
    columns, shares = [], {}
    for case in with_winner(record):
        plain = next((c for c in with_winner(record) if c["case"] == case.get("compared_with_case")), None)
        if plain is None:
            continue
        what = case["boundary"]
        if case["dims"] != plain["dims"]:
            what = "odd extents" if case["pitch"] == int(case["dims"].split("x")[0]) else "odd, rows padded"
        elif "=" in what:
            what = "mixed"
        if what not in columns:
            columns.append(what)
        share = f"{100 * rate(case, 'winner') / rate(plain, 'winner'):.0f} %"
        shares.setdefault(case["stencil"], {})[what] = share
    if not columns:
        return ""
    rows = [[SYSTEMS.get(stencil, stencil), *(found.get(what, "–") for what in columns)]
            for stencil, found in shares.items()]
    return "Of the burst on the even grid with boundary hold:\n\n" + table(["equations, f32", *columns], rows)


def systems_section(record, torch_lines, folder):
    steps = record["cases"][0]["steps"]
    abouts = [line for line in torch_lines if "case" not in line]
    theirs = ""
    if abouts:
        about = abouts[-1]
        of = ", ".join(f"{name} {about[key]}" for key, name in (("torch", "PyTorch"), ("commit", "commit")) if key in about)
        theirs = (f"torch.compile: `bench/peers/torch_systems.py`, the same update, checked, the better of default and "
                  f"max-autotune without rests; {of}, {about['date'][:10]} "
                  f"([{folder}/torch-systems.jsonl](../{folder}/torch-systems.jsonl)).")
    parts = [
        f"GStencil/s of whole runs of {steps} steps, boundary hold, every kernel verified in the run that timed it. Burst: after\n"
        f"a rest; sustained: under continuous load ({provenance(record, folder, 'systems')}):\n",
        systems_table(record, torch_rates(torch_lines)),
        textwrap.fill(theirs, 120, break_on_hyphens=False, break_long_words=False) + "\n" if theirs else "",
        variants_table(record),
    ]
    return "\n".join(part for part in parts if part)
