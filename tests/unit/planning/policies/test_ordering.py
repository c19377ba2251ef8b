"""Orders of jobs: each formula by hand, ties, and functions of the user's."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.errors import PlanError
from batsched_py.loading import load_object
from batsched_py.model.job import Job
from batsched_py.planning.policies.ordering import ORDERS, Line
from batsched_py.state.queue import Queue
from tests.builders import job

#: Submitted at 100 s, 4 hosts for 100 s; asked at 150 s: s = 100, n = 4, r = 100, w = 50.
ONE = job(submit_time=100.0, size=4, walltime=100.0)
OPEN = job(submit_time=100.0, size=4, walltime=None)

#: Order -> the key of ONE, and that of the same job without a walltime, computed by hand.
KEYS = {
    "fcfs": (0.0, 0.0),
    "lcfs": (-100.0, -100.0),
    "sjf": (100.0, math.inf),
    "asc_walltime": (100.0, math.inf),
    "desc_walltime": (-100.0, -math.inf),
    "asc_size": (4.0, 4.0),
    "desc_size": (-4.0, -4.0),
    "asc_area": (400.0, math.inf),
    "desc_area": (-400.0, -math.inf),
    "asc_slowdown": (1.5, 1.0),
    "desc_slowdown": (-1.5, -1.0),
    "asc_bounded_slowdown": (1.5, 1.0),
    "desc_bounded_slowdown": (-1.5, -1.0),
    "wfp3": (-0.5, 0.0),  # (50 / 100)^3 * 4
    "unicep": (-0.25, 0.0),  # 50 / (2 * 100)
    "f1": (1748.0, math.inf),  # 2 * 4 + 870 * 2
    "f2": (51_240.0, math.inf),  # 10 * 4 + 25600 * 2
    "f3": (13_720_400.0, math.inf),  # 400 + 6860000 * 2
    "f4": (1_060_200.0, math.inf),  # 100 * 2 + 530000 * 2
}


def keys(name: str, *jobs: Job, now: float = 150.0) -> list[float]:
    return [ORDERS[name].key(each, now) for each in jobs]


def names(order: str, *jobs: Job, now: float = 150.0) -> str:
    return "".join(each.name for each in ORDERS[order].sorted(jobs, now))


@pytest.mark.parametrize("name", list(ORDERS))
def test_each_key_is_its_formula(name: str) -> None:
    """Computed by hand."""
    assert name in KEYS, f"the order {name} has no row in KEYS of this test: add the keys of ONE, computed by hand"
    assert keys(name, ONE, OPEN) == pytest.approx(KEYS[name])
    assert ORDERS[name].formula, f"the order {name} has no formula in _ORDERS"
    assert ORDERS[name].source, f"the order {name} has no source in _ORDERS: a publication, or what the order is"


def test_each_row_of_keys_is_of_an_order() -> None:
    """A row without an order would test nothing."""
    assert [name for name in KEYS if name not in list(ORDERS)] == [], "names in KEYS that have no row in _ORDERS"


@pytest.mark.parametrize("name", list(ORDERS))
def test_equal_keys_are_served_in_order_of_arrival(name: str) -> None:
    """This holds for any order and any names."""
    assert names(name, *(job(each, submit_time=100.0) for each in "cab")) == "cab"


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("fcfs", "abc"),
        ("lcfs", "cba"),
        ("sjf", "cab"),
        ("asc_walltime", "cab"),
        ("desc_walltime", "bac"),
        ("asc_size", "bca"),
        ("desc_size", "acb"),
        ("asc_area", "bca"),
        ("desc_area", "acb"),
        ("asc_slowdown", "bac"),  # 240 / 100, 400 / 300, 70 / 20
        ("desc_slowdown", "cab"),
        ("asc_bounded_slowdown", "bac"),
        ("desc_bounded_slowdown", "cab"),
        ("wfp3", "cab"),  # 1.4^3 * 30, (1 / 3)^3, 2.5^3 * 16
        ("unicep", "bca"),  # 1.4 / log2(30), one host, 2.5 / 4
        ("f1", "abc"),  # 60 + 870 * 1, 2.48 + 870 * 1.70, 20.8 + 870 * 2
    ],
)
def test_the_smaller_key_is_served_first(order: str, expected: str) -> None:
    """Three jobs that differ in everything."""
    a = job("a", submit_time=10.0, size=30, walltime=100.0)
    b = job("b", submit_time=50.0, size=1, walltime=300.0)
    c = job("c", submit_time=100.0, size=16, walltime=20.0)
    assert names(order, a, b, c) == expected


def test_short_runs_do_not_count_as_shorter_than_ten_seconds() -> None:
    """The bounded slowdown is never below 1."""
    short = job(submit_time=144.0, walltime=2.0)  # w = 6: (6 + 2) / 10
    assert keys("asc_bounded_slowdown", short) == [1.0]
    assert keys("asc_slowdown", short) == [4.0]
    assert keys("asc_bounded_slowdown", short, now=166.0) == [2.4]


@pytest.mark.parametrize("name", list(ORDERS))
@given(
    st.floats(0, 9e9),
    st.integers(1, 100_000),
    st.none() | st.floats(1e-300, 9e9),
    st.floats(0, 9e9),
)
def test_a_key_is_always_a_number(name: str, submit: float, size: int, walltime: float | None, now: float) -> None:
    """At time 0, without a wait, with one host, without a walltime, and if Batsim's clock lags behind."""
    key = ORDERS[name].key(job(submit_time=submit, size=size, walltime=walltime), now)
    assert not math.isnan(key)


