"""What `bench/bench retime` and `pretune` do to the winners that ship."""

import json
import os
import signal

from conftest import wait_until
from made_up import winner

import pytest

H100 = "NVIDIA H100 80GB HBM3"
# A database is a file with a winner a line; the last candidate of a race wins it.
PROGRAM = """#!/usr/bin/env python3
import json, os, pathlib, signal, sys, time
sys.path.insert(0, %r)
from made_up import winner
words, environment = sys.argv[1:], os.environ
option = lambda name, otherwise="": words[words.index(name) + 1] if name in words else otherwise
gpu = environment.get("FAKE_GPU", "NVIDIA H200")
if words[0] == "devices":
    time.sleep(float(environment.get("FAKE_SECONDS", 0)))
    print(json.dumps({"devices": [{"name": gpu}] if gpu else []}))
elif words[0] == "list":
    print(json.dumps([{"code": "stale", "created_at": "then", "stale": True}]))
elif words[0] == "db":
    lines = pathlib.Path(option("--db")).read_text().splitlines()
    pathlib.Path(words[2]).write_text(json.dumps({"format": "winners", "winners": [json.loads(x) for x in lines]}))
else:
    with open("tunes", "a") as tunes:
        print(*words, file=tunes)
    if environment.get("FAKE_HANGS_AT", "nothing") in words:
        def end(*_):
            time.sleep(0.3)  # in good order
            sys.exit(int(environment.get("FAKE_STATUS", 143)))
        signal.signal(signal.SIGTERM, end)
        pathlib.Path("hangs").touch()
        time.sleep(60)
    if environment.get("FAKE_FAILS_AT") == option("--stencil"):
        sys.exit("no such stencil")
    steps = int(option("--steps"))
    new = winner(option("--stencil"), steps, option("--candidates", "found").split(",")[-1],
                 option("--objective", "time" if steps > 1 else "burst"), 1, gpu)
    with open(option("--db"), "a") as database:
        print(json.dumps(new), file=database)
    print(f"  winner  {new['trial']['code']}   1.0")
"""


def winners(words):
    """STENCIL:STEPS:CODE:OBJECTIVE, separated by blanks."""
    for word in words.split():
        stencil, steps, code, objective = word.split(":")
        yield winner(stencil, int(steps), code, objective)


def ships(bench, words, name="db/pretuned/h200.json"):
    bench.write(name, json.dumps({"format": "winners", "winners": list(winners(words))}))


def shipped(bench, name="db/pretuned/h200.json"):
    """The winners of a file as it stands, in its order, with their trials."""
    trials = [(each["trial"], each["trials_seen"]) for each in json.loads(bench.read(name))["winners"]]
    return " ".join(f"{t['stencil_name']}:{t['steps']}:{t['code']}:{t['objective']}:{seen}" for t, seen in trials)


def tunes(bench):
    return bench.read("tunes").splitlines() if (bench.root / "tunes").exists() else []


@pytest.fixture
def bench(bench):
    bench.fake("stencil-tune", PROGRAM % os.path.dirname(__file__))
    return bench


def test_keeps_what_did_not_race(bench):
    ships(bench, "heat:1:old:burst star:1:stale:burst")
    status, said = bench.run("retime", "h200", "stale")
    assert status == 0
    assert shipped(bench) == "heat:1:old:burst:50 star:1:stale:burst:50"
    assert len(tunes(bench)) == 1
    assert "--candidates stale: stale 1.0\n" in said


@pytest.mark.parametrize("gpu, command, why", [
    (H100, ["retime", "h200", "all"], "h200 has winners of NVIDIA H200, and this is " + H100),
    ("", ["retime", "h200", "all"], "no GPU here"),
    ("NVIDIA GH200 480GB", ["pretune", "h100"], "winners of NVIDIA GH200 480GB cannot be called h100"),
])
def test_refuses_another_gpu(bench, gpu, command, why):
    ships(bench, "heat:1:old:burst")
    status, said = bench.run(*command, FAKE_GPU=gpu)
    assert status == 1 and why in said
    assert not tunes(bench)


def test_keeps_winners_by_other_objectives(bench):
    ships(bench, "heat:100:old:time star:1:old:burst")
    bench.run("retime", "h200", "runs", "--objective", "energy")
    assert shipped(bench) == "heat:100:old:energy:1 heat:100:old:time:50 star:1:old:burst:50"


def test_puts_a_race_under_load_in_the_place_of_one_in_bursts(bench):
    ships(bench, "heat:100:old:burst star:100:old:time")
    bench.run("retime", "h200", "bursts")
    assert shipped(bench) == "heat:100:old:time:50 star:100:old:time:50"
    assert len(tunes(bench)) == 1  # what has raced under load does not race again


