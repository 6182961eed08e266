"""What `bench/bench` itself takes and refuses."""

import pytest


def test_lists_its_subcommands(bench):
    status, said = bench.run("--help")
    assert status == 0
    assert "    retime             Verifies and races again" in said


@pytest.mark.parametrize("words, why", [
    (["retmie"], "    retime  "),  # the list
    (["publish", "records", "--budget", "1s"], "unknown: --budget 1s"),  # nothing that it could go on to
    (["record", "main"], "required: folder"),
    (["retime", "h200", "satle"], "choose from 'all', 'stale'"),
])
def test_refuses_wrong_use(bench, words, why):
    status, said = bench.run(*words)
    assert status == 2 and why in said


def test_says_which_program_failed(bench):
    bench.fake("stencil-tune", "#!/bin/sh\nexit 3\n")
    status, said = bench.run("pretune", "h200")
    assert status == 1
    assert "'devices', '--json']' returned non-zero exit status 3" in said and "Traceback" not in said


def test_says_where_there_is_no_program(bench):
    status, said = bench.run("pretune", "h200")
    assert status == 1
    assert "No such file or directory" in said and "stencil-tune" in said and "Traceback" not in said
