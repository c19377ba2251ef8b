"""The walls in pyproject.toml: a new package is behind the one that algorithms look through until it is let in.

And chains of imports: what is read before a module can be understood.
"""

from __future__ import annotations

import tomllib

import grimp

from tests.clone import ROOT, below

#: What algorithms may import.
OPEN_TO_ALGORITHMS = {
    "api",
    "collection",
    "experiments",
    "leases",
    "planning",
    "queries",
    "schedulers",
    "slurm",
    "timelines",
}
#: The largest number of modules in a chain of imports. A longer one is cut where a module computes what others only
#: name: the value moves to a module of its own, or to a package below.
LONGEST_CHAIN = 20


def test_algorithms_are_forbidden_all_that_is_not_open_to_them() -> None:
    """The contract lists packages, because a wildcard would forbid the algorithms themselves."""
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = (one for one in tool["contracts"] if one.get("source_modules") == ["batsched_py.schedulers"])
    package = ROOT / "batsched_py"
    modules = {path.relative_to(package).parts[0].removesuffix(".py") for path in below("batsched_py", "*.py")}
    closed = {name for name in modules if not name.startswith("_")} - OPEN_TO_ALGORITHMS
    assert {name.removeprefix("batsched_py.") for name in contract["forbidden_modules"]} == closed


def test_chains_of_imports_are_short_and_have_no_cycle() -> None:
    """A reader of a module may have to read all that it imports; late imports, and those for types, count, too."""
    graph = grimp.build_graph("batsched_py", cache_dir=None)
    known: dict[str, list[str]] = {}

    def longest(module: str, above: tuple[str, ...]) -> list[str]:
        assert module not in above, f"a cycle of imports: {' -> '.join((*above[above.index(module) :], module))}"
        if module not in known:
            inner = sorted(graph.find_modules_directly_imported_by(module))
            known[module] = [module, *max((longest(one, (*above, module)) for one in inner), key=len, default=[])]
        return known[module]

    chain = max((longest(module, ()) for module in sorted(graph.modules)), key=len)
    assert len(chain) <= LONGEST_CHAIN, " -> ".join(chain)
