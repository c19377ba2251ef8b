"""Acceptance cases of leases that are about Haizea's configuration: HA-48, HA-54, HA-56 and HA-57."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.haizea.run import HaizeaRun, run
from tests.unit.haizea.configurations import config

LEASE = """<lease-request arrival="{arrival}"><lease preemptible="{preemptible}"><nodes><node-set numnodes="{nodes}">
<res type="CPU" amount="100"/><res type="Memory" amount="1024"/></node-set></nodes>{start}<duration time="{duration}"/>
<software><none/></software></lease></lease-request>"""
EXACT = '<start><exact time="{}"/></start>'


def best_effort(arrival: str, nodes: int, duration: str) -> str:
    """A request in LWF."""
    return LEASE.format(arrival=arrival, preemptible="true", nodes=nodes, start="<start/>", duration=duration)


def reserved(arrival: str, start: str, nodes: int, duration: str) -> str:
    """A request for a reservation in LWF."""
    given = EXACT.format(start)
    return LEASE.format(arrival=arrival, preemptible="false", nodes=nodes, start=given, duration=duration)


QUICKSTART = (best_effort("00:00:00", 1, "01:00:00"), reserved("00:15:00", "00:30:00", 4, "00:30:00"))


def played(folder: Path, requests: tuple[str, ...], options: dict[str, str | None], site: str = "") -> HaizeaRun:
    """A run of these requests, in which reservations go first; perhaps on a site that stands beside them."""
    inside = "".join(requests)
    (folder / "leases.lwf").write_text(
        f'<lease-workload name="t">{site}<lease-requests>{inside}</lease-requests></lease-workload>'
    )
    given = {"scheduling.policy-preemption": "ar-preempts-everything", **options}
    return run(config(folder, given), lambda _: None)


@pytest.mark.parametrize(
    ("options", "suspended", "resumed", "end"),
    [
        ({"scheduling.suspend-rate": "64", "scheduling.resume-rate": None}, (1784, 1800), (3600, 3632), 5448),
        (
            {
                "simulation.suspendresume-rate": "64",
                "scheduling.suspend-rate": None,
                "scheduling.resume-rate": None,
            },
            (1784, 1800),
            (3600, 3616),
            5432,
        ),
    ],
    ids=["HA-48-suspend-rate", "HA-48-both"],
)
def test_rates_have_a_default_and_one_older_spelling(
    tmp_path: Path,
    options: dict[str, str | None],
    suspended: tuple[float, float],
    resumed: tuple[float, float],
    end: float,
) -> None:
    """HA-48: what is absent is 32 MB/s; `suspendresume-rate` sets both."""
    ledger = played(tmp_path, QUICKSTART, options).ledger
    found = {row.kind: (row.start, row.end) for row in ledger.reservation_rows() if row.kind != "vm"}
    assert (found["suspend"], found["resume"]) == (suspended, resumed)
    assert ledger.lease_rows()[0].end_time == end


def test_a_run_stops_when_the_last_best_effort_lease_has_come(tmp_path: Path) -> None:
    """HA-54: at 900; who runs is left running, and who has not come is new."""
    requests = (
        best_effort("00:00:00", 1, "01:00:00"),
        best_effort("00:15:00", 1, "00:10:00"),
        reserved("00:20:00", "01:00:00", 1, "00:10:00"),
    )
    stopped = played(tmp_path, requests, {"simulation.stop-when": "besteffort-submitted"})
    assert stopped.end == 900
    assert [(row.lease, row.type, row.state, row.submit_time) for row in stopped.ledger.lease_rows()] == [
        (1, "BE", "Active", 0),
        (2, "BE", "Active", 900),
        (3, "AR", "New", 1200),
    ]


def ponies(nodes: int, each: int, start: str = "", cpu: int = 100, memory: int = 1024) -> str:
    """A request for so many Ponies on each node, none if 0; best effort without a start."""
    some = f'<res type="Ponies" amount="{each}"/>' if each else ""
    hour = nodes, "01:00:00"
    text = reserved("00:00:00", start, *hour) if start else best_effort("00:00:00", *hour)
    plain = '<res type="CPU" amount="100"/><res type="Memory" amount="1024"/>'
    return text.replace(plain, f'<res type="CPU" amount="{cpu}"/><res type="Memory" amount="{memory}"/>{some}')


def hosts_of(found: HaizeaRun) -> dict[int, str]:
    """Lease -> the hosts of its run, from 0, with its state if it has none."""
    ran = {row.lease: str(row.hosts) for row in found.ledger.reservation_rows() if row.kind == "vm"}
    return {row.lease: ran.get(row.lease, row.state) for row in found.ledger.lease_rows()}


def site_of(*sets: tuple[int, str], types: str = "CPU Memory") -> str:
    """A site in LWF, of numbers of hosts and what each of them has."""
    each = "".join(f'<node-set numnodes="{number}">{resources}</node-set>' for number, resources in sets)
    return f'<site><resource-types names="{types}"/><nodes>{each}</nodes></site>'


def host(memory: int, more: str = "") -> str:
    """Return the resources of a host in XML."""
    return f'<res type="CPU" amount="100"/><res type="Memory" amount="{memory}"/>{more}'


def test_leases_go_where_the_types_are_that_they_ask_for(tmp_path: Path) -> None:
    """HA-56: the first four of eight hosts have four Ponies each; five on one node are too many for any."""
    site = site_of((4, host(1024, '<res type="Ponies" amount="4"/>')), (4, host(1024)), types="CPU Memory Ponies")
    requests = (ponies(4, 2), ponies(2, 0), ponies(1, 5), ponies(5, 1, "02:00:00", 50, 512))
    found = played(tmp_path, requests, {"simulation.resources": "in-tracefile"}, site)
    assert hosts_of(found) == {1: "0-3", 2: "4-5", 3: "Rejected", 4: "0-2"}


@pytest.mark.parametrize(("nodes", "hosts"), [(8, "4-11"), (9, "Rejected")])
def test_leases_go_where_enough_memory_is(tmp_path: Path, nodes: int, hosts: str) -> None:
    """HA-57: four hosts of 1024 MB come before eight of 2048 MB."""
    request = ponies(nodes, 0, "00:30:00", memory=2048)
    site = site_of((4, host(1024)), (8, host(2048)))
    found = played(tmp_path, (request,), {"simulation.resources": "in-tracefile"}, site)
    assert hosts_of(found) == {1: hosts}
