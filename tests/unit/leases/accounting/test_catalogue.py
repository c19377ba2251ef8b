"""Names of probes."""

from __future__ import annotations

import pytest

from batsched_py.leases.accounting.accounting import Accounting
from batsched_py.leases.accounting.catalogue import PROBES
from batsched_py.leases.accounting.probe import AccountingProbe


@pytest.mark.parametrize("text", ["", " ", "none"])
def test_no_names_are_no_probes(text: str) -> None:
    """H93."""
    assert PROBES[text].makers == ()


@pytest.mark.parametrize(
    "text",
    [
        "ar cpu-utilization",
        "AR utilization",
        "ar,cpu-utilization",
        "haizea.pluggable.accounting.leases.ARProbe haizea.pluggable.accounting.utilization.CPUUtilizationProbe ar",
    ],
)
def test_all_spellings_are_known_and_each_probe_is_there_once(text: str) -> None:
    """H93."""
    accounting = Accounting()
    for make in PROBES[text].makers:
        make(accounting)
    assert list(accounting.counters) == ["Accepted AR", "Rejected AR", "CPU utilization"]


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    """One line."""
    with pytest.raises(ValueError, match=r"must be .*'utilisation'; did you mean"):
        PROBES["ar utilisation"]


def test_a_probe_of_a_users_own_is_made_of_the_accounting() -> None:
    """It is loaded by its file."""
    probes = PROBES.find("own.py:Own ar", lambda target, what: AccountingProbe)
    assert probes.name == "own.py:Own ar"
    assert isinstance(probes.makers[0](Accounting()), AccountingProbe)


def test_a_probe_of_a_users_own_must_have_all_methods() -> None:
    """Its class need not have our base."""
    probes = PROBES.find("own.py:Own", lambda target, what: lambda accounting: accounting)
    with pytest.raises(ValueError, match=r"probe own\.py:Own: it has no method at_timestep"):
        probes.makers[0](Accounting())
