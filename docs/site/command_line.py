"""Writes the page of the command line: what the program says of itself.

    command_line.py PROGRAM FILE
"""

import pathlib
import re
import subprocess
import sys


def says(program, *verb):
    done = subprocess.run([program, "help", *verb], check=True, text=True, stdout=subprocess.PIPE)
    return f"```text\n{done.stdout.strip()}\n```\n"


def main():
    program, page = sys.argv[1:]
    overview = says(program)
    verbs = re.findall(r"^  ([a-z]+) ", overview.partition("verbs:\n")[2].partition("\n\n")[0], flags=re.MULTILINE)
    if not verbs:
        sys.exit(f"{program} help lists no verbs")
    sections = "\n".join(f"## {verb}\n\n{says(program, verb)}" for verb in verbs)
    common = "{doc}`docs/terminal` says what all commands have in common."
    pathlib.Path(page).write_text(f"# Command line\n\n{overview}\n{common}\n\n{sections}")


if __name__ == "__main__":
    main()
