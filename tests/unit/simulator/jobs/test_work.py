"""Progress of a killed job; the numbers are those of a recorded run of sequences of delays."""

import pytest

from batsched_py.protocol.events import Progress
from batsched_py.simulator.jobs.work import Task, TaskSequence, Work, progress_at, task_at, tasks, tasks_from


def sequence(name: str, *steps: Work, repeat: int = 1) -> TaskSequence:
    return TaskSequence(name, sum(step.duration for step in steps) * repeat, 0, steps, repeat)


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


@pytest.mark.parametrize(
    ("elapsed", "done"), [(0.0, 0.0), (1.5, 0.0), (2.0, 0.0), (4.5, 0.25), (12.0, 1.0), (12.5, 1.0)]
)
def test_nothing_is_done_while_the_latency_passes(elapsed: float, done: float) -> None:
    """A parallel task of 10 s behind a latency of 2 s."""
    task = Task("p", 12.0, latency=2.0, is_delay=False)
    assert progress_at(task, elapsed) == Progress("p", done)


def test_a_task_of_latency_alone_is_done_at_its_end() -> None:
    """Not before; a task of nothing at once."""
    task = Task("p", 2.0, latency=2.0, is_delay=False)
    assert [task.progress(elapsed) for elapsed in (0.0, 1.9, 2.0)] == [0.0, 0.0, 1.0]
    assert Task("nothing", 0.0, is_delay=False).progress(0.0) == 1.0


def test_progress_at_a_border_is_that_of_the_next_step_if_so_asked() -> None:
    """Batsim 1 tells it so; inside a step there is no difference."""
    inner = Progress("inner", None, 0, Progress("delay_5", 0.0))
    begun = Progress("outer", None, 0, Progress("inner", None, 3, Progress("delay_5", 0.0)))
    assert progress_at(NESTED, 15.0, next_at_border=True) == begun
    assert progress_at(NESTED, 20.0, next_at_border=True) == Progress("outer", None, 1, Progress("delay_10", 0.0))
    assert progress_at(NESTED, 30.0, next_at_border=True) == Progress("outer", None, 1, Progress("delay_10", 1.0))
    assert progress_at(NESTED, 0.0, next_at_border=True) == Progress("outer", None, 0, inner)
    assert progress_at(NESTED, 1.0, next_at_border=True) == progress_at(NESTED, 1.0)


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


def test_work_can_be_taken_up_in_the_middle() -> None:
    """Seconds that the first tasks take, and the others."""
    before, rest = tasks_from(NESTED, 3)
    assert (before, [task.profile for task in rest]) == (15.0, ["delay_5", "delay_10"])


@pytest.mark.parametrize(("elapsed", "seconds"), [(0.5, 0.5), (2.0, 2.0), (5.0, 2.0 + 6.0), (8.0, 14.0)])
def test_a_task_at_another_speed_is_as_far(elapsed: float, seconds: float) -> None:
    """Half as fast: its latency of 2 s is the same, the 6 s after it become 12."""
    fast, slow = (Task("cpu", duration, latency=2.0, is_delay=False) for duration in (8.0, 14.0))
    assert slow.seconds_as_far_as(fast, elapsed) == seconds


def test_a_task_that_takes_no_time_is_as_far_at_any_speed() -> None:
    """Nothing is divided by nothing."""
    assert Task("none", 0.0, is_delay=False).seconds_as_far_as(Task("none", 0.0, is_delay=False), 0.0) == 0.0
