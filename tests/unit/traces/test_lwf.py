"""Lease workloads: what is read, what is refused, and that what is written is read as it was."""

from __future__ import annotations

import gzip
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

from batsched_py.errors import WorkloadError
from batsched_py.model.lease_terms import DiskImage, NodeSet
from batsched_py.reading.limits import Limits
from batsched_py.traces.lease_request import LeaseTrace
from batsched_py.traces.lwf import read_lwf, write_lwf
from tests.clone import files
from tests.unit.traces.lwf_files import NODES, REQUEST, SITE, TRACES, document, read, request, written


def test_request(tmp_path: Path) -> None:
    """A request has its terms; the attribute `id` means nothing."""
    trace = read(tmp_path, document(REQUEST))
    nodes = NodeSet(2, {"CPU": 100, "Memory": 1024})
    assert trace.requests == (request(60, 3600, real=600, image=DiskImage("a.img", 640))._replace(nodes=(nodes,)),)
    assert trace.site is not None
    assert (trace.site.types, trace.site.size, trace.name) == (("CPU", "Memory"), 4, "test")


def test_instances(tmp_path: Path) -> None:
    """A type may have several instances; one instance is the amount itself."""
    two = '<res type="CPU"><instance amount="100"/><instance amount="50"/></res>'
    one = '<res type="Memory"><instance amount="512"/></res>'
    nodes = f'<nodes><node-set numnodes="1">{two}{one}</node-set></nodes>'
    (found,) = read(tmp_path, document(REQUEST.replace(NODES, nodes))).requests
    assert found.nodes == (NodeSet(1, {"CPU": (100, 50), "Memory": 512}),)


@pytest.mark.parametrize(
    ("start", "arrival", "seconds"),
    [
        ('<start><exact time="02:00:00"/></start>', "00:15:00", 7200),
        ('<start><exact time="+02:00:00"/></start>', "00:15:00", 8100),
        ('<start><exact time="2006-11-25 15:00:00"/></start>', "00:15:00", 7200),
        ('<start><exact time="2006-11-25 12:59:59"/></start>', "00:15:00", -1),
        ('<start><exact time="01:01:00:00.5"/></start>', "01:00:00:00", 90000.5),
        ("<start>\n</start>", "00:00:00", None),
        ("<start><now/></start>", "00:00:00", "now"),
    ],
)
def test_start(tmp_path: Path, start: str, arrival: str, seconds: float | str | None) -> None:
    """HA-47: a time from the workload's start, with "+" from the arrival; a date is absolute."""
    text = document(REQUEST.replace("<start/>", start).replace("00:01:00", arrival))
    (found,) = read_lwf(written(tmp_path, text), starttime=datetime(2006, 11, 25, 13)).requests
    assert found.start == seconds


def test_deadline(tmp_path: Path) -> None:
    """A deadline is an instant, too."""
    text = document(REQUEST.replace("<software>", '<deadline time="+02:00:00"/><software>'))
    assert read(tmp_path, text).requests[0].deadline == 7260


@pytest.mark.parametrize(("word", "flag"), [("true", True), ("yes", True), ("false", False), ("no", False)])
def test_preemptible(tmp_path: Path, word: str, flag: bool) -> None:
    """The manual's words are read as well as the program's."""
    text = document(REQUEST.replace('preemptible="true"', f'preemptible="{word}"'))
    assert read(tmp_path, text).requests[0].preemptible is flag


def test_hosts_of_several_kinds(tmp_path: Path) -> None:
    """HA-57: the sets of a site are in order."""
    sets = "".join(
        f'<node-set numnodes="{number}"><res type="CPU" amount="100"/><res type="Memory" amount="{memory}"/></node-set>'
        for number, memory in ((4, 1024), (8, 2048))
    )
    site = f'<site><resource-types names="CPU Memory"/><nodes>{sets}</nodes></site>'
    found = read(tmp_path, document(site=site)).site
    assert found is not None
    assert [(one.number, one.resources["Memory"]) for one in found.hosts] == [(4, 1024), (8, 2048)]


def test_types_that_hosts_have_in_plenty(tmp_path: Path) -> None:
    """Nodes may ask for a disk, even if the site does not name it; not so its hosts."""
    disk = '<res type="Disk" amount="5"/></node-set>'
    (found,) = read(tmp_path, document(REQUEST.replace("</node-set>", disk))).requests
    assert found.nodes[0].resources["Disk"] == 5
    with pytest.raises(WorkloadError, match=r"line 1, res\.type: must be one of the site's resource-types, not 'Disk'"):
        read(tmp_path, document(site=SITE.replace("</node-set>", disk)))