def test_submissions_at_time_zero_have_a_logarithm() -> None:
    """The first second counts as its end."""
    assert keys("f1", job(submit_time=0.0, size=3, walltime=100.0)) == [6.0]
    assert keys("f1", job(submit_time=0.5, size=3, walltime=100.0)) == [6.0]


def test_jobs_of_one_host_come_first_in_unicep_by_their_ratio() -> None:
    """The formula divides by 0 there; its limit counts: before all others, among themselves by wait for walltime."""
    one, other = job("a", submit_time=100.0), job("b", submit_time=50.0)
    large = job("c", size=2, submit_time=0.0, walltime=0.1)
    assert names("unicep", large, one, other) == "bac"
    assert keys("unicep", job(submit_time=150.0)) == [0.0]


def test_orders_that_change_with_time_say_so() -> None:
    """Two jobs may change places only if the order is dynamic."""
    a, b = job("a", submit_time=0.0, walltime=100.0, size=2), job("b", submit_time=90.0, walltime=20.0, size=4)
    moved = {name for name in ORDERS if names(name, a, b, now=100.0) != names(name, a, b, now=300.0)}
    for name in ORDERS:
        moves = name in moved
        assert ORDERS[name].dynamic == moves, f"set `dynamic` of the order {name} in _ORDERS to {moves}"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.py"
    file.write_text(
        "def users(job, now):\n"
        "    return job.extra['user']\n"
        "def settled(job, now):\n"
        "    return -job.size\n"
        "settled.dynamic = False\n"
        "def nothing(job, now):\n"
        "    return {'1': None, '2': float('nan'), '3': 'x'}[job.name]\n"
        "def one(job):\n"
        "    return 0\n"
    )
    return file


def test_a_function_of_the_users_is_an_order(mine: Path) -> None:
    """It may read members of the job; it is dynamic unless it says otherwise."""
    order = ORDERS.find(f"{mine}:users", load_object)
    assert order.dynamic
    assert order.name == f"{mine}:users"
    assert order.key(Job.create("w0!1", size=1, profile="p", extra={"user": 7}), 0.0) == 7
    settled = ORDERS.find(f"{mine}:settled", load_object)
    assert not settled.dynamic
    assert settled.key(job(size=3), 0.0) == -3


@pytest.mark.parametrize(("name", "shown"), [("1", "None"), ("2", "nan"), ("3", "'x'")])
def test_a_function_that_returns_no_number_is_named_with_the_job(mine: Path, name: str, shown: str) -> None:
    """NaN is not a number that can be compared."""
    order = ORDERS.find(f"{mine}:nothing", load_object)
    with pytest.raises(PlanError) as caught:
        order.key(job(name), 0.0)
    assert str(caught.value) == f"order {mine}:nothing of w0!{name}: the function must return a number, not {shown}"


def test_a_function_that_raises_is_named_with_the_job(mine: Path) -> None:
    """The message has its error, which is also the cause and knows the line."""
    order = ORDERS.find(f"{mine}:users", load_object)
    with pytest.raises(PlanError) as caught:
        order.key(job("2"), 0.0)
    assert str(caught.value) == f"order {mine}:users of w0!2: it raised KeyError: 'user'"
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_function_of_other_arguments_is_refused(mine: Path) -> None:
    """When the option is read, not at the first decision."""
    with pytest.raises(ValueError, match=r"must be a function of \(job, now\)"):
        ORDERS.find(f"{mine}:one", load_object)


#: (hosts, leaves after this round)
ARRIVALS = st.lists(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), max_size=4), max_size=6)


@pytest.mark.parametrize("name", ["fcfs", "lcfs", "asc_size", "desc_area", "wfp3"])
@given(ARRIVALS)
def test_a_line_is_the_order_of_those_who_wait(name: str, rounds: list[list[tuple[int, int]]]) -> None:
    """Jobs come and go in any order: those who wait, sorted; nobody else, and nobody twice."""
    line, queue, leaving = Line(ORDERS[name]), Queue(), dict[str, int]()
    for now, arrivals in enumerate(rounds):
        come = [job(f"{now}-{number}", size, submit_time=now) for number, (size, _) in enumerate(arrivals)]
        for each, (_, stays) in zip(come, arrivals, strict=True):
            queue.add(each)
            leaving[each.id] = now + stays
        line.join(come, now)
        assert list(line.jobs(queue, now)) == ORDERS[name].sorted(queue, now)
        for job_id in [each for each, time in leaving.items() if time == now]:
            queue.remove(job_id)
        assert list(line.jobs(queue, now)) == ORDERS[name].sorted(queue, now)


@pytest.mark.parametrize("name", ["fcfs", "asc_size", "wfp3"])
def test_jobs_may_leave_a_line_while_it_is_walked(name: str) -> None:
    """Starting those who are first does not make others be passed over."""
    line, queue = Line(ORDERS[name]), Queue()
    for name_of_one in "abcde":
        queue.add(job(name_of_one))
    line.join(list(queue), 0.0)
    seen = []
    for each in line.jobs(queue, 0.0):
        seen.append(each.name)
        if each.name in "ac":
            queue.remove(each.id)
        if each.name == "c":
            queue.remove("w0!d")
    assert "".join(seen) == "abce"
    assert "".join(each.name for each in line.jobs(queue, 0.0)) == "be"
