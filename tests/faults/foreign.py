#!/usr/bin/env python3
"""Files of other programs and of newer versions of this one, named as a database: every verb refuses them, and they and
their folder stay as they are, byte by byte."""

import gzip
import json
import random
import sqlite3

from sandbox import SHIPPED_WINNERS, arguments, conclude, file_sandbox, in_parallel

APPLICATION_ID = bytes.fromhex("5354ec11")  # at byte 68 of a database of ours
HOT_JOURNAL = bytes.fromhex("d9d505f920a163d7") + b"\0\0\0\1 and more"


def sqlite_file(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path.read_bytes()


def newer(data, chance):
    """The database, as if the next schema had written it, the one after that, or one that is far off."""
    today = int.from_bytes(data[60:64], "big")
    version = chance.choice((today + 1, today + 2, 99, 2**31 - 1))
    return data[:60] + version.to_bytes(4, "big") + data[64:]


def make_foreign(kind, path, ours, chance):
    """Writes the file, and a journal beside some."""
    noise = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 9000)))
    table = "CREATE TABLE bookmarks (url TEXT)"
    makers = {
        "text": lambda: b"dear diary\n" * chance.randrange(1, 900),
        "one byte": lambda: b"x",
        "shorter than a header": lambda: noise[:71] or b"y",
        "zeros": lambda: bytes(chance.choice((100, 512, 4096, 65536))),
        "noise": lambda: noise,
        "json": lambda: json.dumps({"format": "recipes", "version": chance.randrange(9), "winners": []}).encode(),
        "gzip": lambda: gzip.compress(noise),
        "program": lambda: b"\x7fELF\x02\x01\x01" + noise,
        "another sqlite": lambda: sqlite_file(path, table, "INSERT INTO bookmarks VALUES ('x')"),
        "another sqlite with an id": lambda: sqlite_file(path, table, "PRAGMA application_id = 7"),
        "another sqlite in wal": lambda: sqlite_file(path, "PRAGMA journal_mode = WAL", table),
        "another sqlite with our tables": lambda: sqlite_file(path, "CREATE TABLE trials (id INTEGER PRIMARY KEY)",
                                                              "PRAGMA user_version = 1"),
        "newer": lambda: newer(ours, chance),
        "newer with unknown pages": lambda: newer(ours[:100], chance) + noise,
    }
    data = makers[kind.removesuffix(" and a journal")]()
    path.write_bytes(data)
    if kind.endswith(" and a journal"):
        path.with_name(path.name + "-journal").write_bytes(HOT_JOURNAL)


KINDS = ["text", "one byte", "shorter than a header", "zeros", "noise", "json", "gzip", "program", "another sqlite",
         "another sqlite with an id", "another sqlite in wal", "another sqlite with our tables", "newer",
         "newer with unknown pages", "another sqlite and a journal", "newer and a journal", "noise and a journal"]


def content_of(folder):
    return {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()}


def verbs(path, place):
    good = place.folder / "good.db"
    yield from (("list",), ("show", "1"), ("db", "check"), ("db", "export"), ("db", "prune"),
                ("db", "import", SHIPPED_WINNERS), ("db", "merge", good), ("--dims", "64", "--max-trials", "1"))
    yield ("db", "merge", path, "--db", good)
    yield ("db", "import", path, "--db", good)


def judge(place, ours, case):
    """(runs, changed, accepted, crashes, fault) of one file."""
    number, kind, seed = case
    folder = place.folder / f"case{number}"
    folder.mkdir()
    path = folder / "t.db"
    make_foreign(kind, path, ours, random.Random(seed))
    before = content_of(folder)
    runs = changed = accepted = crashes = 0
    for words in verbs(path, place):
        done = place.run(*words, *(() if "--db" in words else ("--db", path)))
        runs += 1
        changed += content_of(folder) != before
        accepted += done.status == 0
        crashes += done.crashed
    return runs, changed, accepted, crashes, f"case {number} ({kind}, seed {seed})"


def main():
    options = arguments(__doc__, 170)
    with file_sandbox(options.program) as place:
        good = place.folder / "good.db"
        place.tool("fill", good, "35")
        ours = good.read_bytes()
        assert ours[68:72] == APPLICATION_ID
        cases = [(number, KINDS[number % len(KINDS)], f"{options.seed}.{number}") for number in range(options.count)]
        results = in_parallel(lambda case: judge(place, ours, case), cases, options.jobs)
        faults = [result[4] for result in results if any(result[1:4])]
        if place.run("db", "check", "--db", good).crashed or good.read_bytes() != ours:
            faults.append("the database beside them changed")
    runs, changed, accepted, crashes = (sum(result[i] for result in results) for i in range(4))
    conclude(f"foreign: {options.count} files, {runs} runs, {changed} changed, {accepted} accepted, "
             f"{crashes} crashes", faults)


if __name__ == "__main__":
    main()
