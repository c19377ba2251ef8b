"""The remaining work of a killed job."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.protocol.event_forms import read_progress
from batsched_py.protocol.events import Progress
from batsched_py.scheduling.remainder import in_turn, remainder

PROFILES: dict[str, dict[str, Any]] = {
    "d20": {"type": "delay", "delay": 20, "ret": 3},
    "d4": {"type": "delay", "delay": 4},
    "par": {"type": "parallel", "cpu": [4.0, 8.0], "com": [0, 1, 2, 3]},
    "quiet": {"type": "parallel", "cpu": [4.0]},
    "hom": {"type": "parallel_homogeneous", "cpu": 4.0, "com": 8.0},
    "total": {"type": "parallel_homogeneous_total", "cpu": 4.0, "com": 8.0},
    "pfs": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 8, "storage": "disk"},
    "move": {"type": "data_staging", "nb_bytes": 8, "from": "a", "to": "b"},
    "trace": {"type": "smpi", "trace": "t"},
    "pair": {"type": "composed", "seq": ["d4", "d20"]},
    "nested": {"type": "composed", "seq": ["pair", "d4"], "repeat": 2},
    "even": {"type": "composed", "seq": ["d4", "d4", "trace"], "repeat": 2},
    "pairs": {"type": "composed", "seq": ["d4", "d4"], "repeat": 500_000_000},
    "sleepy": {"type": "composed", "seq": ["d4", "pairs", "d4"], "ret": 9},
    "blank": {"type": "composed", "seq": ["quiet"], "repeat": 3, "ret": 7},
    "hears": {"type": "recv", "success": "d4"},
    "many": {"type": "composed", "seq": ["d4", "trace"], "repeat": 501},
    "endless": {"type": "composed", "seq": ["d4", "endless"]},
    "bare": {"type": "parallel_homogeneous", "cpu": 4.0},
    "broken": {"type": "composed", "seq": ["nobody", "d4"]},
    "d1": {"type": "delay", "delay": 1},
    "d5": {"type": "delay", "delay": 5},
    "inner": {"type": "composed", "seq": ["d4", "d1"]},
    "twice": {"type": "composed", "seq": ["inner", "d5"], "repeat": 4},
    "wrong": {"type": "delay", "delay": 0},
}


#: What is left of several profiles is one delay, of which a failing step is the end.
PAIR = {"type": "delay", "delay": 24, "ret": 3}
SLEEPY = {"type": "delay", "delay": 4_000_000_000 - 1 + 4, "ret": 9}
#: Batsim refuses a registered parallel task without its transfers, which a file may leave out.
QUIET = {"type": "parallel", "cpu": [4.0], "com": [0.0]}


def left(progress: Progress) -> tuple[Any, ...] | None:
    return remainder(progress, PROFILES.get)


@pytest.mark.parametrize(
    ("progress", "expected"),
    [
        (Progress("d20", 0.25), ({"type": "delay", "delay": 15.0, "ret": 3},)),
        (Progress("d20", 0.0), ({"type": "delay", "delay": 20.0, "ret": 3},)),
        (Progress("d20", 1.0), ()),
        (Progress("d20", 1.5), ()),
        (Progress("d4", 0.9999999), ()),
        (Progress("d20", None, -1), (PROFILES["d20"],)),
        (Progress("par", 0.5), ({"type": "parallel", "cpu": [2.0, 4.0], "com": [0.0, 0.5, 1.0, 1.5]},)),
        (Progress("quiet", 0.5), ({"type": "parallel", "cpu": [2.0], "com": [0.0]},)),
        (Progress("bare", None, -1), ({"type": "parallel_homogeneous", "cpu": 4.0, "com": 0.0},)),
        (Progress("hom", 0.75), ({"type": "parallel_homogeneous", "cpu": 1.0, "com": 2.0},)),
        (Progress("total", 0.75), ({"type": "parallel_homogeneous_total", "cpu": 1.0, "com": 2.0},)),
        (Progress("pfs", 0.75), ({**PROFILES["pfs"], "bytes_to_read": 2.0, "bytes_to_write": 0.0},)),
        (Progress("move", 0.5), ({**PROFILES["move"], "nb_bytes": 4.0},)),
        (Progress("trace", 0.0), (PROFILES["trace"],)),
        (Progress("pair", None, -1), (PAIR,)),
        (Progress("pair", None, 1, Progress("d20", 0.5)), ({"type": "delay", "delay": 10.0, "ret": 3},)),
        (Progress("pair", None, 0, Progress("d4", None, -1)), (PAIR,)),
        (
            Progress("nested", None, 2, Progress("pair", None, 1, Progress("d20", 0.5))),
            ({"type": "delay", "delay": 10.0, "ret": 3},),
        ),
        (
            Progress("even", None, 1, Progress("d4", 0.5)),
            ({"type": "delay", "delay": 2.0}, PROFILES["trace"], {"type": "delay", "delay": 8}, PROFILES["trace"]),
        ),
        (Progress("even", None, 5, Progress("trace", None, -1)), (PROFILES["trace"],)),
        (Progress("sleepy", None, 1, Progress("pairs", None, 0, Progress("d4", 0.25))), (SLEEPY,)),
        (Progress("blank", None, 0, Progress("quiet", 0.5)), ({**QUIET, "cpu": [2.0]}, QUIET, {**QUIET, "ret": 7})),
        (Progress("hears", None, -1), (PROFILES["hears"],)),
        (Progress("hears", None, 0, Progress("d4", 0.5)), ({"type": "delay", "delay": 2.0},)),
        (Progress("nested", None, 3, Progress("d4", 0.5)), ({"type": "delay", "delay": 2.0},)),
        (Progress("nobody", 0.5), None),
        (Progress("wrong", 0.5), None),
        (Progress("broken", None, -1), None),
        (Progress("many", None, -1), None),
        (Progress("endless", None, -1), None),
    ],
)
def test_what_is_left_is_what_was_not_done(progress: Progress, expected: tuple[Any, ...] | None) -> None:
    """Shortened, scaled or whole, each with its other members; steps that follow are whole, repetitions count."""
    assert left(progress) == expected


@pytest.mark.parametrize("member", ["profile", "profile_name"])
def test_both_spellings_of_a_tree_leave_the_same(member: str) -> None:
    """v1.4 says profile, v4 profile_name, with a step that had not begun."""
    tree = {member: "pair", "current_task_index": 1, "current_task": {member: "d20", "current_task_index": -1}}
    assert left(read_progress(tree)) == (PROFILES["d20"],)


@given(st.floats(0, 1), st.integers(0, 3), st.integers(0, 1))
def test_done_and_left_make_the_whole(share: float, round_: int, step: int) -> None:
    """They do for nested delays, killed at any time."""
    outer = Progress(
        "twice",
        None,
        2 * round_ + step,
        Progress("d5", share) if step else Progress("inner", None, 0, Progress("d4", share)),
    )
    rest = left(outer)
    assert rest is not None
    done = 10 * round_ + 5 * step + share * (5 if step else 4)
    assert sum(profile["delay"] for profile in rest) == pytest.approx(40 - done, abs=1e-5)
    assert len(rest) <= 1


def test_delays_that_follow_each_other_are_one() -> None:
    """Up to the first that fails; what stands between them keeps them apart."""
    four, task, bad = PROFILES["d4"], PROFILES["hom"], PROFILES["d20"]
    assert in_turn([four, four, task, four, bad, task]) == ({**four, "delay": 8}, task, PAIR)
    assert in_turn([]) == ()
