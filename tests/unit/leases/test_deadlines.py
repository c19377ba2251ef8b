"""Deadline leases: what the original did, what it should have done, and what holds for whatever is requested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.leases.actions import Reject, Start
from batsched_py.leases.lease import Lease, Phase
from batsched_py.leases.policies.admission import Admission
from batsched_py.leases.policies.hosts import GreedyHosts
from batsched_py.leases.policies.makers import DEFAULT_POLICIES, Policies
from batsched_py.leases.policies.preemption import DeadlinesGiveWay
from batsched_py.leases.scheduler import LeaseScheduler
from batsched_py.leases.settings import LeaseSettings
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.resources import CPU, MEMORY
from batsched_py.results.lease_rows import LeaseState, ReservationUse
from batsched_py.traces.lwf import read_lwf
from tests.lease_checks import Checks, free, plans
from tests.lease_driver import LeaseDriver, Request, lease, play, site

CASES = Path(__file__).parents[2] / "data" / "haizea"
GIVE_WAY = Policies(lambda _: Admission(), lambda _: DeadlinesGiveWay(), GreedyHosts)
#: As the original is: 1.1 shuts reservations down behind their time.
ORIGINAL: dict[str, Any] = {
    "deadline_rules": "original",
    "victim_order": "oldest",
    "drop_unneeded_victims": False,
    "replan_after_each": True,
    "shutdown_inside": False,
}


def deadline(
    number: int, submit: float, nodes: int, duration: float, *, span: tuple[float, float], **terms: Any
) -> Lease:
    """A lease that may start at `span[0]` and must have ended by `span[1]`."""
    return lease(number, submit, nodes, duration, kind=LeaseKind.DEADLINE, start=span[0], deadline=span[1], **terms)


def recorded(case: str, hosts: int = 4, **settings: Any) -> LeaseDriver:
    """A run of a recorded case, its leases by its own numbers."""
    requests = []
    for number, one in enumerate(read_lwf(CASES / case / "leases.lwf").requests, 1):
        demands = [(each.resources[CPU], each.resources[MEMORY]) for each in one.nodes]
        kind = LeaseKind.DEADLINE if one.deadline is not None else LeaseKind.ADVANCE
        start = None if isinstance(one.start, str) else one.start
        if start is None:
            kind = LeaseKind.BEST_EFFORT if one.start is None else LeaseKind.IMMEDIATE
        nodes = tuple(demand for demand, each in zip(demands, one.nodes, strict=True) for _ in range(each.number))
        asked = Lease(
            number,
            kind,
            one.arrival,
            one.duration,
            nodes,
            start=start,
            deadline=one.deadline,
            preemptible=one.preemptible,
        )
        requests.append(Request(asked, one.real))
    policies = (
        GIVE_WAY if "policy-preemption: deadline" in (CASES / case / "haizea.conf").read_text() else DEFAULT_POLICIES
    )
    scheduler = LeaseScheduler(site(hosts), LeaseSettings(**(ORIGINAL | settings)), policies, observer=Checks())
    return LeaseDriver(scheduler, requests).run()


def happened(asked: Lease) -> tuple[str, list[tuple[str, float, float, list[int]]]]:
    """Return the state of a lease, and its reservations that took time, with hosts from 1."""
    kept = [
        (one.use.value, one.start, one.end, sorted({host + 1 for host in one.nodes.values()}))
        for one in asked.executed
        if one.start < one.end and (one.use is not ReservationUse.VM or one in asked.runs)
    ]
    return asked.state.label, kept


def expected(row: dict[str, Any]) -> tuple[str, list[tuple[str, float, float, list[int]]]]:
    """Return the recorded state and reservations of a lease, without runs that were thrown away."""
    found = []
    for one in row["rr"]:
        use, start, end, nodes = one[:4] if isinstance(one, list) else (one["k"], one["s"], one["e"], one["n"].values())
        if end is not None and start < end:
            found.append((use, float(start), float(end), sorted(set(nodes))))
    return row["state"], found


def differences(case: str, driver: LeaseDriver) -> list[int]:
    """Numbers of leases of which something else became than by the recording."""
    rows = json.loads((CASES / case / "result.json").read_bytes())["leases"]
    by_number = {asked.id: asked for asked in driver.leases}
    return [row["id"] for row in rows if happened(by_number[row["id"]]) != expected(row)]


@pytest.mark.parametrize(
    ("case", "settings"),
    [
        ("dl-basic", {}),
        ("dl-early", {}),
        ("dl-greedy-mapper", {}),
        ("dl-mix", {}),
        ("dl-preempt-nosusp", {"suspension": "none"}),
        ("dl-shutdown", {"shutdown_time": 20}),
    ],
)
@pytest.mark.parametrize("rules", [{}, {"deadline_rules": "feasible", "victim_order": "youngest"}])
def test_recorded_cases_are_met(case: str, settings: dict[str, Any], rules: dict[str, Any]) -> None:
    """Times, hosts and states are those of Haizea 1.1, with its own rules and with ours."""
    assert differences(case, recorded(case, **settings, **rules)) == []


def test_a_random_load_without_suspension_is_met() -> None:
    """80 deadline leases, three of them refused: all as Haizea 1.1 has them."""
    assert differences("rnd-dl-3", recorded("rnd-dl-3", 8, suspension="none")) == []


def test_a_random_load_with_suspension_is_met_until_the_original_breaks_its_rules() -> None:
    """The first 43 of 60; to make room for lease 48 Haizea 1.1 leaves lease 44 alone, which could give way."""
    driver = recorded("rnd-dl-1", 8)
    assert differences("rnd-dl-1", driver)[0] == 44
    assert all(asked.state is LeaseState.DONE for asked in driver.leases)


def test_a_second_order_accepts_more_of_a_random_load() -> None:
    """With the earliest deadline tried first, leases 62 and 65 find a place that the original did not see."""
    refused = [
        asked.id for asked in recorded("rnd-dl-3", 8, suspension="none").leases if asked.state is LeaseState.REJECTED
    ]
    ours = recorded("rnd-dl-3", 8, suspension="none", deadline_rules="feasible", victim_order="youngest")
    assert refused == [49, 62, 65]
    assert [asked.id for asked in ours.leases if asked.state is LeaseState.REJECTED] == [49]


def test_a_planned_best_effort_lease_is_no_obstacle() -> None:
    """The original stopped with an error (D23); here lease 2 is refused, and 3 and 4 run after lease 1."""
    driver = recorded("dl-mix-be-preempt", deadline_rules="feasible")
    assert [happened(asked) for asked in driver.leases] == [
        ("Done", [("vm", 0, 3000, [1, 2, 3, 4])]),
        ("Rejected", []),
        ("Done", [("vm", 3000, 3600, [1])]),
        ("Done", [("vm", 3000, 3300, [2, 3])]),
    ]


def test_a_lease_that_is_suspended_twice_has_its_runs_planned() -> None:
    """Each time it gives way, the rest of it is planned at once: three runs, the last of them in time."""
    first = deadline(1, 0, 1, 1000, span=(0, 9000))
    driver = play(
        [first, deadline(2, 0, 1, 300, span=(200, 500)), deadline(3, 10, 1, 300, span=(800, 1100))],
        hosts=1,
        policies=GIVE_WAY,
        observer=Checks(),
    )
    runs = [(one.use.value, one.start, one.end) for one in first.executed if one.start < one.end]
    assert runs == [
        ("vm", 0, 168),
        ("suspend", 168, 200),
        ("resume", 500, 532),
        ("vm", 532, 768),
        ("suspend", 768, 800),
        ("resume", 1100, 1132),
        ("vm", 1132, 1728),
    ]
    assert driver.now == 1728
    states = [state.label for _, state in first.history]
    assert states[3:7] == ["Active", "Suspending", "Suspended-Pending", "Suspended-Scheduled"]


def test_a_victim_that_is_not_needed_is_left_alone() -> None:
    """The lease with more slack is asked first, but a reservation comes on its host; then the other is enough."""
    first, second = deadline(1, 0, 1, 400, span=(0, 90000)), deadline(2, 0, 1, 400, span=(0, 9000))
    reserved, wanted = lease(3, 0, 1, 400, start=450.0), deadline(4, 1, 1, 500, span=(300, 800))
    play([first, second, reserved, wanted], hosts=2, policies=GIVE_WAY, observer=Checks())
    assert first.runs[0].nodes == reserved.runs[0].nodes
    assert wanted.runs[0].start == 300
    assert [one.id for one in (first, second) if any(part.use is ReservationUse.SUSPEND for part in one.executed)] == [
        2
    ]


def test_a_reservation_too_moves_deadline_leases() -> None:
    """An advance reservation takes the place of a deadline lease that is in time all the same."""
    moved, reserved = deadline(1, 0, 2, 100, span=(50, 500)), lease(2, 10, 2, 100, start=60)
    play([moved, reserved], hosts=2, policies=GIVE_WAY, observer=Checks(), suspension="none")
    assert [one.runs[-1].start for one in (moved, reserved)] == [160, 60]


def test_the_earliest_deadline_goes_first_where_slack_misleads() -> None:
    """The short lease has more slack than the long one and would be late behind it; before it, both are in time."""
    long, short = deadline(1, 0, 1, 1000, span=(100, 1200)), deadline(2, 1, 1, 5, span=(100, 140))
    play([long, short], hosts=1, observer=Checks())
    assert [one.runs[0].start for one in (long, short)] == [105, 100]
    long, short = deadline(1, 0, 1, 1000, span=(100, 1200)), deadline(2, 1, 1, 5, span=(100, 140))
    play([long, short], hosts=1, observer=Checks(), deadline_rules="original")
    assert [long.runs[0].start, short.state] == [100, LeaseState.REJECTED]


@st.composite
def requests(draw: st.DrawFn, dated: int = 5) -> list[Request]:
    """Deadline leases mostly, among reservations and best-effort leases; some end early."""
    found, submit = [], 0
    for number in range(1, draw(st.integers(2, 14)) + 1):
        submit += draw(st.integers(0, 60))
        nodes, duration = draw(st.integers(1, 4)), draw(st.integers(1, 200))
        start = submit + draw(st.integers(0, 150))
        memory = draw(st.sampled_from([64.0, 256.0, 1024.0]))
        kind = draw(st.sampled_from(["deadline"] * dated + ["advance", "best effort", "best effort"]))
        if kind == "deadline":
            until = start + duration * draw(st.sampled_from([1, 1, 1.5, 2, 3, 8])) + draw(st.integers(0, 40))
            asked = deadline(number, submit, nodes, duration, span=(start, until), memory=memory)
        elif kind == "advance":
            asked = lease(number, submit, nodes, duration, start=float(start), memory=memory)
        else:
            asked = lease(number, submit, nodes, duration, memory=memory)
        found.append(Request(asked, draw(st.sampled_from([None, 1.0, duration // 2 + 1.0, float(duration)]))))
    return found


RULES = st.fixed_dictionaries(
    {
        "suspension": st.sampled_from(["none", "serial-only", "all"]),
        "migration": st.sampled_from(["no", "yes", "yes-notransfer"]),
        "deadline_rules": st.sampled_from(["feasible", "original"]),
        "victim_order": st.sampled_from(["youngest", "oldest"]),
        "shutdown_time": st.sampled_from([0, 7]),
        "exclusion": st.sampled_from(["local", "global"]),
    }
)


@given(asked=requests(), rules=RULES, policies=st.sampled_from([GIVE_WAY, DEFAULT_POLICIES]))
def test_an_accepted_lease_meets_its_deadline(asked: list[Request], rules: dict[str, Any], policies: Policies) -> None:
    """It is done, has run all of its time within its span, and no host was ever asked for too much."""
    play(asked, policies=policies, observer=Checks(), **rules)
    for each, real in asked:
        assert each.state in (LeaseState.DONE, LeaseState.REJECTED)
        if (
            each.state is LeaseState.DONE and each.kind is not LeaseKind.ADVANCE
        ):  # those are shut down within their time
            assert each.accumulated == min(each.duration, each.duration if real is None else real)
        if each.kind is LeaseKind.DEADLINE and each.state is LeaseState.DONE:
            runs = [one for one in each.executed if one.use is ReservationUse.VM]
            assert each.start is not None
            assert each.deadline is not None
            assert runs[0].start >= each.start
            assert runs[-1].end <= each.deadline


class Refusals(Checks):
    """Checks that a refused lease has left everything as it was."""

    def __init__(self) -> None:
        super().__init__()
        self.scheduler: LeaseScheduler | None = None
        self.before: object = None

    def tried(self, lease: Lease, now: float) -> None:
        """Keep what is planned before a lease is planned."""
        del lease, now
        self.before = self._look()

    def refused(self, lease: Lease, why: str, now: float) -> None:
        """Compare."""
        del why, now
        if lease.kind is LeaseKind.DEADLINE:
            assert self._look() == self.before

    def _look(self) -> object:
        assert self.scheduler is not None
        runs = [(each.id, each.state, len(each.runs)) for each in self.scheduler.leases.values()]
        return plans(self.scheduler), free(self.scheduler.table), [one for one in runs if one[2]]


@given(asked=requests(), rules=RULES)
def test_a_refused_lease_leaves_every_plan_as_it_was(asked: list[Request], rules: dict[str, Any]) -> None:
    """Runs, hosts, the order of ties and states are the same after a refusal as before."""
    observer = Refusals()
    scheduler = observer.scheduler = LeaseScheduler(site(4), LeaseSettings(**rules), GIVE_WAY, observer=observer)
    LeaseDriver(scheduler, asked).run()
    assert not scheduler.leases


def test_a_refusal_is_told_why() -> None:
    """Two leases for the whole site by the same instant: the second is refused."""
    scheduler = LeaseScheduler(site(1), LeaseSettings(), GIVE_WAY)
    both = [deadline(number, 0, 1, 100, span=(0, 150)) for number in (1, 2)]
    scheduler.step(0.0, (), both)
    assert [type(action) for action in scheduler.actions] == [Reject, Start]
    assert both[0].runs[0].phase is Phase.UNDER_WAY
    assert isinstance(scheduler.actions[0], Reject)
    assert scheduler.actions[0].why == "it cannot end by its deadline"


def test_a_lease_resumes_where_it_was_suspended_last() -> None:
    """It ran on host 0, was stopped, and began anew on host 1: that host 0 is taken until 15410 holds up nothing."""
    requests = [
        deadline(1, 0, 1, 1000, span=(0.0, 19000.0)),
        lease(2, 50, 2, 100, start=200.0),  # for which it is suspended
        lease(3, 350, 1, 200, start=400.0),
        lease(4, 395, 1, 10000, start=5410.0),
        lease(5, 400, 1, 5000, start=410.0),  # for which it is stopped
        lease(6, 5500, 1, 100, start=6000.0),  # for which it is suspended again
    ]
    moved = play(requests, hosts=2, policies=GIVE_WAY, observer=Checks()).leases[0]
    runs = [(one.start, one.end, one.nodes[1]) for one in moved.executed if one.use is ReservationUse.VM]
    assert runs == [(0, 168, 0), (332, 400, 0), (5410, 5968, 1), (6132, 6406, 1)]