def test_takes_a_part(bench):
    ships(bench, "a:1:old:burst b:1:old:burst c:1:old:burst")
    bench.run("retime", "h200", "all", "--part", "2/2")
    assert len(tunes(bench)) == 1 and "--stencil b " in tunes(bench)[0]


def test_races_the_winners_of_another_gpu(bench):
    ships(bench, "heat:100:old:time star:1:old:burst")
    status, _ = bench.run("retime", "h100", "runs", "--like", "h200", FAKE_GPU=H100)
    assert status == 0
    assert shipped(bench, "db/pretuned/h100.json") == "heat:100:old:time:1"
    assert shipped(bench) == "heat:100:old:time:50 star:1:old:burst:50"


def test_races_further_codes_with_what_ships(bench):
    ships(bench, "heat:100:old:time star:1:old:burst")
    bench.write("more", "# more\nheat f32 64x32 100 new # of today\nwave f32 64x32 100 other\n")
    bench.run("retime", "h200", "also", "--also", "more")
    heat, wave = sorted(tunes(bench))
    assert "--stencil heat " in heat and "--candidates old,new " in heat
    assert "--stencil wave " in wave and "--candidates other " in wave
    assert shipped(bench) == "heat:100:new:time:1 star:1:old:burst:50 wave:100:other:time:1"


def test_races_the_winners_of_another_gpu_beside_its_own(bench):
    ships(bench, "heat:100:new:time sweep:1:other:burst wave:100:third:time", "others.json")
    ships(bench, "heat:100:old:time star:1:old:burst")
    bench.run("retime", "h200", "runs", "--also", "others.json")
    assert any("--stencil heat " in tune and "--candidates old,new " in tune for tune in tunes(bench))
    assert shipped(bench) == "heat:100:new:time:1 star:1:old:burst:50 wave:100:third:time:1"


def test_keeps_what_was_done_when_cut_short(bench):
    ships(bench, "a:1:old:burst b:1:old:burst c:1:old:burst")
    bench.write("more", "a f32 64x32 1 new\nc f32 64x32 1 new2\n")
    command = ["retime", "h200", "all", "--also", "more", "--into", "kept"]
    # One of two workers takes a and c, in this order.
    process = bench.start(*command, FAKE_HANGS_AT="old,new2")
    done = bench.root / "kept/h200.done"
    wait_until(lambda: (bench.root / "hangs").exists() and done.exists() and len(done.read_text().splitlines()) == 2)
    os.killpg(process.pid, signal.SIGTERM)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 1 and "not finished: the same command goes on" in said
    assert shipped(bench, "kept/h200.json") == "a:1:new:burst:1 b:1:old:burst:50 c:1:old:burst:50"
    assert shipped(bench) == "a:1:old:burst:50 b:1:old:burst:50 c:1:old:burst:50"
    (bench.root / "tunes").unlink()
    status, _ = bench.run(*command)
    assert status == 0
    assert len(tunes(bench)) == 1  # what was left
    assert shipped(bench, "kept/h200.json") == "a:1:new:burst:1 b:1:old:burst:50 c:1:new2:burst:1"


def test_starts_nothing_after_a_signal(bench):
    ships(bench, "a:1:old:burst b:1:old:burst c:1:old:burst")
    process = bench.start("retime", "h200", "all", FAKE_HANGS_AT="a", FAKE_STATUS="0")
    wait_until((bench.root / "hangs").exists)
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 1
    assert not any("--stencil c " in tune for tune in tunes(bench))


def test_goes_on_after_a_tune_that_fails(bench):
    ships(bench, "a:1:old:burst b:1:old:burst c:1:old:burst")
    status, said = bench.run("retime", "h200", "all", FAKE_FAILS_AT="a")
    assert status == 0
    assert "no winner: no such stencil" in said
    assert len(tunes(bench)) == 3


def test_tunes_without_losing_what_ships(bench):
    ships(bench, "heat:1:old:burst")
    status, _ = bench.run("pretune", "h200", "--only", "star1d2r", "--budget", "1s")
    assert status == 0
    assert "--budget 1s" in tunes(bench)[0]
    assert shipped(bench) == "heat:1:old:burst:50 star1d2r:1:found:burst:1"


def test_tunes_for_a_gpu_of_which_nothing_ships(bench):
    ships(bench, "heat:1:old:burst")
    (bench.root / "db/pretuned").mkdir(exist_ok=True)
    status, _ = bench.run("pretune", "h100", "--only", "star1d2r", FAKE_GPU=H100)
    assert status == 0
    assert shipped(bench, "db/pretuned/h100.json") == "star1d2r:1:found:burst:1"
    assert shipped(bench) == "heat:1:old:burst:50"


def test_starts_nothing_after_its_time(bench):
    ships(bench, "heat:1:old:burst")
    status, said = bench.run("retime", "h200", "all", "--seconds", "1", FAKE_SECONDS="1.2")
    assert status == 1 and "not finished" in said
    assert not tunes(bench)
