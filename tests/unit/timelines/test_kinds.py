"""Kinds of programs: how long they take, and how they exit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from batsched_py.errors import OptionError, PlanError
from batsched_py.timelines.api import BUILT_IN, KindMaker, TimelineRun, Work, play
from batsched_py.timelines.kinds import KINDS
from tests.unit.timelines.fa_cases import one, read, run


class Growing:
    """Takes longer with each run, and asks for two reboots."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self.first = arguments["first"]

    def run(self, number: int) -> Work:
        """Ten seconds more each time."""
        return Work(self.first + 10 * number, 10 if number < 2 else 0)


OWN: Mapping[str, KindMaker] = {**BUILT_IN, "Growing": Growing}


def ended(*entries: dict[str, Any], **rules: Any) -> TimelineRun:
    """A run with that kind."""
    return play(read(one(*entries, **rules)), kinds=OWN)[0]


def test_a_program_takes_what_its_kind_says() -> None:
    """F30: an amount at a rate, behind a delay."""
    amount = {"amount": 120, "rate": 4, "delay": 2}
    (span,) = ended(run("a", 5, kind="amount", **{"with": amount}), buffer=0).vms["vm"].records["a"].spans
    assert (span.begin, span.end, span.exit) == (5, 37, 0)


def test_a_flaky_program_fails_at_first() -> None:
    """By default it asks for one reboot."""
    flaky = {"takes": 3, "fails": 2}
    vm = ended(run("a", -5, kind="flaky", **{"with": flaky}), reboot_delay=10).vms["vm"]
    spans = [(span.begin, span.end, span.exit) for span in vm.records["a"].spans]
    assert spans == [(0, 3, 10), (13, 16, 10), (26, 29, 0)]
    assert vm.reboots == [(3, 13), (16, 26)]


def test_a_kind_of_ones_own_is_told_which_run_it_is() -> None:
    """A class that the user has brought."""
    vm = ended(run("a", -5, kind="Growing", **{"with": {"first": 1}})).vms["vm"]
    assert [(span.begin, span.end) for span in vm.records["a"].spans] == [(0, 1), (1, 12), (12, 33)]


@pytest.mark.parametrize(
    ("kind", "arguments", "told"),
    [
        ("walk", {}, "vm: a: kind 'walk': unknown; there are: fixed, amount, flaky, Growing"),
        ("kinds.py:Growing", {}, "vm: a: kind 'kinds.py:Growing': unknown; there are: fixed, amount, flaky, Growing"),
        ("amount", {}, "vm: a: with: amount: is missing"),
        ("amount", {"amount": -1}, "vm: a: with: amount: must be a number from 0, not -1"),
        ("amount", {"amount": True}, "vm: a: with: amount: must be a number from 0, not True"),
        ("amount", {"amount": 1, "rate": 0}, "vm: a: with: rate must be greater than 0"),
        ("amount", {"amounts": 1}, "vm: a: with: amounts: unknown; did you mean amount? There are: "),
        ("Growing", {}, "vm: a: kind Growing: it raised KeyError: 'first'"),
    ],
)
def test_wrong_kinds_are_one_line(kind: str, arguments: Any, told: str) -> None:
    """Before anything runs; a file of a class is never opened because a timeline names it."""
    with pytest.raises(OptionError) as error:
        ended(run("a", 5, kind=kind, **{"with": arguments}))
    assert str(error.value).startswith(told)


@pytest.mark.parametrize("first", [-5, "long", float("nan"), 1e300])
def test_what_a_kind_returns_is_checked(first: Any) -> None:
    """Seconds from 0, in the limits; whatever it raises is told."""
    with pytest.raises(PlanError, match=r"^run 0 of vm: a: "):
        ended(run("a", 5, kind="Growing", **{"with": {"first": first}}))


def test_nobody_but_a_user_brings_code() -> None:
    """The same words of a peer are refused."""
    with pytest.raises(ValueError, match=r"must be built-in, not 'kinds.py:Growing'"):
        KINDS.find("kinds.py:Growing", None)
    assert KINDS.find("kinds.py:Growing", lambda *_: Growing).makers["Growing"] is Growing


@pytest.mark.parametrize(
    ("entries", "begins", "configured"),
    [
        ([run("n", -5, takes=5, size=300), {"at": 3, "drop": "/f", "size": 100}], 40, 45),
        ([run("n", -5, takes=5, size=300), run("h", -4, size=1000, on_host=True)], 30, 35),
        ([run("n", -5, takes=5), run("late", 5, size=1000, added=3)], 0, 5),
        ([{"at": "-inf", "pause": 60}, run("n", -5, takes=5, size=100)], 70, 75),
    ],
    ids=["all files", "not those on the host", "not those of late entries", "then pauses"],
)
def test_files_are_loaded_before_the_first_entry(entries: list[dict[str, Any]], begins: int, configured: int) -> None:
    """F27: at 10 MB/s; the barrier waits for them."""
    vm = ended(*entries, preload_rate=10).vms["vm"]
    assert vm.records["n"].spans[0].begin == begins
    assert vm.configured == configured


def test_a_vm_without_negative_entries_is_configured_when_its_files_are_there() -> None:
    """F27: so that positive entries find them."""
    done = ended(run("p", 5, size=200), preload_rate=10, buffer=60)
    assert (done.vms["vm"].configured, done.start, done.vms["vm"].loading) == (20, 80, (0, 20))
    assert ended(run("p", 5, size=200)).start == 60
