"""Snapshots of a site: its jobs, hosts and tables at one moment, which never change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from batsched_py.model.table import Table


class JobNow(Struct, frozen=True):
    """A job that waits, runs, or has ended.

    Attributes:
        state: waiting, running, or a final state in Batsim's words.
        start, end: simulated times; None before the start or the end.
        ends_by: when the walltime of a running job ends; None if it has no walltime.
        hosts: an interval set of host numbers from 0, such as "0-3 7"; "" before it starts.
        why: the algorithm's reason why it waits or was rejected; "" if it gave none.
    """

    id: str
    state: str
    size: int
    walltime: float | None
    submitted: float
    start: float | None = None
    end: float | None = None
    hosts: str = ""
    why: str = ""
    ends_by: float | None = None


class HostsNow(Struct, frozen=True):
    """The hosts in each state but free, as interval sets."""

    busy: str
    unavailable: str
    asleep: str
    switching: str


class Snapshot(Struct, frozen=True):
    """An immutable snapshot of the site between two messages.

    Attributes:
        number: increases with each change.
        now: the simulated time of the latest message.
        waiting: jobs in the order of the queue.
        running: jobs in the order of their starts.
        ended: the number of ended jobs: the first ones of `Board.ended`.
        hosts: the states of hosts.
        tables: the live tables of the algorithm, by name.
        jobs: waiting and running jobs, by id.
    """

    number: int
    now: float
    waiting: Sequence[JobNow]
    running: Sequence[JobNow]
    ended: int
    hosts: HostsNow
    tables: Mapping[str, Table]
    jobs: Mapping[str, JobNow]


EMPTY: Final = Snapshot(0, 0.0, (), (), 0, HostsNow("", "", "", ""), {}, {})
