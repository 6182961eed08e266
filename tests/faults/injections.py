#!/usr/bin/env python3
"""Hostile text through everything that users and files bring: command line words, environment, definitions of stencils
and of users' kernels, imported winners, trials of other tuners, database rows. None may reach a terminal raw, a shell, a
path outside, SQL or a generated source."""

import json
import random
import shutil
import sys
import unicodedata

from sandbox import SHIPPED_WINNERS, SOURCES, arguments, conclude, file_sandbox, in_parallel

TOKEN = "INJECTED"  # stands in every text that is code for somebody
KERNEL = "direct.bx32.by4.bz1.rx1.ry1.rz1.v1"
TEXT_COLUMNS = ("stencil_key", "stencil_name", "gpu", "architecture", "driver", "nvrtc", "template_signature", "code",
                "message", "session", "created_at", "sharpness_note", "plan", "throttle", "sizes", "unit", "objective", "kind")
REFUSED_COLUMNS = ("objective", "kind")  # hold words of our own: a row with another one counts as damaged
OPTIONS = ("--stencil", "--expr", "--boundary", "--type", "--dims", "--gpu", "--db", "--shape", "--pitch", "--steps",
           "--device-model", "--arch", "--candidates", "--budget", "--seed", "--effort")
VARIABLES = ("STENCIL_TUNE_DB", "XDG_DATA_HOME", "HOME", "STENCIL_TUNE_CACHE", "STENCIL_TUNE_PRETUNED", "TMPDIR", "LANG",
             "XDG_CACHE_HOME", "STENCIL_TUNE_LOCK_DIR", "TERM", "STENCIL_TUNE_SITE_DB", "STENCIL_TUNE_NVRTC",
             "STENCIL_TUNE_CAPTURE", "STENCIL_TUNE_KERNELS", "STENCIL_TUNE_PROGRAM")
LIBRARY_VARIABLES = ("STENCIL_TUNE_KERNELS", "STENCIL_TUNE_PROGRAM", "STENCIL_TUNE_NVRTC", "STENCIL_TUNE_SITE_DB",
                     "STENCIL_TUNE_DB", "STENCIL_TUNE_CACHE", "STENCIL_TUNE_RACE")
PYTHON_VARIABLES = {"STENCIL_TUNE_LIBRARY": "_native.library()", "STENCIL_TUNE_REFERENCE": "_reference._load()",
                    "STENCIL_TUNE_PROGRAM": "_program.main()"}
CONFIGURATION = "BLOCK=64"
KERNEL_SOURCE = """__global__ void copy_cells(float* y, const float* x, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = x[i];
}
__global__ void copy_cells_naive(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
"""
KERNEL_WORDS = {
    "kernel": "copy_cells", "about": "y = x", "size": "n", "parameter": "BLOCK", "rule": "wide enough",
    "condition": "BLOCK >= 32", "block": "BLOCK", "grid": "ceil_div(n, BLOCK)", "shared": "0", "argument": "y", "type": "f32*",
    "length": "n", "fill": "random", "reference": "copy_cells_naive", "flops": "n", "source": "kernel.cu", "comment": "",
}
EXCHANGE_FORMATS = ("kernel-tuner", "t4", "kernel-launcher")


def texts(canary):
    """Bytes, each hostile in its own way."""
    shell = f"touch {canary}"
    return [b"\x1b[2J\x1b[Hgone", b"\x1b]0;title\x07", "\u009b31mred".encode(), b"\x9b31mred", b"\x07\x08\x08\x7f",
            b"\rall is well", b"x\nFORGED all is well\n", "\u202eabc\u202c\u2066\u2069".encode(), "\u200b\ufeff".encode(),
            "one\u2028two".encode(), b"\xff\xfe\xc0\xaf", b"\xed\xa0\x80", b"\x00\x01\x02", f"$({shell}) {TOKEN}".encode(),
            f"`{shell}` {TOKEN}".encode(), f"; {shell} # {TOKEN}".encode(), f"| {shell}\n{shell} {TOKEN}".encode(),
            f"'; DROP TABLE trials; -- {TOKEN}".encode(), f"\" OR 1=1; DELETE FROM winners; -- {TOKEN}".encode(),
            f"*/ }} int {TOKEN}; system(\"{shell}\"); /*".encode(), f"\\\nint {TOKEN};".encode(),
            f"\n#include \"/etc/passwd\" // {TOKEN}".encode(), b"{0}{1:>99999999}%s%n%99999999d", b"../../../../outside",
            b"A" * 4000, ("\u0301" * 400).encode()]


