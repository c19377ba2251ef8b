"""Names of policies."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import OptionError, PlanError
from batsched_py.leases.lease import Lease
from batsched_py.leases.options import LeasesOptions
from batsched_py.leases.policies.admission import Admission, NoReservations
from batsched_py.leases.policies.catalogue import ADMISSION, HOSTS, PREEMPTION, PolicyCatalogue
from batsched_py.leases.policies.hosts import GreedyHosts
from batsched_py.leases.policies.preemption import ReservationsFirst
from batsched_py.leases.table import LeaseTable
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.session.option_values import Origin, parse_options, read_values


def table() -> LeaseTable:
    """Two hosts, empty."""
    return LeaseTable([(100.0, 1024.0)] * 2)


def best_effort() -> Lease:
    return Lease(4, LeaseKind.BEST_EFFORT, 0.0, 60.0, ((100.0, 1024.0),))


@pytest.mark.parametrize(
    ("catalogue", "names", "kind"),
    [
        (ADMISSION, ["no-ARs", "haizea.policies.admission.NoARsPolicy"], NoReservations),
        (
            PREEMPTION,
            ["ar-preempts-everything", "haizea.pluggable.policies.preemption.ARPreemptsEverythingPolicy"],
            ReservationsFirst,
        ),
        (HOSTS, ["greedy", "haizea.policies.host_selection.GreedyPolicy"], GreedyHosts),
    ],
)
def test_haizeas_full_names_are_known(catalogue: PolicyCatalogue[object], names: list[str], kind: type) -> None:
    """H93; also to a peer, for whom nothing is loaded."""
    found = [catalogue.find(name, None) for name in names]
    assert [choice.name for choice in found] == names[:1] * 2
    assert all(type(choice.make(table())) is kind for choice in found)


@pytest.mark.parametrize("value", ["own.Own", "own.py:Own", "own:Own"])
def test_a_peer_names_no_class(value: str) -> None:
    """Its options are data."""
    with pytest.raises(OptionError, match=r"policy_admission of leases: must be [^:]*, not "):
        read_values(LeasesOptions, {"policy_admission": value}, "leases", Origin.PEER)


def own(folder: Path, body: str) -> Admission:
    """An admission policy in a user's file."""
    (folder / "own.py").write_text(f"class Own:\n    def __init__(self, slottable): pass\n{body}")
    options = parse_options(LeasesOptions, {"policy_admission": f"{folder / 'own.py'}:Own"}, "leases")
    return options.policies().admission(table())


def test_an_option_takes_a_class_in_a_file(tmp_path: Path) -> None:
    """It needs no base."""
    policy = own(tmp_path, "    def accept_lease(self, lease): return lease.numnodes > 1")
    assert not policy.accepts(best_effort(), ())


def test_an_answer_must_be_true_or_false(tmp_path: Path) -> None:
    """A policy that forgets to answer does not refuse."""
    policy = own(tmp_path, "    def accept_lease(self, lease): pass")
    with pytest.raises(PlanError, match=r"own\.py:Own: accept_lease of lease 4 at .*must return True or False, not N"):
        policy.accepts(best_effort(), ())


def test_a_policy_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """By its class."""
    (tmp_path / "own.py").write_text(
        "class Own:\n    def __init__(self, slottable): slottable.lost\n    def get_host_score(self, *_): return 1"
    )
    options = parse_options(LeasesOptions, {"policy_host_selection": f"{tmp_path / 'own.py'}:Own"}, "leases")
    with pytest.raises(PlanError, match=r"host selection policy .*own\.py:Own: it raised AttributeError"):
        options.policies().hosts(table())


def test_the_choices_are_told_as_they_are_written() -> None:
    """For help and messages."""
    assert ADMISSION.choices == " | ".join([*ADMISSION, "module.Class"])
    with pytest.raises(ValueError, match=r"must be .*; did you mean greedy"):
        HOSTS.find("gredy", None)
