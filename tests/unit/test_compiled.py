"""The list of modules that are compiled, where a wheel is compiled."""

import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from batsched_py.builds import describe_build

_PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
FILES = _PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["mypyc"]["include"]


@pytest.mark.parametrize("file", FILES)
def test_a_module_that_is_listed_is_compiled_with_all_others(file: str) -> None:
    """A file that moved would silently be left out."""
    module = import_module(file.removeprefix("/").removesuffix(".py").replace("/", "."))
    assert module.__file__ is not None
    assert module.__file__.endswith(".py") is (describe_build() == "pure Python")
    assert (Path(sys.modules["batsched_py"].__path__[0]).parent / file[1:]).is_file()
