"""Placement: a selection and a constraint on one machine."""

from __future__ import annotations

from collections.abc import Mapping

from batsched_py.api import Host, HostSet, Job, Placement, PlacementOptions
from batsched_py.planning.policies.constraints import Constraint
from batsched_py.planning.policies.selection import SELECTIONS
from batsched_py.protocol.commands import RejectJob
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View
from batsched_py.state.state import State
from tests.builders import hosts, job, state

#: Jobs that were asked about, in order.
Asked = list[str]


def even(asked: Asked) -> Constraint:
    """Jobs whose name begins with e run on hosts of even number."""

    def rule(job: Job, hosts: Mapping[int, Host]) -> list[int]:
        asked.append(job.name)
        return [host for host in hosts if not (host % 2 and job.name.startswith("e"))]

    return Constraint("even", rule)


def placement(fresh: State, selection: str = "lowest", asked: Asked | None = None) -> Placement:
    constraint = Constraint("none") if asked is None else even(asked)
    return Placement(PlacementOptions(SELECTIONS[selection], constraint=constraint), View(fresh))


def test_a_job_gets_free_hosts_that_it_may_run_on() -> None:
    """The constraint first, then the selection."""
    place = placement(state(6), asked=[])
    assert place.hosts(job("e", 2), hosts("1-4")) == hosts("2 4")
    assert place.hosts(job("x", 2), hosts("1-4")) == hosts("1-2")
    assert place.hosts(job("e", 3), hosts("1-4")) is None
    assert place.eligible(job("e")) == hosts("0 2 4")


def test_a_constraint_is_asked_once_for_a_job_that_waits() -> None:
    """However often the job is looked at, and however many others come and go."""
    asked: Asked = []
    fresh = state(4, job("e"))
    place = placement(fresh, asked=asked)
    for number in range(3000):
        place.hosts(job("e"), hosts("0-3"))
        place.hosts(job(f"gone{number}"), hosts("0-3"))
    assert asked.count("e") == 1
    assert len(place._eligible) < 2000


def test_a_job_that_can_never_run_is_refused_with_the_reason() -> None:
    """Too few hosts by the constraint, or none that the selection would take."""
    place = placement(state(6), "contiguous", [])
    assert place.refusal(job("e1", 1)) is None
    assert place.refusal(job("x", 6)) is None
    assert place.refusal(job("e4", 4)) == "needs 4 hosts, constraint even allows 3"
    assert place.refusal(job("e2", 2)) == "needs 2 hosts, selection contiguous finds none even if 0 2 4 are free"


def test_arrived_jobs_that_can_never_run_are_rejected() -> None:
    """No others are; the reason is kept."""
    fresh = state(6, job("e4", 4), job("x", 4))
    plan = Plan(fresh)
    placement(fresh, "contiguous", []).refuse(View(fresh), plan)
    assert plan.commands == [RejectJob(0.0, "w0!e4")]
    assert plan.rejections == {"w0!e4": "needs 4 hosts, constraint even allows 3"}


def test_why_a_job_waits() -> None:
    """Too few are free, too few that it may run on, or no such hosts."""
    place = placement(state(6), "contiguous", [])
    assert place.why_not(job("x", 3), hosts("0 2")) == "needs 3 hosts, 2 are free"
    assert place.why_not(job("e", 2), hosts("0-1")) == "needs 2 hosts, 1 is free that constraint even allows"
    assert place.why_not(job("x", 2), hosts("0 2")) == "needs 2 hosts, selection contiguous finds none in 0 2"


def test_options_tell_what_counts_can_promise() -> None:
    """Counting hosts is enough if a job can run wherever enough are free."""
    assert PlacementOptions().plain
    assert PlacementOptions(SELECTIONS["topology"]).by_number
    assert not PlacementOptions(SELECTIONS["topology"]).plain
    assert not PlacementOptions(SELECTIONS["contiguous"]).by_number
    assert not PlacementOptions(constraint=even([])).by_number


def test_a_view_is_a_machine() -> None:
    """A selection sees who sleeps now."""
    fresh = state(4)
    place = placement(fresh, "cheapest")
    fresh.hosts.asleep = HostSet.of(0).bits
    assert place.hosts(job("x", 2), hosts("0-3")) == hosts("1-2")
