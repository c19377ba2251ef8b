"""Timelines in front of a live site: how they stand, resumes, entries that are added; over HTTP, and over a kill."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.main import run
from batsched_py.errors import SiteError
from batsched_py.site.client import SiteClient
from tests.integration.test_site import wait_for
from tests.site_process import SiteProcess, running_site

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

#: FA-1; the start is at 60, after the buffer.
DOCUMENT = {
    "vms": {
        "vm": [
            {"at": 10, "run": "first"},
            {"at": 15, "break": True},
            {"at": 30, "run": "second"},
            {"at": 50, "run": "third"},
        ],
        "spare": [{"at": 1, "run": "idle"}],
    }
}
OPTIONS = ("--pace", "max", "-s", "timelines", "-o", "file=timelines.json")


def pass_time(client: SiteClient, until: float) -> None:
    """Let simulated time pass on a site that is as fast as it can: by a lease that ends then."""
    number = client.post("api", "leases", body={"nodes": 1, "duration": 1, "start": until - 1})["number"]
    wait_for(lambda: client.get("api", "leases", number)["state"] == "Done")


def times(client: SiteClient) -> dict[str, float | None]:
    """Return experiment times of entries."""
    return {one["name"]: one["time"] for one in client.get("api", "timelines", "vm", "entries")}


def refusal(client: SiteClient, *path: str, body: Any) -> str:
    """Return why something is refused."""
    with pytest.raises(SiteError) as refused:
        client.post("api", "timelines", *path, body=body)
    return str(refused.value)


def test_a_break_that_survives_a_kill_is_resumed(tmp_path: Path) -> None:
    """FA-57: killed at 500 while held, resumed at 1000; what is added then is moved by the break as the others are."""
    (tmp_path / "timelines.json").write_text(json.dumps(DOCUMENT))
    site = SiteProcess(tmp_path, OPTIONS)
    client = site.client()
    pass_time(client, 560.0)
    before = client.get("api", "timelines")
    vm, spare = before["vms"]
    assert (before["vm_count"], before["held"]) == (2, 1)
    assert [part["vms"] for part in client.parts("api", "timelines", limit=1)] == [[vm], [spare]]
    assert client.get("api", "timelines", newest="true", text="BREAK@")["vms"] == [vm]
    assert client.get("api", "timelines", in_state="failed")["vms"] == []
    assert (before["start"], before["launch_to_start"], before["since_start"]) == (60, 60, 500)
    assert (vm["state"], vm["held_by"], vm["held_since"], vm["next_entry"]) == ("configured", "break@15", 15, "second")
    assert vm["next_time"] is None
    site.kill()
    with running_site(tmp_path, *OPTIONS) as again:
        client = again.client()
        assert client.get("api", "timelines")["vms"] == [vm, spare]
        pass_time(client, 1060.0)
        client.post("api", "timelines", "vm", "entries", body={"at": 60, "run": "late", "takes": 5})
        client.post("api", "timelines", "resume", body={"vms": ["vm"]})
        wait_for(lambda: times(client).get("late"))
        assert times(client) == {"first": 10, "break@15": 15, "second": 1015, "third": 1035, "late": 1045}
        assert client.get("api", "timelines")["vms"][0]["held_by"] is None
        outcomes = [
            [(one["name"], one["outcome"]) for one in part]
            for part in client.parts("api", "timelines", "vm", "entries", limit=2, newest="true", in_state="done")
        ]
        assert outcomes == [
            [("late", "done"), ("third", "done")],
            [("second", "done"), ("break@15", "done")],
            [("first", "done")],
        ]
        check_refusals(again, client)
        client.post("api", "close", body={})
        again.process.communicate()
        assert again.process.returncode == 0
    transcript, file = tmp_path / "site" / "transcript.jsonl", tmp_path / "timelines.json"
    assert run(["replay", str(transcript), "-o", f"file={file}"]) == 0


def check_refusals(site: SiteProcess, client: SiteClient) -> None:
    """Only the operator may write; what is wrong is named."""
    assert "operator" in refusal(site.client("ann"), "resume", body={})
    assert refusal(client, "resume", body={"vms": ["nobody"]}).startswith("vms: VM 'nobody': ")
    assert refusal(client, "nobody", "entries", body={"at": 5, "run": "x"}) == "there is no VM nobody"
    assert refusal(client, "vm", "entries", body={"at": 0, "run": "x"}).startswith("at: must not be 0")
    assert refusal(client, "vm", "entries", body={"at": 5, "run": "x", "kind": "y", "with": {"a": 1 << 70}}) != ""
    assert refusal(client, "vm", "entries", body={"at": 5, "run": "x", "added": 7}).startswith("added: ")
