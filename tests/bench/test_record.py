"""What `bench/bench record` keeps of a suite."""

import json
import os
import signal

from conftest import wait_until

import pytest


def fake(bench, body, gpus=1):
    """The program, with a body of its `bench`."""
    devices = json.dumps({"devices": [{"name": "Fake GPU"}] * gpus})
    bench.fake("stencil-tune", f"#!/usr/bin/env bash\nif [[ $1 == devices ]]; then echo '{devices}'; exit; fi\n{body}\n")


def expect_record(bench):
    assert bench.read("records/main.json") == '{"cases": []}\n'
    assert bench.read("records/main.txt").splitlines()[-1] == "a table"
    assert "tried" not in bench.read("records/main.txt")


def test_keeps_json_and_tables_without_progress(bench):
    fake(bench, """echo '   1 s  5 tried' >&2; echo 'a table' >&2; echo '{"cases": []}'""")
    status, said = bench.run("record", "main", "records")
    assert status == 0
    assert "5 tried" in said and "a table" in said  # who waits sees both
    expect_record(bench)


def test_keeps_what_an_interrupted_program_has(bench):
    fake(bench, """trap 'sleep 0.3; echo a table >&2; echo "{\\"cases\\": []}"; exit 1' TERM
touch runs
while :; do sleep 0.1; done""")
    process = bench.start("record", "main", "records")
    wait_until((bench.root / "runs").exists)
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 1
    expect_record(bench)


# Case N of the part that --cases N-/2 chooses, and the one after the next.
CASES = """while [[ $1 != --cases ]]; do if [[ $1 == --device ]]; then device=$2; fi; shift; done
first=${2%%-*}
echo "   1 s  5 tried" >&2
echo "table $first" >&2
echo "{\\"commit\\": \\"abc\\", \\"cases\\": [{\\"case\\": $first, \\"device\\": $device}, {\\"case\\": $((first + 2)), \\"device\\": $device}]}"
exit $((first == 2))"""


def test_shares_the_cases_among_all_gpus(bench):
    fake(bench, CASES, gpus=2)
    status, _ = bench.run("record", "main", "records")
    assert status == 1  # that of the second part
    record = json.loads(bench.read("records/main.json"))
    assert record["commit"] == "abc"
    assert [(case["case"], case["device"]) for case in record["cases"]] == [(1, 0), (2, 1), (3, 0), (4, 1)]
    assert bench.read("records/main.txt") == "table 1\ntable 2\n"


@pytest.mark.parametrize("cases", [["--cases", "3-/2"], ["--device=1", "--cases", "3-/2"]])
def test_leaves_a_choice_of_cases_to_one_gpu(bench, cases):
    fake(bench, "device=1\n" + CASES, gpus=2)
    status, _ = bench.run("record", "main", "records", *cases)
    assert status == 0
    assert bench.read("records/main.txt") == "table 3\n"


def test_keeps_the_parts_that_got_as_far_as_a_case(bench):
    fake(bench, """while [[ $1 != --cases ]]; do shift; done
case $2 in
  1-*) exit 1 ;;
  2-*) echo '{"commit": "abc"}'; exit 1 ;;
  *) echo '{"commit": "abc", "cases": [{"case": 3}]}' ;;
esac""", gpus=3)
    status, _ = bench.run("record", "main", "records")
    assert status == 1
    assert json.loads(bench.read("records/main.json")) == {"commit": "abc", "cases": [{"case": 3}]}


def test_keeps_nothing_of_a_program_that_printed_nothing(bench):
    fake(bench, "exit 2")
    status, _ = bench.run("record", "main", "records")
    assert status == 1
    assert not (bench.root / "records").exists()
