"""Sizes of modules: a module is one noun, and two are in one of more than 400 lines, but for those listed."""

from __future__ import annotations

from typing import Final

from tests.clone import ROOT, below

MOST: Final = 400
#: How much smaller than listed a module may be.
SLACK: Final = 20
#: Modules that are one noun with more lines -> the most that they may have. Numbers may only become smaller.
LARGE: Final = {
    # One class each, whose methods share its invariants: the state machine of a run, of a future, of a VM...
    "planning/future/availability.py": 530,
    "session/session.py": 560,
    "state/state.py": 550,
    "timelines/vm.py": 450,
    "simulator/jobs/lifecycle.py": 410,
    # The verbs, each with its checks; those of registration and periodic calls are in modules of their own.
    "scheduling/plan.py": 430,
    # Sets as integers and their text, in one place for the path of a decision.
    "bits.py": 420,
    # A reader and a writer of each command, and their tables.
    "protocol/command_forms.py": 450,
}


def lines() -> dict[str, int]:
    """The lines of each module."""
    return {
        path.relative_to(ROOT).as_posix().removeprefix("batsched_py/"): len(path.read_text("utf-8").splitlines())
        for folder in ("batsched_py", "schedulers")
        for path in below(folder, "*.py")
    }


def test_a_module_has_at_most_400_lines() -> None:
    """Split what has more; see the reasons of those listed."""
    large = {name: count for name, count in lines().items() if count > MOST}
    assert {name: count for name, count in large.items() if count > LARGE.get(name, MOST)} == {}


def test_listed_modules_are_about_as_large_as_listed() -> None:
    """One that has become smaller gets a smaller number, so that it does not grow again."""
    present = lines()
    assert {name: most for name, most in LARGE.items() if not most - SLACK < present.get(name, 0)} == {}
