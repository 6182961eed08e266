"""The reference of the Python package, from its docstrings; built by the CMake target `python_docs`."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))

project = "stencil_tune"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "alabaster"
html_show_copyright = False
autodoc_mock_imports = ["cupy", "jax", "torch"]
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
