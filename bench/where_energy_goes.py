"""What a kernel spends energy on, by its counters and by what each instruction costs (bench/energy.cu).

    ncu --set full --launch-skip 2 --launch-count 1 -o KERNEL PROGRAM ...
    ncu -i KERNEL.ncu-rep --page source --print-source sass --csv >KERNEL.source.csv
    ncu -i KERNEL.ncu-rep --page raw --csv >KERNEL.raw.csv
    bench/bench where-energy-goes UPDATES KERNEL...

UPDATES: cells times steps of the launch. Picojoules an update of each kind, their sum, and the rate at which that sum
and the power of a GPU whose warps sleep make LIMIT watts. What it leaves out: memory that stays in L2, uniform
instructions, and that energy falls with clocks at the limit, while leakage grows with warmth.
"""

import collections
import csv
import re

# Picojoules a lane, and of memory a byte: one NVIDIA H200 (bench/results/h200/energy.txt).
COSTS = {"f64, uniform factor": 31.0, "f64, registers": 44.0, "f64 additions": 29.1, "f32": 14.7, "others": 17.0,
         "shuffles": 34.3, "shared memory read": 3.7, "shared memory written": 7.3, "DRAM read": 46.3,
         "DRAM written": 75.9}
OF_A_WARP = re.compile(r"U|BAR|BRA|BSSY|BSYNC|NOP|SYNCS|ELECT|R2UR|VOTE|MEMBAR|FENCE|WARPSYNC|EXIT|S2|CS2R|LDC|DEPBAR|CCTL"
                       r"|LDG|STG|STAS|LDGDEPBAR")
SCALE = {"Gbyte": 1e9, "Mbyte": 1e6, "Kbyte": 1e3, "byte": 1}


def bytes_of(operation):
    return 16 if ".128" in operation else 8 if ".64" in operation else 4


def kind_of(line):
    """The kind of an instruction, and how many of its units a lane has; None for those that count as nothing."""
    line = re.sub(r"^@!?U?P\w+\s+", "", line.strip())
    operation = line.split()[0]
    name = operation.split(".")[0]
    if name == "DFMA" or name == "DMUL":
        return ("f64, uniform factor" if "UR" in line else "f64, registers"), 1
    if name == "DADD":
        return "f64 additions", 1
    if name in ("FFMA", "FADD", "FMUL"):
        return "f32", 1
    if name == "SHFL":
        return "shuffles", 1
    if name in ("LDS", "LDL"):
        return "shared memory read", bytes_of(operation)
    if name in ("STS", "STL"):
        return "shared memory written", bytes_of(operation)
    return None if OF_A_WARP.match(name) else ("others", 1)


def lanes_of(path):
    """Lanes that executed each kind, in units of its cost."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    head = next(i for i, row in enumerate(rows) if row and row[0] == "Address")
    source, lanes = rows[head].index("Source"), rows[head].index("Predicated-On Thread Instructions Executed")
    found = collections.Counter()
    for row in rows[head + 1:]:
        kind = kind_of(row[source])
        if kind:
            found[kind[0]] += kind[1] * float(row[lanes] or 0)
    return found


def account(kernel):
    with open(kernel + ".raw.csv", newline="") as file:
        names, units, values = list(csv.reader(file))[:3]
    raw = {name: float(value) * SCALE.get(unit, 1) for name, unit, value in zip(names, units, values)
           if name.startswith("dram__bytes_") and name.endswith(".sum")}
    units_of = lanes_of(kernel + ".source.csv")
    units_of["DRAM read"] = raw["dram__bytes_read.sum"]
    units_of["DRAM written"] = raw["dram__bytes_write.sum"]
    return units_of


def add_arguments(parser):
    parser.add_argument("updates", type=float)
    parser.add_argument("kernels", nargs="+", metavar="KERNEL")
    parser.add_argument("--limit", type=float, default=700, help="watts")
    parser.add_argument("--asleep", type=float, default=130, help="watts")


def run(given):
    for kernel in given.kernels:
        units_of = account(kernel)
        spent = {kind: units_of[kind] / given.updates * cost for kind, cost in COSTS.items()}
        total = sum(spent.values())
        rate = (given.limit - given.asleep) / total * 1e3
        print(f"{kernel}: {total:.0f} pJ an update, {rate:.0f} GStencil/s at {given.limit:.0f} W")
        for kind, picojoules in sorted(spent.items(), key=lambda item: -item[1]):
            if picojoules < 0.5:
                continue
            print(f"  {kind:<22}{units_of[kind] / given.updates:8.2f} an update {picojoules:8.0f} pJ")
