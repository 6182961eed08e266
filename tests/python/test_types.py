"""The package's types (py.typed), by mypy."""

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent


@pytest.mark.parametrize("what", [["--package", "stencil_tune"], [HERE / "typed_use.py"]])
def test_types_hold(what, tmp_path):
    # PyTorch, JAX and CuPy are not here.
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, "--python-version", "3.10",
               "--ignore-missing-imports"]
    done = subprocess.run([*command, *what], cwd=tmp_path, env={**os.environ, "MYPY_FORCE_COLOR": "0"}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout
