"""Puts the figures of a GPU's records into the pages of docs/ and README.md, and draws the plots.

    bench/bench publish                            # of bench/results/h200
    bench/bench publish --check                    # writes nothing: status 1 where a page says something else

The figures stand between markers. FOLDER/temporal.json, as `record` keeps it, makes docs/temporal.svg and the table of time
steps, beside bench/rivals.json. FOLDER/single-sweep.json makes the table of one sweep, and stands beside runs where its
kernel is the faster one for the same grid. FOLDER/systems.json, with the cases of FOLDER/systems-variants.json, makes the
tables of systems, beside FOLDER/torch-systems.jsonl: what bench/peers/torch_systems.py --json prints, in f32 and in f64. Rows
of runs and systems show the winner that ships (db/pretuned/) where it has raced since the record was made. The first two
records make docs/gains.svg and README's caption of it, with bars of two systems. Of folders
beside FOLDER, systems.json makes another table of systems, scaling.json one of docs/scaling.md, and search/scores.json the
table and the plot of docs/search.md. The winners that ship make the table of docs/stencils.md and, as the program predicts
them, those of docs/scaling.md. What has no record stays as it is.
"""

import pathlib
import sys

from bench import ROOT
from bench.publishing.many_gpus import SCALINGS, measured_section, predicted_section
from bench.publishing.pages import Pages
from bench.publishing.plots import gains_plot, runs_plot
from bench.publishing.records import load, load_lines, load_record, use_fastest_sweeps, use_winners_that_ship, with_winner
from bench.publishing.search import curves, scores_section
from bench.publishing.sections import (one_sweep_section, peers_section, systems_in_words, systems_section, temporal_section,
                                       torch_rates)
from bench.publishing.shipped import corpus_section
from bench.shipped import winners_in


def gains_section(single, temporal, systems, torch, folder, shipped):
    device = with_winner(single)[0]["device"]["name"]
    def source(words, name, record):
        since = f", [winners that ship]({shipped}) raced until {record['raced_until'][:10]}" if record.get("raced_until") else ""
        return f"[{words}]({folder}/{name}.json) {record['date'][:10]}{since}"

    all_records = [("one sweep", "single-sweep", single), ("runs", "temporal", temporal), ("systems", "systems", systems)]
    records = "; ".join(source(*each) for each in all_records if each[-1])
    alt = "GStencil/s of the 3D 7-point star: other kernels, one sweep, fused steps"
    return (f"![{alt}{'; whole steps of two systems' if systems else ''}](docs/gains.svg)\n\n"
            f"<sub>Measured on {device}, boundary hold. Rates count every step of a run. Bars are bursts on a rested GPU: {records}; [other systems](bench/rivals.json).</sub>\n"
            + systems_in_words(systems, torch))


def with_variants(systems, variants):
    """The suite of systems is long: its cases on other grids and boundaries may be a record of their own."""
    if systems and variants:
        known = {case["case"] for case in systems["cases"]}
        systems["cases"] += [case for case in variants["cases"] if case["case"] not in known]
    return systems


def add_arguments(parser):
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=ROOT / "bench/results/h200")
    parser.add_argument("--check", action="store_true", help="write nothing, say what differs")


def relative(path):
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def put_rates(pages, records, shipped):
    """The tables and plots of the folder's own records."""
    folder = relative(records)
    single = load_record(records / "single-sweep.json")
    temporal = load_record(records / "temporal.json")
    systems = with_variants(load_record(records / "systems.json"), load(records / "systems-variants.json"))
    torch = load_lines(records / "torch-systems.jsonl")
    if not temporal and not single and not systems:
        sys.exit(f"{folder} has figures in none of temporal.json, single-sweep.json and systems.json: `bench/bench record` makes them")
    for record in filter(None, (temporal, systems)):
        use_winners_that_ship(record, winners_in(shipped))
    rivals = load(ROOT / "bench/rivals.json")
    tables = "docs/performance.md"
    if temporal:
        use_fastest_sweeps(temporal, single)
        pages.replace(tables, "time steps", temporal_section(temporal, rivals, folder, "temporal.svg"))
        pages.draw("docs/temporal.svg", runs_plot(temporal, rivals))
    if single:
        pages.replace(tables, "one sweep", one_sweep_section(single, folder))
        pages.replace(tables, "other systems, one sweep", peers_section(single, rivals))
    if systems:
        pages.replace(tables, "systems", systems_section(systems, torch, folder))
    if temporal and single and (plot := gains_plot(single, temporal, rivals, systems, torch_rates(torch))):
        pages.replace("README.md", "gains", gains_section(single, temporal, systems, torch_rates(torch), folder, relative(shipped)))
        pages.draw("docs/gains.svg", plot)


def put_records_beside(pages, records):
    """What other folders beside this one hold: systems on other GPUs, scaling, scores of searches."""
    for path in sorted(records.parent.glob("*/systems.json")):
        other = load_record(path)
        if path.parent != records and other:
            use_winners_that_ship(other, winners_in(ROOT / f"db/pretuned/{path.parent.name}.json"))
            torch = load_lines(path.with_name("torch-systems.jsonl"))
            pages.replace("docs/performance.md", f"systems, {path.parent.name}",
                          systems_section(other, torch, relative(path.parent)))
    if scores := load(records.parent / "search/scores.json"):
        pages.replace("docs/search.md", "scores", scores_section(scores))
        pages.draw("docs/search.svg", curves(scores))
    for path in sorted(records.parent.glob("*/scaling.json")):
        printed = path.with_suffix(".txt").read_text()
        pages.replace("docs/scaling.md", f"measured, {path.parent.name}",
                      measured_section(load(path), printed, relative(path.parent)))


def run(given):
    records = given.folder.resolve()
    shipped = ROOT / f"db/pretuned/{records.name}.json"
    pages = Pages()
    put_rates(pages, records, shipped)
    put_records_beside(pages, records)
    if section := corpus_section(shipped, relative(records)):
        pages.replace("docs/stencils.md", "corpus", section)
        for scaling in SCALINGS:
            pages.replace("docs/scaling.md", f"{scaling} scaling", predicted_section(scaling, records.name))
    if not given.check:
        pages.write()
    elif differences := list(pages.differences()):
        print(*differences, "not what the records say: the target write-docs writes it", sep="\n")
        return 1
    return 0
