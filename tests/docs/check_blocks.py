#!/usr/bin/env python3
"""Runs the commands and compiles the programs that a page shows, against a build of the project.

    check_blocks.py PAGE --source FOLDER --bin FOLDER --include FOLDER... [--cxx, --cc, --fortran, --cmake COMMAND]

A fence names the language: sh is run line by line; cpp, c and fortran are compiled; toml is a definition that the
program must understand; cuda NAME.cu is a kernel of one's own, likewise; cmake is configured; python is compiled, and run by the test python.package; text is output. Beyond the language it can say `fragment`, which is put
into a function, or `from FILE`: the block must stand in that file, which is built and run by another test; lines of a
text may be left out. commands.py
has all that is shortened or left to other tests; both are printed.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from blocks import blocks_of
from commands import NEEDS_GPU, NEEDS_NVCC, as_run, commands_of, elsewhere
from snippets import MPI_STUB, whole


class Checker:
    def __init__(self, options, scratch):
        self.options = options
        self.scratch = scratch
        self.counts = {"run": 0, "compiled": 0, "found in their files": 0, "not run here": 0}
        self.environment = dict(os.environ, STENCIL_TUNE_DB=str(scratch / "winners.db"),
                                STENCIL_TUNE_CACHE=str(scratch / "cache"),
                                PATH=f"{options.bin}{os.pathsep}{os.environ['PATH']}")
        for name in ("bench", "corpus", "examples", "kernels"):
            (scratch / name).symlink_to(options.source / name)
        devices = self.call(["stencil-tune", "devices", "--json"], stdout=subprocess.PIPE).stdout
        self.has_gpu = '"uuid"' in devices

    def call(self, command, **more):
        return subprocess.run(command, cwd=self.scratch, env=self.environment, text=True, **more)

    def expect(self, command, succeeds=True, **more):
        done = self.call(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
        if (done.returncode == 0) != succeeds:
            expected = "success" if succeeds else "failure, since there is no GPU"
            raise ValueError(f"{command}\nexit status {done.returncode}, expected {expected}:\n{done.stdout}")
        return done.stdout

    def count(self, what):
        self.counts[what] += 1

    def check(self, block):
        if block.note.startswith("from "):
            return self.check_found(block, block.note.removeprefix("from "))
        checks = {"sh": self.check_sh, "cpp": self.check_cpp, "c": self.check_c, "fortran": self.check_fortran,
                  "toml": self.check_toml, "cmake": self.check_cmake, "python": self.check_python,
                  "cuda": self.check_cuda,
                  "text": lambda block: None}
        if block.language not in checks:
            raise ValueError(f"nothing checks blocks of '{block.language}'")
        return checks[block.language](block)

    def check_found(self, block, name):
        def plain(text):
            return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]

        lines, wanted = plain((self.options.source / name).read_text()), plain(block.text)
        if block.language == "text":  # what a program printed, some lines left out
            left = iter(lines)
            found = all(line in left for line in wanted)
        else:
            found = any(lines[i:i + len(wanted)] == wanted for i in range(len(lines)))
        if not found:
            raise ValueError(f"{name} does not have this block:\n{block.text}")
        self.count("found in their files")

    def check_sh(self, block):
        for command in commands_of(block.text):
            why = elsewhere(command)
            if not why and NEEDS_NVCC.match(command) and not shutil.which("nvcc"):
                why = "there is no nvcc"
            if why:
                print(f"  not run: {command}: {why}")
                self.count("not run here")
                continue
            run = as_run(command, self.has_gpu)
            print(f"  run: {command}" + (f"  as: {run}" if run != command else ""), flush=True)
            self.expect(["bash", "-c", run], succeeds=self.has_gpu or not NEEDS_GPU.match(run))
            self.count("run")

    def includes(self):
        return [f"-I{folder}" for folder in self.options.include]

    def compile(self, compiler, suffix, flags, block):
        source = self.scratch / f"block{suffix}"
        source.write_text(whole(block))
        self.expect([*compiler, *flags, "-fsyntax-only", *self.includes(), str(source)])
        self.count("compiled")

    def check_cpp(self, block):
        standard = "c++17" if self.options.page.name == "README.md" else "c++20"  # what README says that callers need
        flags = [f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
        if "<mpi.h>" in block.text:  # MPI or not, each machine checks the same
            (self.scratch / "mpi.h").write_text(MPI_STUB)
            flags.append(f"-I{self.scratch}")
        self.compile([self.options.cxx], ".cpp", flags, block)

    def check_c(self, block):
        self.compile([self.options.cc], ".c", ["-std=c99", "-Wall", "-Wextra", "-Werror"], block)

    def check_fortran(self, block):
        if not self.options.fortran:
            print(f"  not compiled: line {block.line}: there is no Fortran compiler")
            return self.count("not run here")
        module = self.options.source / "runtime/bindings/stencil_tune.f90"
        if not (self.scratch / "stencil_tune.mod").exists():
            self.expect([self.options.fortran, "-fsyntax-only", str(module)])
        return self.compile([self.options.fortran], ".f90", ["-Wall"], block)

    def check_toml(self, block):
        (self.scratch / "block.toml").write_text(block.text)
        self.expect(["stencil-tune", "stencils", "show", "block.toml"])
        self.count("run")

    def check_cuda(self, block):
        """A kernel of one's own; what follows finds it under the name that the fence says."""
        (self.scratch / block.note).write_text(block.text)
        self.expect(["stencil-tune", "kernel", block.note, "--list"])
        self.count("run")

    def check_python(self, block):
        compile(block.text, f"line {block.line}", "exec")  # the test python.package runs them, with what they import
        self.count("compiled")

    def check_cmake(self, block):
        if "find_package(stencil_tune" in block.text:
            print(f"  not configured: line {block.line}: the test package.* does so against an installation")
            return self.count("not run here")
        project = self.scratch / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(block.text)
        (project / "main.cpp").write_text("int main() {}\n")
        (project / "stencil-tune").symlink_to(self.options.source)  # the clone that the page speaks of
        said = self.expect([self.options.cmake, "-G", self.options.generator, "-S", str(project), "-B", str(project / "build"),
                            f"-DCMAKE_CXX_COMPILER={self.options.cxx}", "--warn-uninitialized"])
        if "Warning (dev) at CMakeLists.txt" in said:  # of the project's own file
            raise ValueError(f"line {block.line} uses what nothing has set:\n{said}")
        shutil.rmtree(project)
        return self.count("compiled")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--include", nargs="*", default=[])
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--fortran", default="")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--generator", default="Ninja")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        try:
            checker = Checker(options, pathlib.Path(scratch))
            for block in blocks_of(options.page):
                try:
                    checker.check(block)
                except ValueError as error:
                    raise ValueError(f"{options.page}:{block.line}: {error}") from None
        except ValueError as error:
            sys.exit(f"FAILED: {error}")
        print(f"{options.page.name}: " + ", ".join(f"{count} {what}" for what, count in checker.counts.items()))


if __name__ == "__main__":
    main()
