"""Leases of random workloads through real messages: each reply obeys Batsim's rules, which the simulator checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

import pytest

from batsched_py.leases.accounting.rows import reservation_rows
from batsched_py.protocol.events import COMPLETED_KILLED
from batsched_py.results.lease_rows import ReservationRow
from batsched_py.schedulers.leases import Leases
from batsched_py.session.session import Session
from tests.drawing import drawn
from tests.ha_cases import options_of
from tests.integration.test_ha_cases import SETTINGS, Simulated
from tests.lease_invariants import PlayedCase
from tests.lease_workloads import WITH_DEADLINES, WITH_IMAGES, WITHOUT_IMAGES

WORKLOADS = {"plain": WITHOUT_IMAGES, "images": WITH_IMAGES, "deadlines": WITH_DEADLINES}
COUNT = 60

each_workload = pytest.mark.parametrize("workloads", WORKLOADS)
each_dialect = pytest.mark.parametrize("dialect", ["v4", "v1.4"])


@cache
def runs(workloads: str, dialect: str) -> Sequence[tuple[PlayedCase, Simulated]]:
    """Runs of the scheduler alone, and of the same workloads through messages."""
    cases = drawn(WORKLOADS[workloads], COUNT)
    return [(PlayedCase(case), Simulated(case, SETTINGS[dialect])) for case in cases]


def counted(rows: Sequence[ReservationRow]) -> Counter[ReservationRow]:
    """Rows of reservations that take time, and of runs."""
    return Counter(row for row in rows if row.kind == "vm" or row.start != row.end)


@each_dialect
@each_workload
def test_messages_change_nothing(workloads: str, dialect: str) -> None:
    """All reservations are those of the scheduler alone, to the second, on the same hosts."""
    for alone, simulated in runs(workloads, dialect):
        own = [row for lease in alone.leases for row in reservation_rows(lease)]
        assert counted(simulated.ledger.reservation_rows()) == counted(own), alone.case


@each_dialect
@each_workload
def test_each_job_ends_once(workloads: str, dialect: str) -> None:
    """Executed to its end, killed or rejected; for each that is killed to go on there is another."""
    for alone, simulated in runs(workloads, dialect):
        names = [job.job.id for job in simulated.jobs]
        assert len(set(names)) == len(names)
        assert len(names) - len(alone.leases) == sum(
            max(0, len([one for one in lease.executed if one.use.value == "vm"]) - 1) for lease in alone.leases
        )
        ended = Counter(lease.state.label for lease in alone.leases)
        assert sum(job.rejected for job in simulated.jobs) == ended["Rejected"]
        assert sum(job.state == COMPLETED_KILLED for job in simulated.jobs) >= len(names) - len(alone.leases)


@each_dialect
@each_workload
def test_a_conversation_is_replayed_byte_by_byte(workloads: str, dialect: str) -> None:
    """The same requests have the same replies."""
    for alone, simulated in runs(workloads, dialect):
        session = Session(Leases, options_of(alone.case))
        for request, reply in simulated.exchanges:
            assert session.answer(request) == reply


@each_dialect
@each_workload
def test_jobs_of_leases_that_have_ended_are_followed_no_longer(workloads: str, dialect: str) -> None:
    """A year of leases takes no more memory than those of a day; Batsim says nothing after its last instant."""
    for _, simulated in runs(workloads, dialect):
        algorithm = simulated.algorithm(Leases)
        followed = [lease for lease in algorithm.enactment.leases if lease.history[-1][0] < algorithm.clock]
        assert followed == []
