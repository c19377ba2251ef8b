"""What a killed job had left to do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.protocol.event_forms import read_progress
from batsched_py.protocol.events import Progress
from batsched_py.scheduling.remainder import remainder

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
    "broken": {"type": "composed", "seq": ["nobody", "d4"]},
    "wrong": {"type": "delay", "delay": 0},
}


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
        (Progress("quiet", 0.5), ({"type": "parallel", "cpu": [2.0]},)),
        (Progress("hom", 0.75), ({"type": "parallel_homogeneous", "cpu": 1.0, "com": 2.0},)),
        (Progress("total", 0.75), ({"type": "parallel_homogeneous_total", "cpu": 1.0, "com": 2.0},)),
        (Progress("pfs", 0.75), ({**PROFILES["pfs"], "bytes_to_read": 2.0, "bytes_to_write": 0.0},)),
        (Progress("move", 0.5), ({**PROFILES["move"], "nb_bytes": 4.0},)),
        (Progress("trace", 0.0), (PROFILES["trace"],)),
        (Progress("pair", None, -1), (PROFILES["d4"], PROFILES["d20"])),
        (Progress("pair", None, 1, Progress("d20", 0.5)), ({"type": "delay", "delay": 10.0, "ret": 3},)),
        (Progress("pair", None, 0, Progress("d4", None, -1)), (PROFILES["d4"], PROFILES["d20"])),
        (
            Progress("nested", None, 2, Progress("pair", None, 1, Progress("d20", 0.5))),
            ({"type": "delay", "delay": 10.0, "ret": 3}, PROFILES["d4"]),
        ),
        (Progress("nested", None, 3, Progress("d4", 0.5)), ({"type": "delay", "delay": 2.0},)),
        (Progress("nobody", 0.5), None),
        (Progress("wrong", 0.5), None),
        (Progress("broken", None, -1), None),
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


@given(st.floats(0, 1), st.integers(0, 3))
def test_done_and_left_make_the_whole(share: float, step: int) -> None:
    """Of nested delays, whenever they are killed."""
    leaf = Progress("d20", share) if step % 2 == 0 else Progress("d4", share)
    current = Progress("pair", None, 1, leaf) if step % 2 == 0 else leaf
    rest = left(Progress("nested", None, step, current))
    assert rest is not None
    done = [24, 28, 52, 56][step] - (1 - share) * (20 if step % 2 == 0 else 4)
    assert sum(profile["delay"] for profile in rest) == pytest.approx(56 - done, abs=1e-5)
