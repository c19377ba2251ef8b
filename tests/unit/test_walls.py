"""The walls in pyproject.toml: a new package is behind the one that algorithms look through until it is let in."""

from __future__ import annotations

import tomllib

from tests.clone import ROOT, below

#: What algorithms may import.
OPEN_TO_ALGORITHMS = {"api", "collection", "experiments", "leases", "planning", "queries", "schedulers", "timelines"}


def test_algorithms_are_forbidden_all_that_is_not_open_to_them() -> None:
    """The contract lists packages, because a wildcard would forbid the algorithms themselves."""
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = (one for one in tool["contracts"] if one.get("source_modules") == ["batsched_py.schedulers"])
    package = ROOT / "batsched_py"
    modules = {path.relative_to(package).parts[0].removesuffix(".py") for path in below("batsched_py", "*.py")}
    closed = {name for name in modules if not name.startswith("_")} - OPEN_TO_ALGORITHMS
    assert {name.removeprefix("batsched_py.") for name in contract["forbidden_modules"]} == closed
