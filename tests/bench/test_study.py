"""How `bench/bench study` goes through its tunes, and what it says of them."""

import json

import pytest

# A database is a list of trials. A tune adds the trials of its candidates, else one of its seed.
PROGRAM = """#!/usr/bin/env python3
import json, os, pathlib, sys
words = sys.argv[1:]
option = lambda name, otherwise="": words[words.index(name) + 1] if name in words else otherwise
database = pathlib.Path(option("--db", "none"))
trials = json.loads(database.read_text()) if database.exists() else []
if words[0] == "devices":
    print('{"devices": [{"name": "Fake GPU"}]}')
elif words[0] == "list":
    print(json.dumps(trials[-1:]))
elif words[0] == "show":
    print(json.dumps({"code": "other", "trials": trials}))
elif words[0] == "db":
    print(f"{database}: schema 1, 32.8 KB, {len(trials)} trial{'' if len(trials) == 1 else 's'}, 1 winner (0 stale)")
elif words[0] == "tune":
    with open("tunes", "a") as tunes:
        print(*words, os.environ["STENCIL_TUNE_PRETUNED"], os.environ.get("STENCIL_TUNE_CACHE", "no cache"), file=tunes)
    if option("--seed") == os.environ.get("FAKE_FAILS_AT"):
        sys.exit(1)
    if "--max-trials" in words and len(trials) == int(os.environ.get("FAKE_SPACE", 1000)):
        sys.exit()
    under_load = {"sustained_gstencils": 90.0} if "--steps" in words else {}
    for code in option("--candidates", "code" + option("--seed")[:1]).split(","):
        trials.append({"code": code, "gstencils": 100.0 - 5 * (code == "code2"), **under_load})
    database.write_text(json.dumps(trials))
"""
COMMAND = ["study", "folder", "--sweeps", "--seeds", "2", "--trials", "2"]


@pytest.fixture
def bench(bench):
    bench.fake("stencil-tune", PROGRAM)
    return bench


def tunes(bench, what):
    return [line for line in bench.read("tunes").splitlines() if what in line]


def test_puts_what_tunes_chose_beside_a_long_search(bench):
    status, said = bench.run(*COMMAND, "--budget", "1s", "--order", "4")
    assert status == 0
    lines = said.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == ["star3d1r-f32", "star3d4r-f64"]
    assert lines[1] == ("  long     100.0 found in     2 trials; in one race    100.0 in bursts: 100.00 % of the best  code1")
    assert lines[3] == ("  2         95.0 found in     1 trials; in one race     95.0 in bursts:  95.00 % of the best  code2")
    assert all(" off " in tune for tune in bench.read("tunes").splitlines())  # the search is judged, not what shipped
    live = tunes(bench, "--seed 1 ") + tunes(bench, "--seed 2 ")
    assert len(live) == 4 and len({tune.split()[-1] for tune in live}) == 4  # a cache of its own each
    assert all("--budget 1s --order 4" in tune for tune in live)
    assert [tune.split("--seed ")[1][:20] for tune in tunes(bench, "star3d4r-f64.long")] == [
        "1000 --max-trials 2 ", "1001 --max-trials 1 "]
    assert len(tunes(bench, "--candidates code1,code2 ")) == 2


def test_ends_a_search_that_finds_nothing_new(bench):
    assert bench.run(*COMMAND[:-1], "5", FAKE_SPACE="3")[0] == 0
    assert len(tunes(bench, "star3d1r-f32.long")) == 4


def test_compares_runs_under_load(bench):
    _, said = bench.run("study", "folder", "--runs", "--seeds", "1", "--trials", "1")
    assert said.count(" in bursts,     90.0 under load: 100.00 % of the best") == 8


def test_goes_on_where_it_stopped(bench):
    status, said = bench.run(*COMMAND, FAKE_FAILS_AT="2")
    assert status == 1 and "a tune of star3d1r-f32 failed: folder/star3d1r-f32.2.log says why" in said
    before = len(bench.read("tunes").splitlines())
    assert bench.run(*COMMAND)[0] == 0
    _, again = bench.run(*COMMAND)
    assert len(tunes(bench, "--seed 1 ")) == 2  # those were done
    assert len(bench.read("tunes").splitlines()) == before + 8 and again.count("found in") == 6


def test_starts_nothing_after_its_time(bench):
    status, said = bench.run(*COMMAND, "--seconds", "0.0001")
    assert status == 1 and "not finished" in said
    assert not (bench.root / "tunes").exists()


def test_replays_the_seeds_that_were_not_tuned(bench):
    bench.fake("stencil_tune_record_trials", "#!/usr/bin/env bash\necho recorded $# >>recorded\n")
    bench.fake("stencil-tune", PROGRAM + """elif words[0] == "replay":\n    print(*words)\n""")
    _, said = bench.run(*COMMAND)
    assert "replay folder/study.trials.gz --strategy stencil --seed 3 --repeats 8 " in said
    assert bench.read("recorded") == "recorded 9\n"  # the file, and for each case two seeds, a long search and a race
