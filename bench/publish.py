"""Puts the figures of a GPU's records into docs/performance.md and README.md, and draws the plots.

    bench/bench publish bench/results/h200

The figures stand between markers. FOLDER/temporal.json, as `record` keeps it, makes docs/temporal.svg and the table of time
steps, beside bench/rivals.json. FOLDER/single-sweep.json makes the table of one sweep, and stands beside runs where its
kernel is the faster one for the same grid. FOLDER/systems.json, with the cases of FOLDER/systems-variants.json, makes the
tables of systems, beside FOLDER/torch-systems.jsonl: what bench/peers/torch_systems.py --json prints, in f32 and in f64. Rows
of runs and systems show the winner that ships (db/pretuned/) where it has raced since the record was made. The first two
records make docs/gains.svg and README's caption of it, with bars of two systems. What has no record stays as it is.
"""

import pathlib
import sys

from bench import ROOT
from bench.publishing.plots import gains_plot, runs_plot
from bench.publishing.records import load, load_lines, load_record, use_fastest_sweeps, use_winners_that_ship, with_winner
from bench.publishing.sections import one_sweep_section, peers_section, systems_section, temporal_section, torch_rates


class Page:
    """A file with sections between markers, written back as a whole."""

    def __init__(self, path):
        self.path = path
        self.text = path.read_text()

    def replace(self, name, section):
        begin, end = f"<!-- figures: {name} -->", f"<!-- end of figures: {name} -->"
        before, found, rest = self.text.partition(begin)
        _, ended, after = rest.partition(end)
        if not found or not ended:
            sys.exit(f"{self.path.relative_to(ROOT)} has no lines '{begin}' and '{end}'")
        self.text = f"{before}{begin}\n{section}{end}{after}"

    def write(self):
        self.path.write_text(self.text)


def gains_section(single, temporal, systems, folder):
    device = with_winner(single)[0]["device"]["name"]
    def source(words, name, record):
        since = f", winners raced until {record['raced_until'][:10]}" if record.get("raced_until") else ""
        return f"[{words}]({folder}/{name}.json) {record['date'][:10]}{since}"

    all_records = [("one sweep", "single-sweep", single), ("runs", "temporal", temporal), ("systems", "systems", systems)]
    records = "; ".join(source(*each) for each in all_records if each[-1])
    alt = "GStencil/s of the 3D 7-point star: other kernels, one sweep, fused steps"
    return (f"![{alt}{'; whole steps of two systems' if systems else ''}](docs/gains.svg)\n\n"
            f"<sub>Measured on {device}, boundary hold. Rates count every step of a run. Bars are bursts on a rested GPU: {records}; [other systems](bench/rivals.json).</sub>\n")


def with_variants(systems, variants):
    """The suite of systems is long: its cases on other grids and boundaries may be a record of their own."""
    if systems and variants:
        known = {case["case"] for case in systems["cases"]}
        systems["cases"] += [case for case in variants["cases"] if case["case"] not in known]
    return systems


def add_arguments(parser):
    parser.add_argument("folder", type=pathlib.Path)


def run(given):
    records = given.folder.resolve()
    folder = records.relative_to(ROOT) if records.is_relative_to(ROOT) else records
    single = load_record(records / "single-sweep.json")
    temporal = load_record(records / "temporal.json")
    systems = with_variants(load_record(records / "systems.json"), load(records / "systems-variants.json"))
    torch = load_lines(records / "torch-systems.jsonl")
    if not temporal and not single and not systems:
        sys.exit(f"{folder} has figures in none of temporal.json, single-sweep.json and systems.json: `bench/bench record` makes them")
    shipped = load(ROOT / f"db/pretuned/{records.name}.json")
    for record in filter(None, (temporal, systems)):
        use_winners_that_ship(record, shipped["winners"] if shipped else [])
    rivals = load(ROOT / "bench/rivals.json")
    tables, readme = Page(ROOT / "docs/performance.md"), Page(ROOT / "README.md")
    plots = {}
    if temporal:
        use_fastest_sweeps(temporal, single)
        tables.replace("time steps", temporal_section(temporal, rivals, folder, "temporal.svg"))
        plots["docs/temporal.svg"] = runs_plot(temporal, rivals)
    if single:
        tables.replace("one sweep", one_sweep_section(single, folder))
        tables.replace("other systems, one sweep", peers_section(single, rivals))
    if systems:
        tables.replace("systems", systems_section(systems, torch, folder))
    if temporal and single and (plot := gains_plot(single, temporal, rivals, systems, torch_rates(torch))):
        readme.replace("gains", gains_section(single, temporal, systems, folder))
        plots["docs/gains.svg"] = plot
    for path, plot in plots.items():
        (ROOT / path).write_text(plot)
    tables.write()
    readme.write()
