#!/usr/bin/env python3
"""Odd surroundings: no HOME, another user's files, a clock that jumps, a locale with decimal commas, and a database of
COUNT trials, whose winners are listed within seconds."""

import json
import os
import resource
import shutil
import subprocess

from sandbox import SHIPPED_WINNERS, arguments, conclude, file_sandbox

LONGEST_LIST_S = 2  # a core's time, which other processes take nothing of; 0.2 s for 200,000 trials in November 2026
NOBODY = 65534


class Checks:
    def __init__(self):
        self.made = 0
        self.faults = []

    def expect(self, holds, what):
        self.made += 1
        if not holds:
            self.faults.append(what)


def without_home(place, checks):
    bare = {name: "" for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
    told = place.run("list", environment=bare)
    checks.expect(told.status != 0 and b"--db" in told.err and not told.crashed, "no HOME: what to name is not said")
    named = place.run("db", "import", SHIPPED_WINNERS, "--db", place.folder / "named.db", environment=bare)
    checks.expect(named.status == 0, "no HOME: a named database is refused")
    missing = place.run("list", environment={**bare, "HOME": str(place.folder / "nowhere")})
    checks.expect(missing.status == 0 and not (place.folder / "nowhere").exists(), "a HOME that is not there: list")


def two_users(place, checks):
    """The other one may read a database that is not hers, and write nothing there."""
    shared = place.folder / "shared"
    shared.mkdir()
    place.folder.chmod(0o755)
    database = shared / "t.db"
    place.run("db", "import", SHIPPED_WINNERS, "--db", database)
    # What she uses stands where she may read.
    shutil.copy(place.program, shared / "program")
    winners = shutil.copy(SHIPPED_WINNERS, shared / "winners.json")
    for path in (shared, shared / "program"):
        path.chmod(0o755)
    winners.chmod(0o644)
    database.chmod(0o644)
    before = (database.read_bytes(), sorted(os.listdir(shared)))
    her_home = place.folder / "hers"
    her_home.mkdir()
    os.chown(her_home, NOBODY, NOBODY)
    hers = {"HOME": str(her_home), "XDG_DATA_HOME": str(her_home / "data"), "XDG_CACHE_HOME": str(place.folder / "cache")}

    def as_her(*words):
        return place.run(*words, program=shared / "program", environment=hers, cwd=her_home, user=NOBODY, group=NOBODY)

    checks.expect(as_her("list", "--db", database).status == 0, "another user's database cannot be read")
    written = as_her("db", "import", winners, "--db", database)
    checks.expect(written.status == 1 and b"read-only" in written.err, "another user's database: not said why")
    checks.expect((database.read_bytes(), sorted(os.listdir(shared))) == before, "another user's database changed")
    own = as_her("db", "import", shared / "t.db", "--db", her_home / "own.db")
    checks.expect(own.status in (1, 2) and not own.crashed, "a database is no text of winners")
    merged = as_her("db", "merge", database)
    checks.expect(merged.status == 0 and (her_home / "data").is_dir(), "another user's database cannot be merged")


def clocks_that_jump(place, checks):
    """Rows from 1970 and from the year 9999 are stored, and change nothing about other problems."""
    database = place.folder / "clocks.db"
    place.run("db", "import", SHIPPED_WINNERS, "--db", database)
    before = place.run("list", "--json", "--db", database)
    for moment in (b"1970-01-01T00:00:00.000Z", b"9999-12-31T23:59:59.999Z"):
        place.tool("row", database, "created_at", moment.hex())
    after = place.run("list", "--json", "--db", database)
    checks.expect(place.run("db", "check", "--db", database).status == 0, "a clock that jumped: rows are not whole")
    known = json.loads(before.out)
    others = [winner for winner in json.loads(after.out) if winner["id"] <= max(known_one["id"] for known_one in known)]
    checks.expect(known and others == known, "a clock that jumped: winners of other problems changed")


def decimal_commas(place, checks):
    """A locale with decimal commas, made here where it is not installed."""
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", place.folder / "de_DE.UTF-8"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if made.returncode not in (0, 1) or not (place.folder / "de_DE.UTF-8").is_dir():
        return
    german = {"LOCPATH": str(place.folder), "LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}
    database = place.folder / "named.db"
    for words in (("list", "--db", database), ("db", "export", "--db", database), ("stencils",),
                  ("export", "--stencil", "heat3d", "--dims", "64", "--code", "direct.bx32.by4.bz1.rx1.ry1.rz1.v1")):
        checks.expect(place.run(*words, environment=german).out == place.run(*words).out, f"a German locale: {words}")


def seconds_of_children():
    """Time of the processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def many_trials(place, checks, count):
    database = place.folder / "many.db"
    place.tool("fill", database, str(count))
    before = seconds_of_children()
    listed = place.run("list", "--db", database)
    took = seconds_of_children() - before
    checks.expect(listed.status == 0 and listed.out.count(b"\n") > count // 100, f"{count} trials: list fails")
    checks.expect(took < LONGEST_LIST_S, f"{count} trials: list takes {took:.1f} s")
    return took


def main():
    options = arguments(__doc__, 200_000)
    checks = Checks()
    with file_sandbox(options.program) as place:
        without_home(place, checks)
        if os.geteuid() == 0:
            two_users(place, checks)
        clocks_that_jump(place, checks)
        decimal_commas(place, checks)
        took = many_trials(place, checks, options.count)
    conclude(f"surroundings: {checks.made} checks, {options.count} trials listed in {took:.1f} s, "
             f"{len(checks.faults)} failed", checks.faults)


if __name__ == "__main__":
    main()
