"""The rules: each by a run that breaks it, which no session of ours would let come about."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.api import HostSet, Job, NoOptions, Plan, Scheduler, View
from batsched_py.results.records import JobRecord
from batsched_py.testing.case import Case
from batsched_py.testing.play import Played
from batsched_py.testing.rules import ContractTrial, Liberties, broken_rule

SUCCESS, WALLTIME, KILLED, REJECTED = (
    f"{state}" for state in ("COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED", "REJECTED")
)
CASE = Case(hosts=4, jobs=((0, 2, 5, 9), (3, 2, 9, 5)))


class Nobody(Scheduler[NoOptions]):
    name = "judged"

    def decide(self, view: View, plan: Plan) -> None:
        """Decide nothing: it is never asked."""


def end(number: int, state: str, start: float, finish: float, hosts: str, *, case: Case = CASE) -> JobRecord:
    """Return the record of an ended job of the case."""
    submit, size, run, walltime = case.jobs[number]
    job = Job.create(f"w0!{number:03d}", size=size, profile=f"d{run}", submit_time=submit, walltime=walltime)
    return JobRecord(job, state, 0, start, finish, HostSet.parse(hosts))


FIRST, SECOND = end(0, SUCCESS, 0, 5, "0-1"), end(1, WALLTIME, 3, 8, "2-3")


def judged(*endings: JobRecord, case: Case = CASE, standstill: str = "", allowed: Any = None, **needs: bool) -> str:
    """Return the first broken rule."""
    scheduler = type("Judged", (Nobody,), needs)
    return broken_rule(ContractTrial(case, Played(endings, standstill, ()), scheduler, allowed or Liberties()))


def test_a_run_that_keeps_all_rules_is_right() -> None:
    """Jobs that ended in time and at their walltime, side by side."""
    assert judged(FIRST, SECOND) == ""


@pytest.mark.parametrize(
    ("endings", "words"),
    [
        ((FIRST,), "w0!001 never ended, yet the run did"),
        ((FIRST, SECOND, FIRST), "w0!000 ended twice: COMPLETED_SUCCESSFULLY, then COMPLETED_SUCCESSFULLY"),
        ((end(0, REJECTED, 0, 0, ""), SECOND), "w0!000 of 2 hosts was rejected, though it could run"),
        ((end(0, KILLED, 0, 1, "0-1"), SECOND), "w0!000 was killed"),
        ((end(0, SUCCESS, 0, 4, "0-1"), SECOND), "w0!000 ended as COMPLETED_SUCCESSFULLY after 4 s, not"),
        (
            (FIRST, end(1, SUCCESS, 3, 12, "2-3")),
            "w0!001 ended as COMPLETED_SUCCESSFULLY after 9 s, not COMPLETED_WALL",
        ),
        ((FIRST, end(1, WALLTIME, 2, 7, "2-3")), "w0!001 was started at t=2, submitted at t=3"),
        ((FIRST, end(1, WALLTIME, 3, 8, "2")), "w0!001 of 2 hosts ran on 2"),
        ((FIRST, end(1, WALLTIME, 3, 8, "3-4")), "w0!001 of 2 hosts ran on 3-4"),
        ((FIRST, end(1, WALLTIME, 4, 9, "1-2")), "w0!000 and w0!001 ran on hosts 1 at t=4"),
    ],
)
def test_a_run_that_breaks_a_rule_is_told_which(endings: tuple[JobRecord, ...], words: str) -> None:
    """By the jobs, the hosts and the times."""
    assert judged(*endings).startswith(words)


def test_a_host_may_be_used_from_the_instant_at_which_it_is_free() -> None:
    """Intervals are half-open."""
    assert judged(FIRST, end(1, WALLTIME, 5, 10, "0-1")) == ""


def test_nothing_may_start_on_hosts_that_have_failed() -> None:
    """After the failure and before the repair; at the instant of the failure it may not be known."""
    case = Case(hosts=4, jobs=CASE.jobs, outages=((1, "0", 5),))
    broken = "w0!001 was started at t=4 on 0-1, of which 0 had failed"
    assert judged(end(0, SUCCESS, 0, 5, "2-3"), end(1, WALLTIME, 4, 9, "0-1"), case=case) == broken
    assert judged(end(0, SUCCESS, 1, 6, "0-1"), SECOND, case=case) == ""
    assert judged(end(0, SUCCESS, 0, 5, "2-3"), end(1, WALLTIME, 5, 10, "0-1"), case=case) == ""


def test_a_standstill_is_excused_by_hosts_that_never_come_back() -> None:
    """If one of those that wait needs more hosts than are left, those behind it may wait too."""
    jobs = ((0, 4, 1, 9), (0, 1, 1, 9))
    assert judged(case=Case(hosts=4, jobs=jobs), standstill="still").startswith("the run does not end: still")
    assert judged(case=Case(hosts=4, jobs=jobs, outages=((0, "0", None),)), standstill="still") == ""
    assert judged(case=Case(hosts=4, jobs=jobs, outages=((0, "0", 5),)), standstill="still") != ""
    small = Case(hosts=4, jobs=jobs[1:], outages=((0, "0", None),))
    assert judged(case=small, standstill="still") != ""
    assert judged(case=small, standstill="still", allowed=Liberties(particular_hosts=True)) == ""
    assert judged(case=Case(hosts=4, jobs=jobs), standstill="still", allowed=Liberties(may_leave=True)) == ""


def test_who_cannot_run_may_be_rejected() -> None:
    """Too large for the machine or for what is left of it, or without a walltime that is needed."""
    large = Case(hosts=4, jobs=((0, 5, 1, 9),))
    assert judged(end(0, REJECTED, 0, 0, "", case=large), case=large) == ""
    left = Case(hosts=4, jobs=((0, 4, 1, 9),), outages=((9, "0", None),))
    assert judged(end(0, REJECTED, 0, 0, "", case=left), case=left) == ""
    endless = Case(hosts=4, jobs=((0, 1, 1, None),))
    assert judged(end(0, REJECTED, 0, 0, "", case=endless), case=endless) != ""
    assert judged(end(0, REJECTED, 0, 0, "", case=endless), case=endless, needs_walltime=True) == ""
    assert judged(end(0, REJECTED, 0, 0, ""), SECOND, allowed=Liberties(may_reject=True)) == ""


def test_who_oversubscribes_shares_hosts() -> None:
    """As many executors as it likes on each."""
    assert judged(FIRST, end(1, WALLTIME, 3, 8, "0"), oversubscribes=True) == ""
