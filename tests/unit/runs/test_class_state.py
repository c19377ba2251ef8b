"""State that is kept in a class from one run to the next: noticed, and never where there is none."""

from __future__ import annotations

import warnings
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar

import pytest

from batsched_py.api import HostSet, NoOptions, Plan, Scheduler, View
from batsched_py.campaigns import Drawn, Variant, run_study, simulate
from batsched_py.errors import BatschedError
from batsched_py.runs.class_state import changed_state, class_state
from tests.integration.variants import EVERYTHING, PLATFORM
from tests.platforms import plain_platform

WORKLOAD = Drawn(jobs=30, hosts=6, seed=2)


class Sound(Scheduler[NoOptions]):
    """Starts what fits, and keeps what it has to keep in itself."""

    name = "sound"
    limits: ClassVar[dict[str, int]] = {"most": 3}
    none = HostSet()

    def setup(self, view: View) -> None:
        self.seen: list[str] = []

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            self.note(job.size, job.id)
            hosts = plan.free.first(job.size)
            if hosts is not None:
                plan.start(job, hosts)

    def note(self, size: int, job_id: str) -> None:
        """Keep something."""
        self.seen.append(job_id)


class Keeper:
    """An object of the user's."""

    def __init__(self) -> None:
        self.sizes: list[int] = []


def leaky(value: Any, note: Callable[[Any, int], None]) -> type[Sound]:
    """A class that keeps a value, and changes it."""

    def keep(self: Any, size: int, job_id: str) -> None:
        note(type(self), size)

    return type("Leaky", (Sound,), {"name": "leaky", "kept": value, "note": keep})


def add(owner: Any, _: int) -> None:
    """Another number in the place of the old one."""
    owner.kept += 1


LEAKS: dict[str, tuple[Callable[[], Any], Callable[[Any, int], None]]] = {
    "a dict": (dict, lambda owner, size: owner.kept.update({size: 1})),
    "a list": (list, lambda owner, size: owner.kept.append(size)),
    "a set": (set, lambda owner, size: owner.kept.add(size)),
    "a deque": (deque, lambda owner, size: owner.kept.append(size)),
    "a counter": (Counter, lambda owner, size: owner.kept.update([size])),
    "bytes": (bytearray, lambda owner, size: owner.kept.append(size)),
    "a number": (int, add),
    "a list in a dict": (lambda: {"a": []}, lambda owner, size: owner.kept["a"].append(size)),
    "an object": (Keeper, lambda owner, size: owner.kept.sizes.append(size)),
    "a new attribute": (int, lambda owner, size: setattr(owner, "extra", size)),
}


@pytest.mark.parametrize("kind", LEAKS)
def test_state_in_a_class_is_told(kind: str) -> None:
    """By the attribute, once for each run; the runs of a study say the same, in this process or in others."""
    make, note = LEAKS[kind]
    scheduler, told = leaky(make(), note), list[str]()
    simulate(PLATFORM, WORKLOAD, scheduler, warn=told.append)
    name = "Leaky.extra" if kind == "a new attribute" else "Leaky.kept"
    line = f"{name} has changed during the run and is kept for the next one: state belongs in self, set in setup()"
    assert told == [line]
    study = run_study(PLATFORM, {"w": WORKLOAD}, [Variant("leaky", leaky(make(), note))])
    assert study.outcomes[0].warnings == (line,)


def test_who_listens_to_no_warnings_hears_of_it_from_python() -> None:
    """A notebook that runs cells twice must not get two numbers without a word."""
    scheduler = leaky([], LEAKS["a list"][1])
    with pytest.warns(UserWarning, match="^Leaky.kept has changed during the run"):
        simulate(PLATFORM, WORKLOAD, scheduler)


def test_an_algorithm_that_keeps_nothing_in_its_class_is_not_told() -> None:
    """Constants, methods and what it keeps in itself are no such state."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(PLATFORM, WORKLOAD, Sound)


def test_much_state_is_looked_at_in_part() -> None:
    """The number of its items tells of most changes."""
    scheduler = leaky(list(range(10**5)), LEAKS["a list"][1])
    before = class_state(scheduler)
    assert len(str(before)) < 100_000
    scheduler.kept.append(1)  # type: ignore[attr-defined]
    assert changed_state(before, class_state(scheduler)) == ["Leaky.kept"]


@pytest.mark.parametrize(("name", "options"), EVERYTHING)
def test_no_built_in_algorithm_keeps_state_in_its_class(
    name: str, options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is any warned of: their classes are looked at as those of users are."""
    monkeypatch.setattr("batsched_py.runs.class_state._PACKAGES", ("nothing",))
    scheduler = Variant("x", name).scheduler
    before = class_state(scheduler)
    with suppress(BatschedError):  # of those that need another simulation than this, and run a part of it, or nothing
        simulate(plain_platform(6), WORKLOAD, scheduler, options, warn=lambda _: None)
    assert changed_state(before, class_state(scheduler)) == []
