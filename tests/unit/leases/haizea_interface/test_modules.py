"""Haizea's modules, while a file of a user's is loaded."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from batsched_py.leases.haizea_interface.bases import LeaseAdmissionPolicy
from batsched_py.leases.haizea_interface.modules import class_target, haizea_modules, loading_haizea_modules
from batsched_py.leases.haizea_interface.views import LeaseView


def imported(line: str) -> dict[str, Any]:
    """The names after an import statement."""
    names: dict[str, Any] = {}
    exec(line, names)
    return names


def test_modules_and_their_packages_are_there() -> None:
    """In each form of import."""
    with haizea_modules():
        assert imported("from haizea.core.leases import Lease")["Lease"] is LeaseView
        assert imported("import haizea.core.scheduler.policy as p")["p"].LeaseAdmissionPolicy is LeaseAdmissionPolicy
        assert imported("import mx.DateTime")["mx"].DateTime.TimeDelta(minutes=1) == 60


def test_a_module_that_is_not_offered_is_told_by_its_name() -> None:
    """As if it were not installed."""
    with haizea_modules(), pytest.raises(ModuleNotFoundError, match=r"'haizea\.core\.frontends'"):
        imported("import haizea.core.frontends")


def test_modules_of_these_names_that_were_there_are_back_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours win meanwhile; also if the file fails."""
    theirs = ModuleType("mx")
    monkeypatch.setitem(sys.modules, "mx", theirs)
    before = dict(sys.modules)

    def load(target: str, what: str) -> None:
        assert sys.modules["mx"] is not theirs
        raise ValueError(f"{what} {target}")

    loading = loading_haizea_modules(load)
    assert loading is not None
    with pytest.raises(ValueError, match=r"policy own\.py:Own"):
        loading("own.py:Own", "policy")
    assert {name: sys.modules.get(name) for name in before} == before
    assert not [name for name in sys.modules if name.startswith(("haizea", "mx."))]


def test_haizeas_spelling_of_a_class_is_that_of_a_loader() -> None:
    """A name with a colon is a loader's already; one without a dot is no class."""
    names = ["own_policies.HighIdFirst", "a.b.C", "dir/own.py:C", "a.b:C", "greedy"]
    assert [class_target(name) for name in names] == ["own_policies:HighIdFirst", "a.b:C", *names[2:]]
