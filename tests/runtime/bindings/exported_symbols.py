#!/usr/bin/env python3
"""The shared library exports the functions of its headers, each under a version, and nothing else.

    exported_symbols.py LIBRARY VERSION_SCRIPT HEADER...
"""

import pathlib
import re
import subprocess
import sys


def exported(library):
    """name -> version of all that a program could link."""
    lines = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    symbols = [line.split() for line in lines]
    return dict(symbol.partition("@")[::2] for _, kind, symbol in symbols if kind != "A")


def declared(headers):
    text = "".join(pathlib.Path(header).read_text() for header in headers)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return set(re.findall(r"\b(stencil_tune_\w+)\(", text))


def versions(script):
    """name -> version as the version script says."""
    found = {}
    for version, body in re.findall(r"^(\S+) \{(.*?)^\}", pathlib.Path(script).read_text(), re.MULTILINE | re.DOTALL):
        found.update({name: version for name in re.findall(r"\b(stencil_tune_\w+);", body)})
    return found


def main():
    library, script, *headers = sys.argv[1:]
    symbols = {name: version.lstrip("@") for name, version in exported(library).items()}
    header_says, script_says = declared(headers), versions(script)
    problems = [f"{name}: exported, not in a header" for name in sorted(symbols.keys() - header_says)]
    problems += [f"{name}: in a header, not exported" for name in sorted(header_says - symbols.keys())]
    problems += [f"{name}: version {version}, the script says {script_says.get(name)}"
                 for name, version in sorted(symbols.items()) if version != script_says.get(name)]
    dynamic = subprocess.run(["readelf", "-d", library], check=True, text=True, stdout=subprocess.PIPE).stdout
    if not re.search(r"SONAME.*\[libstencil_tune\.so\.\d+\]", dynamic):
        problems.append("no SONAME libstencil_tune.so.N")
    print(*problems, f"{len(symbols)} functions, {len(problems)} problems", sep="\n")
    sys.exit(1 if problems or not symbols else 0)


if __name__ == "__main__":
    main()