def is_raw(output):
    """Whether a terminal would get more than text and line breaks."""
    try:
        text = output.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return any(c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs") for c in text)


def kernel_definition(**hostile):
    """A definition of the kernel in KERNEL_SOURCE, with some words in place of those that it should have."""
    words = {**KERNEL_WORDS, **hostile}
    quoted = {name: json.dumps(value, ensure_ascii=False) for name, value in words.items()}
    return f"""# {words['comment']}
source = {quoted['source']}
kernel = {quoted['kernel']}
about = {quoted['about']}
[sizes]
{quoted['size']} = 4096
[parameters]
{quoted['parameter']} = [64, 128]
[rules]
{quoted['rule']} = {quoted['condition']}
[launch]
block = [{quoted['block']}]
grid = [{quoted['grid']}]
shared_bytes = {quoted['shared']}
[[arguments]]
name = {quoted['argument']}
type = "f32*"
length = "n"
output = true
[[arguments]]
name = "x"
type = {quoted['type']}
length = {quoted['length']}
fill = {quoted['fill']}
[[arguments]]
name = "n"
type = "i32"
value = "n"
[reference]
kernel = {quoted['reference']}
block = 256
grid = "ceil_div(n, 256)"
[counts]
flops = {quoted['flops']}
""".encode("utf-8", "surrogateescape")


def code_of(source):
    """A C++ source without what stands in its // comments."""
    return "\n".join(line.split("//")[0] for line in source.splitlines())


def texts_within(value, found):
    """Where texts stand in what a JSON file holds: (container, key), keys of objects too."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        if isinstance(key, str) or isinstance(inner, str):
            found.append((value, key))
        texts_within(inner, found)
    return found


class Case:
    """One text through one channel, in a folder of its own."""

    def __init__(self, suite, number, channel, text):
        self.suite = suite
        self.channel = channel
        self.text = text
        self.root = suite.place.folder / f"case{number}"
        self.folder = self.root / "a" / "b" / "c"
        self.folder.mkdir(parents=True)
        self.faults = set()
        self.forging_is_own = False  # who types a line break sees one

    def run(self, *words, environment=None):
        done = self.suite.place.run(*words, cwd=self.folder, environment=environment)
        lines = done.out.splitlines() + done.err.splitlines()
        if is_raw(done.out) or is_raw(done.err):
            self.faults.add("terminal")
        if not self.forging_is_own and any(line.startswith(b"FORGED") for line in lines):
            self.faults.add("terminal")
        if done.crashed:
            self.faults.add("crash")
        return done

    def database(self):
        path = self.folder / "t.db"
        shutil.copy(self.suite.database, path)
        return path

    def expect_database(self, path, rows, damaged=0):
        done = self.run("db", "check", "--db", path)
        if done.status != (1 if damaged else 0) or f" {rows} trials".encode() not in done.out:
            self.faults.add("sql")

    # ---- channels

    def word(self, option):
        self.forging_is_own = True
        words = {"--gpu": ("list",), "--db": ("list",), "--candidates": ("--dims", "64"),
                 "--budget": ("--dims", "64"), "--seed": ("--dims", "64"), "--effort": ("--dims", "64"),
                 "--expr": ("export", "--code", KERNEL, "--dims", "64"),
                 "--stencil": ("export", "--code", KERNEL, "--dims", "64")}
        self.run(*words.get(option, ("explain", KERNEL, "--dims", "64")), option, self.text)

    def verb(self, *before):
        self.forging_is_own = True
        self.run(*before, self.text)

    def variable(self, name):
        self.forging_is_own = True
        self.run("list", environment={name: self.text})
        self.run("db", "path", environment={name: self.text})
        self.run("devices", environment={name: self.text})

    def library_variable(self, name):
        """What programs do with a library is theirs: what it says is not looked at."""
        tool = self.suite.place.program.parent / "fault_tool"
        done = self.suite.place.run("library", program=tool, cwd=self.folder, environment={name: self.text})
        if done.status != 0:
            self.faults.add("crash")

    def python_variable(self, name):
        script = f"from stencil_tune import _native, _program, _reference; {PYTHON_VARIABLES[name]}"
        done = self.suite.place.run("-B", "-c", script, program=sys.executable, cwd=self.folder,
                                    environment={name: self.text, "PYTHONPATH": str(SOURCES / "python")})
        if done.status not in (0, 1):
            self.faults.add("crash")

    def user_kernel(self, place):
        """Beside its source, which is the user's own: only the definition is hostile."""
        (self.folder / "kernel.cu").write_text(KERNEL_SOURCE)
        path = self.folder / "kernel.toml"
        path.write_bytes(kernel_definition(**{place: self.text.decode("utf-8", "surrogateescape")}))
        self.look_at_kernel(path)
        done = self.run("export", path, "--code", CONFIGURATION, "--with-main")
        if done.status == 0 and TOKEN in code_of(done.out.decode("utf-8", "replace")):
            self.faults.add("source")

    def user_source(self):
        """With the definition in a comment: what the compiler says of it is shown."""
        self.forging_is_own = True
        path = self.folder / "kernel.cu"
        path.write_bytes(b"/* stencil-tune\n" + kernel_definition() + b"*/\n" + self.text + b"\n" + KERNEL_SOURCE.encode())
        self.look_at_kernel(path)

    def look_at_kernel(self, path):
        listed = self.run("kernel", path, "--list")
        self.run("explain", path, CONFIGURATION)
        self.run("report", path)
        if listed.status == 0:
            self.run("kernel", path, "--max-trials", "1", "--budget", "5s", "--jobs", "1")

    def trials_of_another_tuner(self, name):
        """In any one place of a file that `db export` wrote."""
        lines = [json.loads(line) if line else None for line in self.suite.exchanged[name]]
        hostile = self.text.decode("utf-8", "replace")
        container, key = random.Random(repr((name, self.text))).choice(texts_within(lines, []))
        if isinstance(container, dict) and (len(hostile) % 2 or not isinstance(container[key], str)):
            container[hostile] = container.pop(key)
        else:
            container[key] = hostile
        path = self.folder / "trials"
        path.write_text("\n".join("" if line is None else json.dumps(line) for line in lines))
        database = self.folder / "t.db"
        shutil.copy(self.suite.measured, database)
        for named in EXCHANGE_FORMATS:
            self.run("db", "import", path, "--format", named, "--db", database)
        self.run("db", "import", path, "--format", name, "--winner", self.suite.winner, "--db", database)
        self.run("replay", path)
        self.read_all(database)

    def definition(self, place):
        text = self.text.decode("utf-8", "surrogateescape")
        fields = {"name": "heat", "field": "u", "coefficient": "c", "expression": "u + c*laplacian(u)", "comment": ""}
        fields[place] = text if place != "expression" else f"u + {text}"
        quoted = {name: json.dumps(value, ensure_ascii=False) for name, value in fields.items()}
        path = self.folder / "heat.toml"
        path.write_bytes(f"""# {fields['comment']}
name = {quoted['name']}
rank = 3
fields = [{quoted['field']}, "v"]
[coefficients]
{quoted['coefficient']} = 0.1
[update]
v = {quoted['expression']}
""".encode("utf-8", "surrogateescape"))
        self.run("stencils", "show", path)
        self.expect_source("--stencil", path)

    def file_name(self):
        self.forging_is_own = True
        name = self.text.replace(b"/", b"_").replace(b"\0", b"_")[:200]
        path = bytes(self.folder) + b"/" + name + b".toml"
        with open(path, "w", encoding="utf-8") as file:
            file.write('rank = 1\nfields = ["u", "v"]\n[update]\nv = "u[x-1] + u[x+1]"\n')
        self.run("stencils", "show", path)
        self.expect_source("--stencil", path)

    def expect_source(self, *what):
        done = self.run("export", *what, "--code", KERNEL, "--dims", "64", "--rank", "3")
        if done.status == 0 and TOKEN in code_of(done.out.decode("utf-8", "replace")):
            self.faults.add("source")

    def imported(self, column):
        text = json.loads(SHIPPED_WINNERS.read_text())
        text["winners"] = text["winners"][:2]
        hostile = self.text.decode("utf-8", "replace")
        if column == "format":
            text["format"] = hostile
        elif column == "a new field":
            text["winners"][0]["trial"][hostile] = 1
        else:
            text["winners"][0]["trial"][column] = hostile
        path = self.folder / "hostile.json"
        path.write_text(json.dumps(text))
        database = self.folder / "t.db"
        self.run("db", "import", path, "--db", database)
        self.read_all(database)

    def row(self, column):
        database = self.database()
        self.suite.place.tool("row", database, column, self.text.hex())
        self.expect_database(database, self.suite.rows + 1, damaged=int(column in REFUSED_COLUMNS))
        self.read_all(database)
        merged = self.folder / "merged.db"
        self.run("db", "merge", database, "--db", merged)
        self.read_all(merged)
        self.run("db", "prune", "--db", database)

    def read_all(self, database):
        for words in (("list",), ("list", "--json"), ("db", "check"), ("db", "export")):
            self.run(*words, "--db", database)
        listed = self.run("list", "--json", "--db", database)
        ids = [winner["id"] for winner in json.loads(listed.out)] if listed.status == 0 else []
        for number in ids[-2:]:
            self.run("show", str(number), "--db", database)
            self.run("show", str(number), "--json", "--db", database)

    # ---- afterwards

    def judge(self):
        name, *rest = self.channel
        getattr(self, name)(*rest)
        if self.suite.canary.exists():
            self.faults.add("shell")
        outside = [*self.root.iterdir(), *(self.root / "a").iterdir(), *(self.root / "a" / "b").iterdir()]
        if len(outside) != 3:
            self.faults.add("outside")
        return self.faults


class Suite:
    def __init__(self, place):
        self.place = place
        self.canary = place.folder / "canary"
        self.database = place.folder / "good.db"
        self.rows = 35
        place.tool("fill", self.database, str(self.rows))
        self.measured = place.folder / "measured.db"
        place.tool("kin", self.measured)
        listed = json.loads(place.run("list", "--json", "--db", self.measured).out)
        self.winner = next(str(winner["id"]) for winner in listed if winner["kind"] == "stencil")
        self.exchanged = {name: self.export_of(name) for name in EXCHANGE_FORMATS}

    def export_of(self, name):
        """Lines of a file, each of JSON; of those formats that are one text, one line."""
        done = self.place.run("db", "export", "--format", name, "--winner", self.winner, "--db", self.measured)
        if done.status != 0:
            raise RuntimeError(done.complaint)
        text = done.out.decode()
        return text.splitlines() if name == "kernel-launcher" else [json.dumps(json.loads(text))]

    def channels(self):
        """(channel, whether its text may hold zero bytes)"""
        words = [("word", option) for option in OPTIONS]
        verbs = [("verb", *before) for before in ((), ("db",), ("show",), ("db", "check"), ("stencils",),
                                                  ("stencils", "show"), ("explain",), ("help",), ("db", "merge"),
                                                  ("db", "import"))]
        variables = [("variable", name) for name in VARIABLES]
        variables += [("library_variable", name) for name in LIBRARY_VARIABLES]
        variables += [("python_variable", name) for name in PYTHON_VARIABLES]
        definitions = [("definition", place) for place in ("name", "field", "coefficient", "expression", "comment")]
        imported = [("imported", column) for column in (*TEXT_COLUMNS, "type", "outcome", "format", "a new field")]
        rows = [("row", column) for column in TEXT_COLUMNS]
        kernels = [("user_kernel", place) for place in KERNEL_WORDS] + [("user_source",)]
        exchanged = [("trials_of_another_tuner", name) for name in EXCHANGE_FORMATS]
        return [(channel, False) for channel in (*words, *verbs, *variables, ("file_name",))] + [
            (channel, True) for channel in (*definitions, *kernels, *imported, *exchanged, *rows)]

    def cases(self, count, seed):
        """`count` of all pairs, every channel as often as any other."""
        chance = random.Random(seed)
        channels = self.channels()
        chance.shuffle(channels)
        chosen = []
        while len(chosen) < count:
            for channel, takes_zeros in channels:
                text = chance.choice(texts(self.canary))
                if takes_zeros or b"\0" not in text:
                    chosen.append((len(chosen), channel, text))
        return chosen[:count]

    def judge(self, case):
        number, channel, text = case
        faults = Case(self, number, channel, text).judge()
        return faults, f"{channel} with {text[:60]!r}: {', '.join(sorted(faults))}"


def main():
    options = arguments(__doc__, 200)
    with file_sandbox(options.program) as place:
        suite = Suite(place)
        results = in_parallel(suite.judge, suite.cases(options.count, options.seed), options.jobs)
    found = {name: sum(name in faults for faults, _ in results)
             for name in ("terminal", "shell", "outside", "sql", "source", "crash")}
    conclude(f"injections: {options.count} texts, {found['terminal']} reached a terminal raw, {found['shell']} a "
             f"shell, {found['outside']} a path outside, {found['sql']} the database, {found['source']} a source, "
             f"{found['crash']} crashes", [fault for faults, fault in results if faults])


if __name__ == "__main__":
    main()
