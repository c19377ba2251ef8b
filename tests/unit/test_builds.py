"""The build in the output of `--version`."""

from importlib.machinery import ModuleSpec

import pytest

from batsched_py import bits, builds


def test_it_is_told_from_a_module_that_may_be_compiled() -> None:
    """As it is here."""
    assert builds.describe_build() == ("pure Python" if bits.__file__.endswith(".py") else "compiled")


@pytest.mark.parametrize(
    ("file", "build"),
    [("/x/batsched_py/bits.py", "pure Python"), ("/x/batsched_py/bits.cpython-311-x86_64-linux-gnu.so", "compiled")],
)
def test_machine_code_is_no_source(file: str, build: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The platform's names of libraries do not matter."""
    monkeypatch.setattr(builds, "find_spec", lambda name: ModuleSpec(name, None, origin=file))
    assert builds.describe_build() == build
