"""`haizea CONF` with the real clock: a live site with the hosts and rules of the configuration (H105)."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from batsched_py.cli.main import run
from batsched_py.site.client import SiteClient
from tests.integration.test_site import wait_for
from tests.site_process import SiteProcess

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

CONF = """
[general]
loglevel: INFO
mode: simulated

[scheduling]
backfilling: intermediate
backfilling-reservations: 4
suspension: all
suspend-rate: 64
resume-rate: 64
suspendresume-exclusion: local
migration: yes
policy-preemption: ar-preempts-everything
wakeup-interval: 10000

[simulation]
clock: real
resources: 4 CPU:100 Memory:1024
imagetransfer-bandwidth: 100

[tracefile]
tracefile: nowhere.lwf
"""


def test_a_configuration_opens_a_site(tmp_path: Path) -> None:
    """A best-effort lease gives way to a reservation, with the times of the configuration, and goes on after a kill."""
    conf = tmp_path / "my.conf"
    conf.write_text(CONF)
    site = SiteProcess(tmp_path, (), ("haizea", str(conf)))
    assert any("tracefile.tracefile: not read, because simulation.clock is real" in line for line in site.told)
    client = site.client()
    assert client.get("api", "clock")["pace"] == 1
    assert len(client.get("api", "hosts")) == 4
    client.put("api", "clock", body={"paused": True})
    client.post("api", "leases", body={"nodes": 4, "duration": 3600})
    client.post("api", "leases", body={"nodes": 2, "duration": 600, "start": 1816})
    site.kill()
    site = SiteProcess(tmp_path, (), ("haizea", str(conf)))
    client = site.client()
    client.put("api", "clock", body={"paused": False, "pace": "max"})
    wait_for(lambda: client.get("api", "leases") == [])
    first, second = client.get("api", "leases", finished="true")
    assert (second["state"], second["start"], second["end"]) == ("Done", 1816, 2416)
    assert (first["state"], first["suspensions"]) == ("Done", 1)
    client.post("api", "close", body={})
    with closing(site.process.stderr or conf.open()):
        assert site.process.wait() == 0
    assert run(["replay", str(tmp_path / "site" / "transcript.jsonl")]) == 0


def has_no_leases(client: SiteClient) -> bool:
    """All have ended."""
    return bool(client.get("api", "leases") == [])


def test_the_log_of_a_site_is_written(tmp_path: Path) -> None:
    """It has each change of a lease once; after a restart it goes on. Its clock is no simulated one."""
    conf = tmp_path / "my.conf"
    conf.write_text(CONF)
    log = tmp_path / "log.txt"
    for number in (1, 2):
        with log.open("a") as output:
            site = SiteProcess(tmp_path, (), ("haizea", str(conf)), output=output)
        client = site.client()
        client.put("api", "clock", body={"paused": True})
        client.post("api", "leases", body={"nodes": number, "duration": 600})
        client.put("api", "clock", body={"paused": False, "pace": "max"})
        wait_for(partial(has_no_leases, client))
        site.end()
    said = [line.partition("] ")[2] for line in log.read_text().splitlines()]
    assert [line for line in said if line.startswith("CLOCK")] == [
        "CLOCK   Starting clock",
        "CLOCK   Clock has stopped",
    ] * 2
    for number in (1, 2):
        assert said.count(f"LSCHED  Lease #{number} has been requested.") == 1
        assert sum(line.startswith("VMSCHED") and f"#{number}" in line for line in said) >= 1
    stops = [position for position, line in enumerate(said) if line == "CLOCK   Clock has stopped"]
    assert said.index("LSCHED  Lease #2 has been requested.") > stops[0]
