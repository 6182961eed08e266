#!/usr/bin/env python3
"""The checks of the pages notice what they are for.

    checkers_test.py OPTIONS OF check_blocks.py
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def fence(language, text):
    return f"```{language}\n{text}\n```\n"


class Checkers(unittest.TestCase):
    def run_on(self, checker, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(text)
            arguments = [folder, str(page)] if checker == "check_links.py" else [str(page), *options]
            done = subprocess.run([sys.executable, "-B", HERE / checker, *arguments], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            return done.returncode, done.stdout

    def expect_blocks(self, text, words):
        status, said = self.run_on("check_blocks.py", text, *OPTIONS)
        self.assertEqual(status, 0 if words is None else 1, said)
        self.assertIn(words or "page.md", said)

    def test_a_page_without_faults_passes(self):
        self.expect_blocks(fence("sh", "stencil-tune help tune # all options\nstencil-tune \\\n  stencils show heat3d"), None)

    def test_commands_that_fail_are_faults(self):
        self.expect_blocks(fence("sh", "stencil-tune --no-such-option"), "exit status 2")
        self.expect_blocks(fence("sh", "stencil-tune help\nno-such-command"), "exit status 127")

    def test_programs_that_do_not_compile_are_faults(self):
        self.expect_blocks(fence("cpp fragment", "int unused"), "page.md:1")
        self.expect_blocks(fence("c fragment", "stencil_tune_close(1, 2);"), "stencil_tune_close")

    def test_definitions_that_do_not_parse_are_faults(self):
        self.expect_blocks(fence("toml", 'rank = 1\nfields = ["u"]'), "stencils")

    def test_projects_that_use_what_nothing_sets_are_faults(self):
        project = "cmake_minimum_required(VERSION 3.24)\nproject(mine LANGUAGES CXX)\nmessage(STATUS ${%s})"
        self.expect_blocks(fence("cmake", project % "REPOSITORY"), "uses what nothing has set")
        self.expect_blocks(fence("cmake", project % "PROJECT_NAME"), None)

    def test_blocks_must_stand_in_their_file(self):
        self.expect_blocks(fence("toml from examples/tutorial/heat.toml", "rank = 2"), "does not have this block")
        self.expect_blocks(fence("toml from examples/tutorial/heat.toml", "rank = 3"), None)

    def test_what_was_printed_may_lack_lines_but_has_them_in_order(self):
        lines = (HERE.parents[1] / "bench/results/h200/tune-512.txt").read_text().splitlines()
        self.expect_blocks(fence("text from bench/results/h200/tune-512.txt", f"{lines[0]}\n{lines[-1]}"), None)
        for text in (f"{lines[-1]}\n{lines[0]}", lines[0].replace("4202", "4203")):
            self.expect_blocks(fence("text from bench/results/h200/tune-512.txt", text), "does not have this block")

    def test_nothing_is_passed_over_without_a_word(self):
        self.expect_blocks(fence("", "stencil-tune list"), "without a language")
        self.expect_blocks(fence("perl", "1"), "nothing checks blocks of 'perl'")
        self.expect_blocks("text\n\n    stencil-tune list\n", "outside of a sh block")
        status, said = self.run_on("check_blocks.py", fence("sh", "scripts/test"), *OPTIONS)
        self.assertEqual(status, 0)
        self.assertIn("not run: scripts/test: this test is a part of it", said)

    def test_links_that_lead_nowhere_are_faults(self):
        for link, status in [("no.md", 1), ("#no-heading", 1), ("page.md#a-heading", 0), ("https://example.org", 0)]:
            self.assertEqual(self.run_on("check_links.py", f"# A heading\n[text]({link})\n")[0], status, link)


if __name__ == "__main__":
    OPTIONS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