def test_what_nothing_reads_is_told_once(tmp_path: Path) -> None:
    """By its element, where it first stands; the requests are read without it. Those that are known are not told."""
    odd = REQUEST.replace('id="7"', 'id="7" colour="red"').replace("<start/>", '<start time="5"/>')
    extra = '<extra><attr name="simul_userrate" value="1.0"/></extra></lease>'
    odd = odd.replace("</lease>", extra).replace("<software>", "<software>lost")
    trace, plain = read(tmp_path, document(odd, odd)), read(tmp_path, document(REQUEST, REQUEST))
    file = tmp_path / "trace.lwf"
    often = "(2 times, first in line 3)"
    assert trace.notes == (
        f"{file}: attribute colour of element lease is unknown and has no effect {often}",
        f"{file}: attribute time of element start is unknown and has no effect {often}",
        f"{file}: text in element software has no effect {often}",
        f"{file}: element extra of a lease is not obeyed: its attributes are for policies of Haizea 1.1 {often}",
    )
    assert (trace.requests, plain.notes) == (plain.requests, ())


def test_many_attributes_that_nothing_reads(tmp_path: Path) -> None:
    """Fifty are told, and how many others there are; none of their names breaks a line."""
    odd = " ".join(f'a{number:02}="1"' for number in range(60))
    told = read(tmp_path, document(REQUEST.replace('id="7"', f'id="7" {odd}'))).notes
    assert len(told) == 51
    assert told[50].endswith("10 more of other kinds are not listed")


def test_annotations_are_not_leases(tmp_path: Path) -> None:
    """A file of them (.lwfa) is named as what it is."""
    path = tmp_path / "a.lwfa"
    path.write_text("<lease-annotations><lease-annotation/></lease-annotations>")
    with pytest.raises(WorkloadError, match="has annotations of leases, which are not read"):
        read_lwf(path)


def test_no_requests(tmp_path: Path) -> None:
    """HA-52: an empty trace is one."""
    assert read(tmp_path, document(site="")) == LeaseTrace(str(tmp_path / "trace.lwf"), (), None, "test")


def test_compressed(tmp_path: Path) -> None:
    """A trace compressed by gzip is known by its first bytes."""
    text = document(REQUEST).encode()
    assert read(tmp_path, gzip.compress(text, mtime=0)) == read(tmp_path, text)


@pytest.mark.parametrize("path", files("tests/data/haizea/*/*.lwf"), ids=lambda path: path.parent.name)
def test_recorded_traces(tmp_path: Path, path: Path) -> None:
    """Traces that the original read are read, and written without loss."""
    trace = read_lwf(path)
    assert len(trace.requests) == path.read_text().count("<lease-request ")
    write_lwf(tmp_path / "again.lwf", trace)
    assert read_lwf(tmp_path / "again.lwf")._replace(source=trace.source) == trace


