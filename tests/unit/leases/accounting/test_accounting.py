"""The interface of probes to what they count."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from batsched_py.leases.accounting.accounting import Accounting


def test_counters_are_counted_up_and_down_and_set() -> None:
    """At the time that their owner says."""
    accounting = Accounting()
    accounting.create_counter("Users")
    accounting.now = 10.0
    accounting.incr_counter("Users", 7)
    accounting.now = 20.0
    accounting.decr_counter("Users", 7)
    accounting.now = 30.0
    accounting.append_to_counter("Users", 2.5)
    assert accounting.counters["Users"].entries == [(0, None, 0), (10, 7, 1), (20, 7, 0), (30, None, 2.5)]
    assert accounting.get_last_counter_time("Users") == 30
    assert accounting.get_last_counter_value("Users") == 2.5


def test_figures_of_leases_and_of_the_run_are_set() -> None:
    """A figure that nobody sets is there without a value."""
    accounting = Accounting()
    accounting.create_lease_stat("Odd or even?")
    accounting.create_stat("Peak")
    accounting.create_stat("Never set")
    accounting.set_lease_stat("Odd or even?", 1, "odd")
    accounting.set_stat("Peak", 4)
    assert accounting.lease_stats == {"Odd or even?": {1: "odd"}}
    assert accounting.run_stats == {"Peak": 4, "Never set": None}


@pytest.mark.parametrize(
    "use",
    [
        lambda accounting: accounting.incr_counter("Usres"),
        lambda accounting: accounting.decr_counter("Usres"),
        lambda accounting: accounting.append_to_counter("Usres", 1),
        lambda accounting: accounting.get_last_counter_time("Usres"),
        lambda accounting: accounting.get_last_counter_value("Usres"),
        lambda accounting: accounting.set_stat("Usres", 1),
        lambda accounting: accounting.set_lease_stat("Usres", 1, 1),
    ],
)
def test_what_was_not_created_is_refused_with_the_nearest_name(use: Callable[[Accounting], None]) -> None:
    """One line."""
    accounting = Accounting()
    accounting.create_counter("Users")
    accounting.create_stat("Users")
    accounting.create_lease_stat("Users")
    with pytest.raises(ValueError, match=r"^there is no .* 'Usres'; did you mean"):
        use(accounting)


def test_a_name_is_given_once() -> None:
    """Two probes must not count with one counter."""
    accounting = Accounting()
    accounting.create_counter("Users")
    with pytest.raises(ValueError, match="there is a counter 'Users' already"):
        accounting.create_counter("Users")
