#!/usr/bin/env python3
"""The manual page has every verb and option of the program's help, word for word.

    manual_test.py PAGE PROGRAM
"""

import re
import shutil
import subprocess
import sys


def help_of(program, *verb):
    return subprocess.run([program, "help", *verb], check=True, text=True, stdout=subprocess.PIPE).stdout


def main():
    path, program = sys.argv[1:]
    source = open(path).read()
    page = source.replace("\\&", "").replace("\\-", "-").replace("\\e", "\\")
    verbs = re.findall(r"^  ([a-z]+) ", help_of(program).split("verbs:")[1].split("\n\n")[0], flags=re.MULTILINE)
    problems = [] if len(verbs) > 5 else ["the help lists no verbs"]
    for verb in verbs:
        problems += [] if f"\n.SS {verb}\n" in page else [f"no section for {verb}"]
        problems += [f"{verb}: missing line: {line}" for line in help_of(program, verb).splitlines() if line not in page]
    if shutil.which("groff"):
        said = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", path], text=True, stderr=subprocess.PIPE).stderr
        problems += said.splitlines()
    else:
        print("there is no groff: the page was not formatted")
    print(*problems, f"{len(verbs)} verbs, {len(problems)} problems", sep="\n")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
