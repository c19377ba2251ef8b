"""Recorded cases of the original Haizea (tests/data/haizea): their inputs as runs of ours, and what came out there."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from batsched_py.haizea.config import HaizeaConfig
from batsched_py.haizea.reader import read_config
from batsched_py.haizea.run import run
from batsched_py.hostset import HostSet
from batsched_py.leases.lease import Lease
from batsched_py.leases.observer import Observer
from batsched_py.leases.policies.admission import Admission, NoReservations
from batsched_py.leases.policies.hosts import GreedyHosts, HostOrder
from batsched_py.leases.policies.makers import Policies
from batsched_py.leases.policies.preemption import Preemptability, ReservationsFirst
from batsched_py.leases.scheduler import LeaseScheduler
from batsched_py.leases.site import Site
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.lease_terms import DiskImage
from batsched_py.traces.lease_request import LeaseRequest, LeaseSite
from batsched_py.traces.lwf import read_lwf
from tests.clone import ROOT
from tests.lease_driver import LeaseDriver, Request

CASES = ROOT / "tests" / "data" / "haizea"
#: All cases, by their names.
NAMES = sorted(folder.name for folder in CASES.iterdir() if folder.is_dir())


class HourOfNotice(Admission):
    """The policy of `plug-admission`: a reservation is requested more than an hour before its start."""

    def accepts(self, lease: Lease, leases: Collection[Lease]) -> bool:  # the interface
        """Return whether it is."""
        return lease.start is None or lease.start - lease.submit > 3600


class LongestFirst(Preemptability):
    """The policy of `plug-preemption`: the longer a lease is, the sooner it gives way."""

    def score(self, preemptor: Lease, preemptee: Lease, time: float) -> float:  # the interface
        """Return a number that grows with the duration."""
        goes_first = preemptor.kind is LeaseKind.ADVANCE and preemptee.kind is LeaseKind.BEST_EFFORT
        return preemptee.duration / 10000 if goes_first else -1.0


ADMISSION = {"accept-all": Admission, "no-ARs": NoReservations, "own_policies.NoticeOneHour": HourOfNotice}
PREEMPTION = {
    "no-preemption": Preemptability,
    "ar-preempts-everything": ReservationsFirst,
    "own_policies.ShortFirst": LongestFirst,
}
HOSTS = {"greedy": GreedyHosts, "no-policy": HostOrder}


class HaizeaCase:
    """A recorded case."""

    def __init__(self, name: str) -> None:
        self.name, self.folder = name, CASES / name
        self.config = read_config(self.folder / "haizea.conf")

    def recorded(self) -> dict[str, Any]:
        """The recorded outcome of the original, with its mistakes corrected where that gives another schedule."""
        corrected = self.folder / "result-req.json"
        path = corrected if corrected.exists() else self.folder / "result.json"
        found: dict[str, Any] = json.loads(path.read_bytes())
        return found

    def driver(self, observer: Observer | None = None, **settings: Any) -> LeaseDriver:
        """The run that is yet to be made; with `settings` in place of the configuration's."""
        config, traces = self.config, self.config.traces
        assert traces is not None
        trace = read_lwf(traces.trace, starttime=config.start_time)
        requests = list(trace.requests)
        if traces.injection is not None:
            requests += read_lwf(traces.injection, starttime=config.start_time).requests
        described = config.site or trace.site
        assert described is not None
        site = site_of(described)
        scheduler = LeaseScheduler(
            site, replace(config.settings, **settings), policies_of(config), config.transfers, observer
        )
        leases = [lease_of(request, number, site) for number, request in enumerate(requests, start=1)]
        return LeaseDriver(
            scheduler, [Request(lease, request.real) for lease, request in zip(leases, requests, strict=True)]
        )


def policies_of(config: HaizeaConfig) -> Policies:
    """The policies of a configuration; KeyError if it has one that this does not know."""
    names = config.policies
    admission, preemption = ADMISSION[names.admission], PREEMPTION[names.preemption]
    return Policies(lambda _: admission(), lambda _: preemption(), HOSTS[names.hosts])


def site_of(site: LeaseSite) -> Site:
    """The hosts of a file, for the scheduler."""
    return Site.of([dict(one.resources) for one in site.hosts for _ in range(one.number)])


