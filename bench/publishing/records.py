"""Records of `bench/bench record`, and the words and tables that are made of them."""

import json
import re

TEXTBOOK = ["pmpp-basic", "pmpp-tiled", "pmpp-coarsened", "pmpp-register"]


def load(path):
    return json.loads(path.read_text()) if path.exists() else None


def load_record(path):
    """None where nothing ran."""
    record = load(path)
    return record if record and with_winner(record) else None


def load_lines(path):
    """JSON, an object a line; none where there is no file."""
    return [json.loads(line) for line in path.read_text().splitlines() if line] if path.exists() else []


def rate(case, *kernels):
    """The best of these kernels; None where none of them ran."""
    rates = [k["gstencils"] for k in case.get("kernels") or [] if k["kernel"] in kernels and k.get("gstencils")]
    return max(rates, default=None)


def sustained(case):
    """The winner's rate under continuous load; None where it did not race so."""
    rates = [k.get("sustained_gstencils") for k in case.get("kernels") or [] if k["kernel"] == "winner"]
    return rates[0] if rates else None


def with_winner(record):
    return [case for case in record["cases"] if rate(case, "winner")]


def find(record, stencil, type, dims):
    """The case with dense rows and boundary hold, where it has a winner."""
    for case in with_winner(record):
        same = (case["stencil"], case["type"], case["dims"], case["boundary"]) == (stencil, type, dims, "hold")
        if same and case["pitch"] == int(dims.split("x")[0]):
            return case
    return None


def use_fastest_sweeps(record, single):
    """One sweep beside each run: what was tuned for its own grid, here or in the record of one sweep, if faster."""
    for case in record["cases"]:
        of_another_grid = any(re.match(r"one sweep: .*\(match: (?!exact)", note) for note in case.get("notes", []))
        same = find(single, case["stencil"], case["type"], case["dims"]) if single else None
        rates = [None if of_another_grid else rate(case, "one sweep"), rate(same, "winner") if same else None]
        fastest = max(filter(None, rates), default=None)
        others = [kernel for kernel in case.get("kernels") or [] if kernel["kernel"] != "one sweep"]
        case["kernels"] = others + [{"kernel": "one sweep", "gstencils": fastest}]


def shipped_trial(case, winners):
    """The trial of the winner that ships for that problem; None where there is none."""
    def same(trial):
        rank = trial["rank"]
        dims = "x".join(str(trial[side]) for side in ("nx", "ny", "nz")[:rank])
        return ((trial["stencil_name"], trial["type"], dims, trial["pitch"], trial["steps"])
                == (case["stencil"], case["type"], case["dims"], case["pitch"], case["steps"])
                and trial["stage"] == case.get("stage", trial["stage"])
                and all(trial[f"boundary_{axis}"] == case["boundary"] for axis in "xyz"[:rank]))

    return next((winner["trial"] for winner in winners if same(winner["trial"])), None)


def use_winners_that_ship(record, winners):
    """The winner that ships takes the place of the record's where it has raced since."""
    for case in with_winner(record):
        trial = shipped_trial(case, winners)
        if trial and trial["created_at"] > record["date"]:
            others = [kernel for kernel in case["kernels"] if kernel["kernel"] != "winner"]
            rates = {"gstencils": trial["rate"], "sustained_gstencils": trial["sustained_rate"]}
            case["kernels"] = [{"kernel": "winner", **trial, **rates}, *others]
            record["raced_until"] = max(record.get("raced_until", ""), trial["created_at"])


def fused_steps(case):
    code = next(k["code"] for k in case["kernels"] if k["kernel"] == "winner")
    steps = re.search(r"\.t(\d+)\b", code)
    return int(steps.group(1)) if steps else 1


def provenance(record, folder, name):
    """Where the figures are from, in words, for a page in docs/."""
    devices = [case["device"] for case in with_winner(record)]
    device = devices[0]["name"]
    count = len({device.get("uuid") for device in devices})
    where = f"one {device}" if count == 1 else f"each row on one of {count} {device}"
    commit = f", commit {record['commit']}" if record.get("commit") else ""
    budget = f", {record['budget_s']:g} s of tuning a case" if record.get("budget_s") else ""
    origin = f"; {record['from']}" if record.get("from") else ""
    if record.get("raced_until"):
        origin += f"; winners as those that ship have raced since, until {record['raced_until'][:10]} (`stencil-tune list --shipped`)"
    return f"[{folder}/{name}.json](../{folder}/{name}.json){commit}, {record['date'][:10]}, {where}{budget}{origin}"


SYSTEMS = {  # what the systems of the suite are called, in the order of their table
    "yee3d": "Maxwell, Yee's grid, six fields and a coefficient",
    "acoustic3d_o2": "acoustic wave, order 2",
    "acoustic3d_o4": "acoustic wave, order 4",
    "acoustic3d_o8": "acoustic wave, order 8",
    "anisotropic_diffusion3d": "anisotropic diffusion, coefficient read at neighbours",
    "elastic3d": "elastic waves, nine fields",
    "gray_scott2d": "Gray-Scott, two fields",
    "fdtd2d": "Maxwell in 2D, three fields",
    "shallow2d": "shallow water, three fields, fluxes with divisions",
}


def title(stencil):
    built_in = re.fullmatch(r"(star|box)(\d)d(\d+)r", stencil)
    return f"{built_in[2]}D {built_in[1]}, order {built_in[3]}" if built_in else stencil


def grid(dims):
    sides = dims.split("x")
    if len(set(sides)) > 1 or len(sides) == 1:
        return " x ".join(sides)
    return sides[0] + {2: "²", 3: "³"}[len(sides)]


def number(value):
    if value is None:
        return "–"
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def table(header, rows, numbers=False):
    """numbers: whether all columns but the first stand to the right."""
    lines = [header, ["---", *(["---:" if numbers else "---"] * (len(header) - 1))], *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)
