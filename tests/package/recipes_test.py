#!/usr/bin/env python3
"""The recipes of packaging/ say of the project what the project says itself.

    recipes_test.py PREFIX      an installation, which must have the files that the recipes name
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONDA = ROOT / "packaging/conda/recipe.yaml"
SPACK = ROOT / "packaging/spack/package.py"

# For what CMake looks for in the parts that are installed: the package of conda-forge, and of Spack.
PACKAGES = {
    "Boost": ("libboost-devel", "boost"), "CudaHeaders": ("cuda-nvrtc-dev", "cuda"), "Eigen3": ("eigen", "eigen"),
    "PkgConfig": ("pkg-config", "pkgconfig"), "SQLite3": ("libsqlite", "sqlite"), "ZLIB": ("zlib", "zlib-api"),
    "fmt": ("fmt", "fmt"), "libxxhash": ("xxhash", "xxhash"), "nlohmann_json": ("nlohmann_json", "nlohmann-json"),
    "tomlplusplus": ("tomlplusplus", "tomlplusplus"),
}
PARTS = ("generator", "db", "runtime", "distributed", "tuner", "cmake")
OF_THE_SYSTEM = {"Threads", "Git", "GTest", "stencil_tune"}  # or not of what is installed


def looked_for():
    found = set()
    for part in PARTS:
        for file in [*(ROOT / part).rglob("CMakeLists.txt"), *(ROOT / part).glob("*.cmake")]:
            text = re.sub(r"#.*", "", file.read_text())
            found |= set(re.findall(r"find_package\((\w+)", text)) | set(re.findall(r"IMPORTED_TARGET (\w+)", text))
    return found - OF_THE_SYSTEM


def items(text, begin):
    """The items of the YAML list below the line `begin`, their conditions on versions left out."""
    listed = re.search(rf"^ *{begin}:\n((?: +-.*\n)+)", text, re.MULTILINE)
    return re.findall(r"- ([\w.${}/-]+)", listed[1])


def main():
    prefix = pathlib.Path(sys.argv[1])
    cmake = (ROOT / "CMakeLists.txt").read_text()
    python = dict(re.findall(r'^(license|description) = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE))
    conda, spack = CONDA.read_text(), SPACK.read_text()
    version = re.search(r"project\(stencil_tune VERSION (\S+)", cmake)[1]
    least_cmake = re.search(r"cmake_minimum_required\(VERSION (\S+)\)", cmake)[1]
    wanted = [
        (conda, [f'  version: "{version}"', f"    - cmake >={least_cmake}", f"  license: {python['license']}",
                 f"  summary: {python['description']}"]),
        (spack, [f'version("{version}")', f'depends_on("cmake@{least_cmake}:"', f'license("{python["license"]}")',
                 f'"""{python["description"]}."""'])]
    for recipe, facts in wanted:
        for fact in facts:
            assert fact in recipe, f"a recipe should say {fact}"

    looked = looked_for()
    assert looked == set(PACKAGES), f"CMake looks for {sorted(looked)}: PACKAGES and the recipes name others"
    of_conda = set(items(conda, "build")) | set(items(conda, "host"))
    of_spack = set(re.findall(r'depends_on\("([\w-]+)', spack))
    for index, names in enumerate((of_conda, of_spack)):
        missing = {packages[index] for packages in PACKAGES.values()} - names
        assert not missing, f"{('conda', 'spack')[index]}: {sorted(missing)} missing"

    files = items(conda, "files") + re.findall(r'^ +"((?:bin|include|lib)/\S+)",$', spack, re.MULTILINE)
    assert len(files) >= 9, files
    for file in files:
        there = list(prefix.glob(file.replace("lib/", "lib*/", 1))) + list(prefix.glob(file.replace("lib/", "lib/*/", 1)))
        assert there, f"an installation has no {file}"


main()
