"""Properties of timelines: the order within a VM, the barriers, and the clock against sums by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from batsched_py.timelines.api import ExternalResume, PauseEntry, Program, ScheduleEntry, TimelineRun, play
from tests.unit.timelines.fa_cases import hold, pause, read, run, times

_POSITIVE = st.integers(1, 40)
_NEGATIVE = st.integers(-4, -1)
_HOLDS = st.one_of(
    st.builds(pause, st.integers(0, 30), st.one_of(st.just(0), _POSITIVE)),
    st.builds(hold, st.one_of(st.just(0), _POSITIVE)),
)
_PROGRAMS = st.builds(run, st.sampled_from("ABC"), st.one_of(_POSITIVE, _NEGATIVE), takes=st.integers(0, 9))
_LISTS = st.lists(st.one_of(_HOLDS, _PROGRAMS), max_size=10)
_FIRST = st.lists(st.one_of(st.builds(pause, st.integers(0, 30), st.just("-inf")), st.just(hold("-inf"))), max_size=2)
_LATE = st.lists(
    st.builds(lambda entry, added: {**entry, "added": added}, st.one_of(_HOLDS, _PROGRAMS), st.integers(0, 200)),
    max_size=3,
)
_RESUMES = st.lists(
    st.one_of(
        st.builds(ExternalResume, st.integers(-20, 300), st.sampled_from([None, ("vm1",)])),
        st.builds(ExternalResume, st.integers(0, 60), after_launch=st.just(True)),
    ),
    max_size=6,
)


def documents(*, late: bool = False) -> st.SearchStrategy[dict[str, Any]]:
    """Two VMs, one of which may come later, and what both of them have."""
    lists = st.builds(
        lambda *parts: [entry for part in parts for entry in part], _FIRST, _LISTS, _LATE if late else _FIRST
    )
    second = st.fixed_dictionaries({"entries": lists, "launch": st.integers(0, 50)}, optional={"lease": _POSITIVE})
    vms = st.fixed_dictionaries({"vm1": lists, "vm2": second, "*": st.lists(_PROGRAMS, max_size=2)})
    return st.fixed_dictionaries({"vms": vms, "buffer": st.integers(0, 20)}, optional={"on_failed": st.just("exclude")})


def programs(ended: TimelineRun, vm: str) -> list[ScheduleEntry]:
    """Entries with a program that are known from the beginning, in their order."""
    entries = ended.vms[vm].timeline.entries
    return sorted(
        (one for one in entries if isinstance(one.action, Program) and one.added is None), key=lambda one: one.key
    )


@given(documents(late=True), _RESUMES)
def test_the_order_within_a_vm_is_never_inverted(document: dict[str, Any], resumes: list[ExternalResume]) -> None:
    """Entries may be paused, held, resumed or added; those that are held or not run come at the end."""
    ended, _ = play(read(document), resumes)
    assert ended.next_time() == math.inf
    for name, vm in ended.vms.items():
        begun = [vm.records[entry.name].spans for entry in programs(ended, name)]
        walls = [spans[0].begin if spans else math.inf for spans in begun]
        assert walls == sorted(walls)
        assert all(record.late == 0 for record in vm.records.values())


@given(documents(late=True), _RESUMES)
def test_nothing_positive_begins_before_the_barrier(document: dict[str, Any], resumes: list[ExternalResume]) -> None:
    """In a VM no negative time begins before the one before has ended."""
    ended, _ = play(read(document), resumes)
    last = -math.inf
    for name, vm in ended.vms.items():
        before = -math.inf
        negative = [entry for entry in programs(ended, name) if entry.configures]
        for at in sorted({entry.at for entry in negative}):
            spans = [span for entry in negative if entry.at == at for span in vm.records[entry.name].spans]
            assert all(span.begin >= before for span in spans)
            before = max([before, *(math.inf if span.end is None else span.end for span in spans)])
        last = max(last, before)
    positive = [
        span.begin
        for name in ended.vms
        for entry in programs(ended, name)
        if not entry.configures
        for span in ended.vms[name].records[entry.name].spans
    ]
    assert all(begin >= last for begin in positive)


def by_hand(entries: Sequence[ScheduleEntry], resumes: Sequence[float]) -> dict[str, float | None]:
    """Experiment times of positive entries, as the rules F8, F13, F14 and F19 say it, one after the other."""
    left, found = sorted(resumes), dict[str, float | None]()
    shift: float = 0
    held = False
    for entry in sorted(entries, key=lambda one: one.key):
        if entry.at < 0:
            continue
        reached = entry.at + shift
        if not isinstance(entry.action, PauseEntry):
            found[entry.name] = None if held else reached
        elif not held and not entry.action.is_break:
            shift += entry.action.duration
        elif not held:
            left = [time for time in left if time >= reached]
            held = not left
            shift = left.pop(0) - entry.at if left else 0
    return found


@given(st.lists(st.one_of(_HOLDS, _PROGRAMS), max_size=12), st.lists(st.integers(1, 300), max_size=5))
def test_experiment_times_are_those_that_are_found_by_hand(entries: list[dict[str, Any]], resumes: list[int]) -> None:
    """Pauses add up, a break counts from its own time, a resume acts on who is held at its instant."""
    timelines = read({"vms": {"vm": entries}})
    found = times(play(timelines, [ExternalResume(time) for time in resumes])[0])["vm"]
    expected = by_hand(timelines.vms[0].entries, resumes)
    assert {name: time for name, time in found.items() if name in expected} == expected


@given(documents(), _RESUMES, st.randoms(use_true_random=False))
def test_the_order_of_the_list_counts_only_at_one_time(
    document: dict[str, Any], resumes: list[Any], random: Any
) -> None:
    """Entries of other times may change places in it: nothing else becomes of them."""
    ended, _ = play(read(document), resumes)
    vms = document["vms"]
    mixed = list(vms["vm1"])
    random.shuffle(mixed)
    by_time = {at: iter([one for one in vms["vm1"] if one["at"] == at]) for at in {one["at"] for one in mixed}}
    again = [next(by_time[one["at"]]) for one in mixed]
    for number, one in enumerate(vms["vm1"]):
        one["name"] = f"n{number}"
    ended = play(read(document), resumes)[0]
    other = play(read({**document, "vms": {**vms, "vm1": again}}), resumes)[0]
    assert times(ended) == times(other)