@given(trace=TRACES)
def test_what_is_written_is_read_as_it_was(trace: LeaseTrace) -> None:
    """All terms, and fractions of seconds to the last digit."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.lwf"
        write_lwf(path, trace)
        first = path.read_bytes()
        found = read_lwf(path)
        assert found._replace(source="trace.lwf") == trace
        write_lwf(path, found)
        assert path.read_bytes() == first


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ('arrival="00:01:00"', "", "line 3, lease-request 1, lease-request.arrival: is missing"),
        ("00:01:00", "1:00", "lease-request.arrival: must be [DD:]HH:MM:SS[.ss], not '1:00'"),
        ("00:01:00", "-00:01:00", "lease-request.arrival: must be [DD:]HH:MM:SS[.ss], not '-00:01:00'"),
        ("00:01:00", "00:60:00", "lease-request.arrival: must be [DD:]HH:MM:SS[.ss], not '00:60:00'"),
        ("00:01:00", "999999999:00:00:00", "lease-request.arrival: must be at most 60000000000 s"),
        ("00:10:00", "00:00:00", "realduration.time: must be greater than 0 s, not '00:00:00'"),
        ("01:00:00", "00:00:00", "duration.time: must be greater than 0 s, not '00:00:00'"),
        ('<duration time="01:00:00"/>', "<duration>3600</duration>", "lease-request 1, duration.time: is missing"),
        ('<duration time="01:00:00"/>', "", "lease-request 1, lease.duration: is missing"),
        (' preemptible="true"', "", "lease-request 1, lease.preemptible: is missing"),
        ('preemptible="true"', 'preemptible="maybe"', "lease.preemptible: must be true or false, not 'maybe'"),
        ("<start/>", "", "lease.start: is missing"),
        ("<start/>", "<start/><start/>", "start: is given twice in lease"),
        ("<start/>", "<start><later/></start>", "line 3: 'later' is not an element of a lease workload's start"),
        ("<start/>", '<start><now/><exact time="00:00:01"/></start>', "start: must be empty, or have one of exact and"),
        ("<start/>", "<start><exact/></start>", "exact.time: is missing"),
        ("<start/>", '<start><exact time="soon"/></start>', "exact.time: must be [DD:]HH:MM:SS[.ss], not 'soon'"),
        ("<start/>", '<start><exact time="+"/></start>', "exact.time: must be [DD:]HH:MM:SS[.ss], not ''"),
        ("<start/>", '<start><exact time="2006-11-25"/></start>', "exact.time: is a date, '2006-11-25', and it is not"),
        ("<start/>", '<start><exact time="2006-13-25"/></start>', "must be like 2006-11-25 15:00:00, not '2006-13-25'"),
        ("<start/>", '<start><exact time="+60000000001"/></start>', "exact.time: must be [DD:]HH:MM:SS[.ss], not"),
        ("<start/>", '<start><exact time="+694444:10:40:00"/></start>', "exact.time: must be at most 60000000000 s"),
        (
            "<start/>",
            '<start><now/></start><deadline time="01:00:00"/>',
            "lease-request 1, deadline: cannot be combined with an immediate start",
        ),
        ("<software>", '<deadline time="x"/><software>', "deadline.time: must be [DD:]HH:MM:SS[.ss], not 'x'"),
        (NODES, "", "lease.nodes: is missing"),
        (NODES, "<nodes/>", "nodes.node-set: is missing"),
        ('numnodes="2"', 'numnodes="0"', "node-set.numnodes: must be a whole number from 1, not '0'"),
        ('numnodes="2"', "", "node-set.numnodes: is missing"),
        ('numnodes="2"', 'numnodes="2000000"', "node-set.numnodes: makes 2000000 nodes; they must be at most 1048576"),
        ('amount="1024"', 'amount="-5"', "res.amount: must be a whole number from 1, not '-5'"),
        ('amount="1024"', "", "res.amount: is missing"),
        ('amount="1024"/>', 'amount="1"><instance amount="1"/></res>', "res.amount: cannot be combined with instances"),
        ('amount="1024"/>', "><instance/></res>", "instance.amount: is missing"),
        ('<res type="CPU" amount="100"/>', "", "node-set: must have a res of type CPU"),
        ('<res type="Memory" amount="1024"/>', "", "node-set: must have a res of type Memory"),
        ('type="Memory"', 'type="CPU"', "res.type: is given twice in node-set: 'CPU'"),
        ('type="Memory"', 'type="Ponies"', "res.type: must be one of the site's resource-types, not 'Ponies'"),
        ('type="Memory"', 'type="memory"', "res.type: must not be a type named memory; there are CPU and Memory"),
        ('type="Memory"', 'type="a b"', "res.type: must be a type of letters, digits and - . _"),
        ('id="a.img"', 'id=""', "disk-image.id: must not be empty, not ''"),
        ('id="a.img"', 'id="a,b"', "disk-image.id: must have no comma, double quote"),
        ('size="640"', 'size="big"', "disk-image.size: must be a whole number from 1, not 'big'"),
        ('<disk-image id="a.img" size="640"/>', "", "software: must have one of none and disk-image"),
        ('<disk-image id="a.img" size="640"/>', "<none/><none/>", "none: is given twice in software"),
        ("<realduration", "<realdurations", "line 3: 'realdurations' is not an element of a lease workload's"),
    ],
)  # fmt: skip
def test_broken_rules_of_requests(tmp_path: Path, right: str, wrong: str, message: str) -> None:
    """One line names file, line, request, element and rule."""
    text = REQUEST.replace(right, wrong)
    assert text != REQUEST
    check_refusal(tmp_path, document(text), message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not XML: no element found"),
        ("1 0 -1 60 4", "is not XML: syntax error"),
        (document(REQUEST)[:-9], "is not XML: unclosed token"),
        ("<platform/>", "line 1, platform: must be a lease-workload element, not 'platform': this is"),
        ('<lease-workload name="x"/>', "line 1, lease-workload.lease-requests: is missing"),
        (document(site=SITE + SITE), "line 1, site: is given twice in lease-workload"),
        (document(site="<site/>"), "line 1, site.resource-types: is missing"),
        (document(site=SITE.replace("CPU Memory", "CPU")), "line 1, resource-types.names: must have Memory"),
        (document(site=SITE.replace("CPU Memory", "CPU Memory CPU")), "resource-types.names: must name each type once"),
        (document(site=SITE.replace("CPU Memory", "CPU Memory :")), "resource-types.names: must be a type of letters"),
        (document(site=SITE.replace('"4"', '"-4"')), "line 1, node-set.numnodes: must be a whole number from 1"),
    ],
)  # fmt: skip
def test_broken_rules_of_files(tmp_path: Path, text: str, message: str) -> None:
    """The elements around the requests have rules, too."""
    check_refusal(tmp_path, text, message)


@pytest.mark.parametrize(
    ("head", "start"),
    [
        ('<!DOCTYPE a [<!ENTITY b "c">]>', ""),
        ('<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;&b;&b;&b;">]>', "&d;"),
        ('<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>', "&b;"),
        ('<!DOCTYPE a [<!ENTITY % b SYSTEM "http://127.0.0.1:1/"> %b;]>', ""),
    ],
)
def test_hostile_xml(tmp_path: Path, head: str, start: str) -> None:
    """Entities are refused, whatever they are for."""
    text = head + document(REQUEST.replace("<start/>", f"<start>{start}</start>"))
    check_refusal(tmp_path, text, "must not define or fetch entities")


@pytest.mark.parametrize("tag", ["a", "nodes", "lease-workload"])
def test_deep_elements(tmp_path: Path, tag: str) -> None:
    """Nothing nests deeper than the format: the reading ends at the first that is not of it."""
    check_refusal(tmp_path, f"<{tag}>" * 200_000, "line 1")


def test_limits(tmp_path: Path) -> None:
    """The numbers of requests and of nodes, and the length of names, have limits."""
    path = written(tmp_path, document(REQUEST, REQUEST))
    assert len(read_lwf(path, limits=Limits(jobs=2)).requests) == 2
    for limits, message in (
        (Limits(jobs=1), r"line 4, lease-request 2, lease-request: is one too many: a workload must be at most 1 jobs"),
        (Limits(hosts=3), r"line 1, node-set\.numnodes: makes 4 nodes; they must be at most 3 hosts"),
        (Limits(name_size=4), r"disk-image\.id: must be at most 4 characters"),
        (Limits(file_size=500), "must be at most 500 bytes"),
    ):
        with pytest.raises(WorkloadError, match=message):
            read_lwf(path, limits=limits)


def test_a_date_that_is_too_far_away(tmp_path: Path) -> None:
    """More than LONGEST after the workload's start."""
    far = REQUEST.replace("<start/>", '<start><exact time="9999-01-01"/></start>')
    with pytest.raises(WorkloadError, match=r"exact\.time: must be at most 60000000000 s"):
        read_lwf(written(tmp_path, document(far)), starttime=datetime(2, 1, 1))


