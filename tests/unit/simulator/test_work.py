"""How far the work of a killed job is; the numbers are those of a recorded run of sequences of delays."""

import pytest

from batsched_py.protocol.events import Progress
from batsched_py.simulator.work import Sequence, Task, Work, progress_at, task_at, tasks


def sequence(name: str, *steps: Work, repeat: int = 1) -> Sequence:
    return Sequence(name, sum(step.duration for step in steps) * repeat, 0, steps, repeat)


FIVE, TEN, TWENTY = (Task(f"delay_{seconds}", float(seconds)) for seconds in (5, 10, 20))
NESTED = sequence("outer", sequence("inner", FIVE, repeat=4), TEN)


@pytest.mark.parametrize(
    ("work", "progress"),
    [
        (TWENTY, Progress("delay_20", 0.75)),
        (sequence("s", TEN, repeat=3), Progress("s", None, 1, Progress("delay_10", 0.5))),
        (sequence("s", TEN, TEN, TEN), Progress("s", None, 1, Progress("delay_10", 0.5))),
        (sequence("s", TWENTY, TEN), Progress("s", None, 0, Progress("delay_20", 0.75))),
        (sequence("s", TEN, TWENTY), Progress("s", None, 1, Progress("delay_20", 0.25))),
        (NESTED, Progress("outer", None, 0, Progress("inner", None, 2, Progress("delay_5", 1.0)))),
    ],
)
def test_progress_after_fifteen_seconds(work: Work, progress: Progress) -> None:
    """Steps are counted through all repetitions; at a border the ending step is at 1."""
    assert progress_at(work, 15.0) == progress


def test_progress_at_the_very_start_is_nothing_of_the_first_step() -> None:
    """Also in a sequence."""
    assert progress_at(NESTED, 0.0) == Progress("outer", None, 0, Progress("inner", None, 0, Progress("delay_5", 0.0)))


def test_the_running_task_is_found_through_all_levels() -> None:
    """It decides the return code of a killed job."""
    parallel = Task("p", 10.0, is_delay=False)
    work = sequence("outer", FIVE, parallel)
    assert task_at(work, 3.0).killed_code == -1
    assert task_at(work, 9.0).killed_code == -2


def test_tasks_are_unrolled_in_order() -> None:
    """Repetitions included."""
    assert [task.profile for task in tasks(NESTED)] == ["delay_5"] * 4 + ["delay_10"]
