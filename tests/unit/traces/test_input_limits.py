"""Platforms and workloads that ask for more than a machine has, in a few bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from batsched_py.errors import PlatformError, WorkloadError
from batsched_py.reading.limits import Limits
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.event_file import read_events
from batsched_py.traces.simgrid_xml import read_platform
from tests.memory import measured
from tests.unit.reading.test_limits import nested

HOST = '<host id="h" speed="1Gf"/>'
CLUSTER = '<cluster id="c" prefix="{prefix}" suffix="" radical="{radical}" speed="1Gf" bw="1Gbps" lat="1us"/>'
JOB = {"id": "1", "subtime": 0, "res": 1, "profile": "p"}
DELAY = {"type": "delay", "delay": 5}


def platform_file(tmp_path: Path, inside: str) -> Path:
    """A platform of these elements."""
    path = tmp_path / "p.xml"
    path.write_text(f'<?xml version="1.0"?><platform version="4.1">{inside}</platform>')
    return path


def workload_file(tmp_path: Path, jobs: list[Any], profiles: dict[str, Any]) -> Path:
    """A workload of these."""
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    return path


def zones(depth: int) -> str:
    """A host inside so many zones."""
    opened = "".join(f'<zone id="z{number}" routing="None">' for number in range(depth))
    return opened + HOST + "</zone>" * depth


def chain(depth: int) -> dict[str, Any]:
    """Profiles of which each is composed of the one before; the deepest first, as a reader meets them."""
    composed = {f"p{level}": {"type": "composed", "seq": [f"p{level - 1}"] * 2} for level in range(depth, 0, -1)}
    return {**composed, "p0": DELAY}


@pytest.mark.parametrize("radical", ["0-9999999", ",".join(["0-999999"] * 200), "5,0-1048575"])
def test_hosts_are_counted_before_they_are_made(tmp_path: Path, radical: str) -> None:
    """A hundred bytes would be gigabytes of hosts."""
    path = platform_file(tmp_path, CLUSTER.format(prefix="n", radical=radical))
    rule = r"cluster c\.radical: makes \d+ hosts .* must be at most 1048576 hosts \(--limit hosts=N allows more\)"
    with measured() as memory, pytest.raises(PlatformError, match=rule):
        read_platform(path)
    assert memory.peak < 1_000_000


def test_hosts_of_several_clusters_are_counted_together(tmp_path: Path) -> None:
    """With those that stand alone."""
    both = CLUSTER.format(prefix="a", radical="0-9") + CLUSTER.format(prefix="b", radical="0-9").replace('"c"', '"d"')
    alone = f'<zone id="a" routing="None">{HOST}</zone>'
    path = platform_file(tmp_path, f'<zone id="z" routing="Full">{alone}{both}</zone>')
    assert len(read_platform(path, limits=Limits(hosts=21)).hosts) == 21
    with pytest.raises(PlatformError, match=r"cluster d\.radical: makes 21 hosts"):
        read_platform(path, limits=Limits(hosts=20))


def test_single_hosts_are_counted(tmp_path: Path) -> None:
    """The one too many is named."""
    other = HOST.replace('"h"', '"i"')
    path = platform_file(tmp_path, f'<zone id="z" routing="None">{HOST}{other}</zone>')
    with pytest.raises(PlatformError, match="is one host too many: a platform must be at most 1 hosts"):
        read_platform(path, limits=Limits(hosts=1))


def test_zones_are_as_deep_as_the_limit(tmp_path: Path) -> None:
    """The first that is deeper is named; a document of very many levels is not read at all."""
    assert len(read_platform(platform_file(tmp_path, zones(100))).hosts) == 1
    rule = "zone z100: is inside of 100 zones, which must be at most 100 levels deep"
    for depth in (101, 150):
        with pytest.raises(PlatformError, match=rule):
            read_platform(platform_file(tmp_path, zones(depth)))
    for depth in (2000, 100_000):
        with pytest.raises(PlatformError, match="must not nest deeper than"):
            read_platform(platform_file(tmp_path, zones(depth)))


def test_zones_do_not_multiply_what_they_inherit(tmp_path: Path) -> None:
    """Each zone has the properties of those around it: a square of what the file says."""
    around = "".join(f'<prop id="p{number}" value=""/>' for number in range(1000))
    inner = "".join(f'<zone id="z{number}" routing="None"><prop id="own" value=""/></zone>' for number in range(1000))
    alone = f'<zone id="a" routing="None">{HOST}</zone>'
    path = platform_file(tmp_path, f'<zone id="z" routing="None">{around}{alone}{inner}</zone>')
    with pytest.raises(PlatformError, match="zones inherit too many properties"):
        read_platform(path, limits=Limits(hosts=10_000))
    assert len(read_platform(path, limits=Limits(hosts=111_000)).zones) == 1002


def test_names_of_many_hosts_are_short(tmp_path: Path) -> None:
    """A long prefix would be written a million times."""
    path = platform_file(tmp_path, CLUSTER.format(prefix="n" * 1001, radical="0-99999"))
    with measured() as memory, pytest.raises(PlatformError, match=r"\.prefix: must be at most 1000 characters in a n"):
        read_platform(path)
    assert memory.peak < 1_000_000


@pytest.mark.parametrize("depth", [101, 500, 2000, 20_000])
def test_composed_profiles_are_as_deep_as_the_limit(tmp_path: Path, depth: int) -> None:
    """Two times itself on each level: what is played is a power of that."""
    assert len(read_workload(workload_file(tmp_path, [], chain(100))).profiles) == 101
    with pytest.raises(WorkloadError, match=r"profiles\.p101\.seq: must be at most 100 levels deep \(--limit depth=N"):
        read_workload(workload_file(tmp_path, [], chain(depth)))


@pytest.mark.parametrize(("levels", "limits"), [(99, Limits()), (149, Limits(depth=150))])
def test_json_of_jobs_and_profiles_is_as_deep_as_the_limit(tmp_path: Path, levels: int, limits: Limits) -> None:
    """The job or the profile itself is the first level."""
    for jobs, profiles, where in (
        ([{**JOB, "mine": "INNER"}], {"p": DELAY}, r"jobs\[0\]"),
        ([JOB], {"p": {**DELAY, "mine": "INNER"}}, r"profiles\.p"),
        ([JOB], {"p": DELAY, "s": {"type": "send", "msg": {}, "mine": "INNER"}}, r"profiles\.s"),
    ):
        path = workload_file(tmp_path, jobs, profiles)
        text = path.read_text()
        path.write_text(text.replace('"INNER"', json.dumps(nested(levels - 1, {}))))
        read_workload(path, limits=limits)
        for deeper in (levels, 400):
            path.write_text(text.replace('"INNER"', json.dumps(nested(deeper, {}))))
            with pytest.raises(WorkloadError, match=f"{where}: must be at most {limits.depth} levels deep"):
                read_workload(path, limits=limits)


def test_jobs_are_counted(tmp_path: Path) -> None:
    """Before any is read."""
    path = workload_file(tmp_path, [JOB, {**JOB, "id": "2"}], {"p": DELAY})
    assert len(read_workload(path, limits=Limits(jobs=2)).jobs) == 2
    with pytest.raises(WorkloadError, match=r"jobs: must be at most 1 jobs \(--limit jobs=N"):
        read_workload(path, limits=Limits(jobs=1))


def test_events_name_hosts_that_may_be_there(tmp_path: Path) -> None:
    """Hosts beyond a small machine are refused before bits are made."""
    path = tmp_path / "events.txt"
    lines = [
        json.dumps({"timestamp": 1, "type": "machine_unavailable", "resources": f"{number} 1000000"})
        for number in range(2000)
    ]
    path.write_text("\n".join(lines))
    with measured() as memory, pytest.raises(WorkloadError, match=r"txt:1: resources: .*host 1000000 is above 1023"):
        read_events(path, hosts=4)
    assert memory.peak < 1_000_000


@pytest.mark.parametrize("member", ["timestamp", "type", "resources", "mine"])
def test_events_are_as_deep_as_the_limit(tmp_path: Path, member: str) -> None:
    """A forwarded event is written again."""
    path = tmp_path / "events.txt"
    event = {"timestamp": 1, "type": "mine", "resources": "0"}
    path.write_text(json.dumps({**event, member: nested(500)}))
    with pytest.raises(WorkloadError, match=r"txt:1: must be at most 100 levels deep \(--limit depth=N"):
        read_events(path)
