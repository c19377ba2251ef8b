"""Hosts as bit sets: which may work, and why others may not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.reading.faults import FieldError
from batsched_py.state.hosts import Hosts
from tests.builders import begins

COUNT = 6
SLEEPERS = begins(COUNT, sleep_pstates="2:3:4", wattage_per_state="9:9:9, 8:8:8, 1:1:1, 7:7:7, 7:7:7").resources

#: What may happen to hosts, each with what it does to the sets of an independent book-keeper.
CHANGES: dict[str, Callable[[Hosts, int], None]] = {
    "busy": Hosts.occupy,
    "idle": Hosts.vacate,
    "fail": Hosts.fail,
    "recover": Hosts.recover,
    "switch": Hosts.switch,
    "wake": lambda machines, bits: machines.settle(bits, "0"),
    "sleep": lambda machines, bits: machines.settle(bits, "2"),
}


@given(st.lists(st.tuples(st.sampled_from(sorted(CHANGES)), st.sets(st.integers(0, COUNT - 1), min_size=1))))
def test_free_are_those_that_neither_work_nor_are_down(story: list[tuple[str, set[int]]]) -> None:
    """This holds after any changes in any order; free hosts are kept, not counted anew."""
    machines = Hosts(SLEEPERS)
    busy: set[int] = set()
    failed: set[int] = set()
    asleep: set[int] = set()
    switching: set[int] = set()
    for change, numbers in story:
        if change == "idle":
            numbers &= busy  # noqa: PLW2901  (jobs end where they ran)
        CHANGES[change](machines, sum(1 << number for number in numbers))
        busy = {"busy": busy | numbers, "idle": busy - numbers}.get(change, busy)
        failed = {"fail": failed | numbers, "recover": failed - numbers}.get(change, failed)
        switching = {"switch": switching | numbers}.get(change, switching)
        if change in ("wake", "sleep"):
            switching = switching - numbers
            asleep = asleep | numbers if change == "sleep" else asleep - numbers
        free = set(range(COUNT)) - busy - failed - asleep - switching
        assert machines.free == sum(1 << number for number in free)
        assert machines.down == sum(1 << number for number in failed | asleep | switching)


def test_storage_hosts_are_in_no_set_of_compute_hosts() -> None:
    """A job may be given some of both."""
    event = begins(2, storages=2)
    machines = Hosts(event.resources, event.storages)
    assert (machines.all, machines.stores) == (0b11, 0b1100)
    assert machines.free == 0b11


@pytest.mark.parametrize(
    ("state", "reason"), [("sleeping", "asleep"), ("switching_on", "switching"), ("unavailable", "unavailable")]
)
def test_a_host_may_be_down_from_the_beginning(state: str, reason: str) -> None:
    """As SIMULATION_BEGINS describes it."""
    machines = Hosts([type(one)(one.id, one.name, state if one.id == 1 else "idle", {}) for one in SLEEPERS])
    assert getattr(machines, reason) == machines.down == 0b10


def test_a_pstate_that_the_host_does_not_have_is_refused() -> None:
    """As far as the platform describes them."""
    with pytest.raises(FieldError, match="state: must be below 5, the pstates of host 0"):
        Hosts(SLEEPERS).settle(0b1, "5")