def test_a_file_that_cannot_be_written_is_left_alone(tmp_path: Path) -> None:
    """Nothing half-written: the old content stays, and no other file is beside it."""
    trace = read_lwf(written(tmp_path, document(REQUEST)))
    (tmp_path / "taken").mkdir()
    with pytest.raises(WorkloadError, match=r"taken: cannot be written: "):
        write_lwf(tmp_path / "taken", trace)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["taken", "trace.lwf"]


def test_missing_file(tmp_path: Path) -> None:
    """The error names it."""
    with pytest.raises(WorkloadError, match=r"none\.lwf: cannot be read: No such file"):
        read_lwf(tmp_path / "none.lwf")


def test_what_cannot_be_written(tmp_path: Path) -> None:
    """LWF has whole amounts, and no time before its start; nothing is left of the file."""
    path = tmp_path / "out.lwf"
    half = request()._replace(nodes=(NodeSet(1, {"CPU": 0.5, "Memory": 1}),))
    odd = request(image=DiskImage("a\uffff", 1))
    with pytest.raises(WorkloadError, match="the name of its image must be printable"):
        write_lwf(path, LeaseTrace("", (odd,)))
    with pytest.raises(WorkloadError, match=r"lease-request 2: cannot be written as LWF: its CPU must be a whole n"):
        write_lwf(path, LeaseTrace("", (request(), half)))
    with pytest.raises(
        WorkloadError, match=r"lease-request 1: cannot be written as LWF: .* before the workload's start"
    ):
        write_lwf(path, LeaseTrace("", (request(start=-1),)))
    assert not list(tmp_path.iterdir())


def check_refusal(tmp_path: Path, text: str, message: str) -> None:
    """Check that the text is refused by one line with the file and this message."""
    with pytest.raises(WorkloadError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'trace.lwf'}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