def lease_of(request: LeaseRequest, number: int, site: Site) -> Lease:
    """The lease of a request in a file."""
    demands = [site.amounts(one.resources) for one in request.nodes for _ in range(one.number)]
    start = None if request.start == "now" else request.start
    kind = (
        LeaseKind.IMMEDIATE if request.start == "now" else LeaseKind.BEST_EFFORT if start is None else LeaseKind.ADVANCE
    )
    return Lease(
        number,
        LeaseKind.DEADLINE if request.deadline is not None else kind,
        request.arrival,
        request.duration,
        tuple(demand for demand in demands if demand is not None),
        start=start,
        preemptible=request.preemptible,
        deadline=request.deadline,
        software=None if request.image is None else DiskImage(*request.image),
    )


def times_of(lease: Lease) -> list[tuple[str, float, float]]:
    """Return kind, start and end of a lease's reservations, without transfers and runs that were thrown away."""
    kept = [one for one in lease.executed if one.use.value not in ("vm", "transfer") or one in lease.runs]
    found = [(one.use.value.replace("migrate-memory", "migrate-mem"), one.start, one.end) for one in kept]
    return [one for one in found if one[0] != "shutdown" or one[1] < one[2]]


def recorded_times(lease: dict[str, Any]) -> list[tuple[str, float, float]]:
    """The same of a recorded lease; a run that was thrown away has no end."""
    rows = [one[:3] if isinstance(one, list) else (one["k"], one["s"], one["e"]) for one in lease["rr"]]
    found = [(kind, start, end) for kind, start, end in rows if end is not None and kind != "transfer"]
    return [one for one in found if one[0] != "shutdown" or one[1] < one[2]]


#: State of a lease, and the runs of its machines: start, end, hosts from 1. A run that was thrown away, or is not over,
#: has no end; where the hosts are None they were not recorded.
Outcome = tuple[str, list[tuple[float, float | None, frozenset[int] | None]]]


def simulated_outcomes(config: HaizeaConfig) -> dict[int, Outcome]:
    """Return the outcome of each lease of a configuration by its number, through the messages of a simulation."""
    ledger = run(config, lambda _: None).ledger
    runs: dict[int, list[tuple[float, float | None, frozenset[int] | None]]] = {}
    for row in ledger.reservation_rows():
        if row.kind == "vm":
            hosts = frozenset(host + 1 for host in HostSet.parse(row.hosts))
            runs.setdefault(row.lease, []).append((row.start, None if row.lost else row.end, hosts))
    return {row.lease: (row.state, runs.get(row.lease, [])) for row in ledger.lease_rows()}


def recorded_outcomes(path: Path) -> dict[int, Outcome]:
    """Return the recorded outcome of each lease by its number; none if the original did not get as far as planning."""
    return {
        row["id"]: (row["state"], _recorded_runs(row["rr"])) for row in json.loads(path.read_bytes()).get("leases", [])
    }


def _recorded_runs(rows: list[Any]) -> list[tuple[float, float | None, frozenset[int] | None]]:
    """Rows are objects, lists (kind, start, end, hosts), or (start, end) of a run."""
    found = list[tuple[float, float | None, frozenset[int] | None]]()
    for one in rows:
        row = [one["k"], one["s"], one["e"], one.get("n", {}).values()] if isinstance(one, dict) else one
        if len(row) == 2:
            found.append((row[0], row[1], None))
        elif row[0] == "vm":
            found.append((row[1], row[2], frozenset(row[3])))
    return found


def other_outcomes(ours: dict[int, Outcome], recorded: dict[int, Outcome]) -> dict[int, Outcome]:
    """Ours of the leases of which something else became; those that had not arrived when the recording ended count."""
    return {
        number: ours.get(number, ("New", []))
        for number, expected in recorded.items()
        if not _same(ours.get(number, ("New", [])), expected)
    }


def _same(ours: Outcome, recorded: Outcome) -> bool:
    if ours[0] != recorded[0] or len(ours[1]) != len(recorded[1]):
        return False
    pairs = zip(ours[1], recorded[1], strict=True)
    return all(mine[:2] == theirs[:2] and theirs[2] in (None, mine[2]) for mine, theirs in pairs)


def as_line(number: int, outcome: Outcome) -> str:
    """A lease as text: `3 Done 0-868@1,2 2732-4264@1,2`; a run that was thrown away ends at `*`."""
    state, runs = outcome
    told = [
        f"{start:g}-{'*' if end is None else f'{end:g}'}@{','.join(map(str, sorted(hosts or ())))}"
        for start, end, hosts in runs
    ]
    return " ".join([str(number), state, *told])
