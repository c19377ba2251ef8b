"""Requests for a lease in files, as a live site takes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from batsched_py.errors import WorkloadError
from batsched_py.site.api.identity import Identity
from batsched_py.site.api.lease_requests import LeaseRequest, ask_for_lease
from batsched_py.traces.lease_file import LeaseFile, read_lease

NODES = '<node-set numnodes="2"><res type="CPU" amount="100"/><res type="Memory" amount="512"/></node-set>'
BIG = '<node-set numnodes="1"><res type="CPU" amount="50"/><res type="Memory" amount="64"/><res type="GPU" amount="1"/>'
LEASE = f"""<lease preemptible="true">
<nodes>{NODES}</nodes>
<start/><duration time="00:10:00"/><software><none/></software></lease>"""
TWO = {"count": 2, "cpu": 100, "memory": 512}


def read(folder: Path, text: str) -> LeaseFile:
    """Read a lease file of this text."""
    path = folder / "r.xml"
    path.write_text(text)
    return read_lease(path)


@pytest.mark.parametrize(
    "text",
    [
        LEASE,
        f'<?xml version="1.0"?>\n<!-- mine -->\n<!DOCTYPE lease SYSTEM "l.dtd">\n{LEASE}',
        f'<lease-request arrival="00:01:00">{LEASE}</lease-request>',
        f'<lease-workload><lease-requests><lease-request arrival="00:00:00">{LEASE}</lease-request></lease-requests>'
        "</lease-workload>",
    ],
)
def test_a_lease_a_request_and_a_trace_of_one_are_the_same(tmp_path: Path, text: str) -> None:
    """With the members that a site takes."""
    expected = {"nodes": 2, "duration": 600, "start": "best_effort", "preemptible": True, "capacity": [TWO]}
    assert read(tmp_path, text) == (expected, ())


@pytest.mark.parametrize(
    ("written", "member"),
    [
        ("<start/>", "best_effort"),
        ("<start><now/></start>", "now"),
        ('<start><exact time="+00:02:00"/></start>', "+00:02:00"),
        ('<start><exact time="00:02:00"/></start>', 120),
        ('<start><exact time="2026-11-25 13:00:00"/></start>', "2026-11-25 13:00:00"),
    ],
)
def test_each_start_is_one_that_a_site_takes(tmp_path: Path, written: str, member: Any) -> None:
    """Relative to now, to the begin of the site, or a date; so are deadlines."""
    found = read(tmp_path, LEASE.replace("<start/>", written)).members
    assert found["start"] == member
    begun = 1_764_000_000.0
    ask_for_lease(msgspec.convert(found, LeaseRequest), Identity("eve", "", asserted=False), 0.0, begun)


def test_nodes_images_and_deadlines_are_members(tmp_path: Path) -> None:
    """Several sets of nodes, with other types; an image with its size."""
    text = LEASE.replace(NODES, f"{NODES}{BIG}</node-set>").replace(
        "<start/>", '<start><exact time="+00:01:00"/></start>'
    )
    text = text.replace("<none/>", '<disk-image id="a.img" size="64"/>')
    found = read(tmp_path, text.replace("<software>", '<deadline time="+01:00:00"/><software>')).members
    assert found["nodes"] == 3
    assert found["capacity"] == [TWO, {"count": 1, "cpu": 50, "memory": 64, "GPU": 1}]
    assert (found["deadline"], found["software"]) == ("+01:00:00", {"image": "a.img", "size": 64})


def test_what_has_no_effect_is_told(tmp_path: Path) -> None:
    """A real duration, and attributes that nobody knows."""
    text = f'<lease-request arrival="00:00:00" a="1"><realduration time="00:01:00"/>{LEASE}</lease-request>'
    assert [line.partition(": ")[2] for line in read(tmp_path, text).notes] == [
        "attribute a of element lease-request is unknown and has no effect (line 1)",
        "realduration is not obeyed: at a live site a lease lasts as long as it was asked for",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "must begin with one of lease-workload, lease-request, lease"),
        ("<leases/>", "must begin with one of lease-workload, lease-request, lease, not leases"),
        ("<lease-workload><lease-requests/></lease-workload>", "must have one request, not 0"),
        (f"\n\n{LEASE.replace('00:10:00', 'soon')}", "line 5, lease-request 1, duration.time: "),
        (LEASE.replace('amount="100"/>', '><instance amount="50"/><instance amount="50"/></res>'), "one instance of"),
        (LEASE.replace("</lease>", ""), "is not XML"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, told: str) -> None:
    """With the line in the file."""
    with pytest.raises(WorkloadError) as error:
        read(tmp_path, text)
    assert told in str(error.value)
