#!/usr/bin/env python3
"""Bits flipped and ends cut off: databases and entries of the binary cache. Nothing may crash, and no changed kernel,
code or figure may be taken for the one that was stored, or go unsaid."""

import json
import random
import sqlite3

from sandbox import SHIPPED_WINNERS, arguments, conclude, file_sandbox, in_parallel

WRITTEN_TO = 5  # every so many-th damaged database is opened for writing too


def fill(place):
    """A database of measured and predicted trials and winners, as the program stores them: of stencils and of users'
    kernels, of one problem by each objective."""
    path = place.folder / "whole.db"
    done = place.run("db", "import", SHIPPED_WINNERS, "--db", path)
    if done.status != 0:
        raise RuntimeError(done.err.decode())
    place.tool("fill", path, "35")
    place.tool("kin", path)
    return path


def rows_of(path):
    """All trials and winners as SQLite alone reads them; nothing where it cannot."""
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        try:
            return [connection.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()
                    for table in ("trials", "winners")]
        finally:
            connection.close()
    except (sqlite3.Error, UnicodeDecodeError, OverflowError):
        return None


def winners_of(run):
    """The exported winners by all that tells winners apart (the primary key of their table)."""
    keys = ("stencil_key", "stage", "type", "boundary_x", "boundary_y", "boundary_z", "rank", "nx", "ny", "nz", "pitch",
            "steps", "sizes", "gpu", "objective")
    exported = json.loads(run.out)["winners"]
    winners = {tuple(winner["trial"][key] for key in keys): winner for winner in exported}
    if len(winners) != len(exported):
        raise RuntimeError("two exported winners have one key")
    return winners


def damaged(whole, chance):
    data = bytearray(whole)
    if chance.random() < 0.25:
        return bytes(data[: chance.randrange(len(data))])
    for _ in range(chance.choice((1, 1, 1, 2, 8, 64))):
        at = chance.randrange(100) if chance.random() < 0.1 else chance.randrange(len(data))
        while data[at] == 0 and chance.random() < 0.9:  # mostly where something is stored
            at = chance.randrange(len(data))
        data[at] ^= 1 << chance.randrange(8)
    return bytes(data)


class Suite:
    def __init__(self, place):
        self.place = place
        path = fill(place)
        self.whole = path.read_bytes()
        self.rows = rows_of(path)
        exported = place.run("db", "export", "--db", path)
        self.winners = winners_of(exported)
        self.one = place.folder / "one.json"
        text = json.loads(exported.out)
        text["winners"] = text["winners"][:1]
        self.one.write_text(json.dumps(text))
        if len(self.winners) < 100 or place.run("db", "check", "--db", path).status != 0:
            raise RuntimeError("the undamaged database is not what this suite needs")

    def wrong_winners(self, run):
        found = winners_of(run)
        return [key for key, winner in found.items()
                if key not in self.winners or winner["trial"] != self.winners[key]["trial"]]

    def judge(self, case):
        """(crashes, wrong kernels, changes unnoticed, fault) of one damaged database."""
        number, seed = case
        folder = self.place.folder / f"case{number}"
        folder.mkdir()
        path = folder / "t.db"
        data = damaged(self.whole, random.Random(seed))
        path.write_bytes(data)
        intact = rows_of(path) == self.rows
        check = self.place.run("db", "check", "--db", path)
        export = self.place.run("db", "export", "--db", path)
        crashes = check.crashed + export.crashed
        wrong = export.status == 0 and bool(self.wrong_winners(export))
        same = export.status == 0 and winners_of(export) == self.winners
        unnoticed = check.status == 0 and not (intact and same)
        if number % WRITTEN_TO == 0:
            write_crashed, write_wrong, lost = self.write_to(folder, path)
            crashes, wrong, unnoticed = crashes + write_crashed, wrong or write_wrong, unnoticed or lost
        fault = f"case {number}, seed {seed}: {crashes} crashes, wrong {wrong}, unnoticed {unnoticed}"
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
        return crashes, int(wrong), int(unnoticed), fault

    def write_to(self, folder, path):
        """Whether opening for writing crashed, served a wrong winner, or lost a damaged file without keeping it."""
        before = path.read_bytes()
        done = self.place.run("db", "import", self.one, "--db", path)
        aside = [file for file in folder.iterdir() if file.name.startswith("t.db.corrupt-") and
                 not file.name.endswith(("-journal", "-wal", "-shm"))]
        if aside:
            return done.crashed, False, aside[0].read_bytes() != before
        if done.status != 0:
            return done.crashed, False, path.read_bytes() != before
        export = self.place.run("db", "export", "--db", path)
        return done.crashed or export.crashed, export.status == 0 and bool(self.wrong_winners(export)), False


def main():
    options = arguments(__doc__, 10_000)
    in_cache = options.count // 2
    with file_sandbox(options.program) as place:
        suite = Suite(place)
        cases = [(number, f"{options.seed}.{number}") for number in range(options.count - in_cache)]
        results = in_parallel(suite.judge, cases, options.jobs)
        cache_wrong, cache_unnoticed = map(int, place.tool("cache", place.folder / "cache", str(in_cache),
                                                           str(options.seed)).split())
    crashes = sum(result[0] for result in results)
    wrong = sum(result[1] for result in results) + cache_wrong
    unnoticed = sum(result[2] for result in results) + cache_unnoticed
    faults = [result[3] for result in results if any(result[:3])]
    if cache_wrong or cache_unnoticed:
        faults.append(f"binary cache: {cache_wrong} wrong kernels, {cache_unnoticed} changes unnoticed")
    conclude(f"damage: {options.count} changed files, {crashes} crashes, {wrong} wrong kernels, "
             f"{unnoticed} changes unnoticed", faults)


if __name__ == "__main__":
    main()
