"""Events of a site: each client is sent what has changed since its last event, of what it may read."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.integration.test_site import wait_for
from tests.integration.test_site_callers import OPERATOR, USER, WEB, ask
from tests.site_process import SiteProcess, running_site

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

STILL: Final = ("--pace", "0.001")


@contextmanager
def events(site: SiteProcess, last: str = "", **headers: str) -> Iterator[Iterator[tuple[str, dict[str, Any]]]]:
    """The events `change` for a client, each with its id."""
    sent = {**headers, **({"Last-Event-ID": last} if last else {})}
    request = urllib.request.Request(f"{site.url.rstrip('/')}/api/events", headers=sent)
    with urllib.request.urlopen(request, timeout=60) as answer:
        yield read(line.decode().strip() for line in answer)


def read(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of a stream."""
    event: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            event[name] = value
        else:
            if event.get("event") == "change":
                yield event["id"], json.loads(event["data"])
            event = {}


def until(stream: Iterator[tuple[str, dict[str, Any]]], *numbers: int) -> tuple[str, list[dict[str, Any]]]:
    """Read until leases with these numbers have changed; return the last id, and all changes."""
    found, missing = list[dict[str, Any]](), set(numbers)
    while missing:
        id, data = next(stream)
        found.append(data["changes"])
        missing -= {lease["number"] for lease in data["changes"]["leases"]}
    return id, found


def test_a_client_gets_changes_and_goes_on_after_its_last_event(tmp_path: Path) -> None:
    """A new client reads all; another one goes on where it was, unless the site was started again meanwhile."""
    with running_site(tmp_path, *STILL) as site:
        client = site.client()
        client.post("api", "leases", body={"nodes": 4, "duration": 600})
        with events(site) as stream:
            assert next(stream)[1]["changes"] is None
            client.post("api", "leases", body={"nodes": 1, "duration": 60})
            last, changes = until(stream, 2)
            assert not [one for change in changes[1:] for one in change["leases"] if one["number"] == 1]
            assert changes[-1]["queue"]
        client.delete("api", "leases", 1)
        wait_for(lambda: client.get("api", "leases", 2)["state"] == "Active")
        with events(site, last) as stream:
            _, changes = until(stream, 1, 2)
        [blocks] = [one["blocks"] for one in changes[-1]["schedule"] if one["lease"] == 2]
        assert [(one["kind"], one["phase"]) for one in blocks] == [("vm", "under way"), ("shutdown", "planned")]
        with events(site, f"{last}0") as stream:
            assert next(stream)[1]["changes"] is None
    with running_site(tmp_path, *STILL) as site, events(site, last) as stream:
        assert next(stream)[1]["changes"] is None


def test_changes_of_others_are_not_sent(tmp_path: Path) -> None:
    """Their leases and experiments, that is: all may see which hosts are used, and when."""
    with running_site(tmp_path, *STILL) as site, events(site, **{USER: "bob"}) as stream:
        next(stream)
        assert ask(site, "POST", "/managed_experiments", [(USER, "ann")], WEB)[0] == 201
        site.client("ann").post("api", "leases", body={"nodes": 1, "duration": 60})
        number = site.client("bob").post("api", "leases", body={"nodes": 1, "duration": 60})["number"]
        _, changes = until(stream, number)
        assert {lease["number"] for change in changes for lease in change["leases"]} == {number}
        assert [one for change in changes for one in change["experiments"]] == []
        assert {one["lease"] for change in changes for one in change["schedule"]} >= {2, number}


def test_experiments_that_change_and_are_deleted_are_sent(tmp_path: Path) -> None:
    """As in their list, which says neither resources nor log."""
    operator = [(OPERATOR, "true")]
    with running_site(tmp_path, "--pace", "60") as site, events(site, **{OPERATOR: "true"}) as stream:
        next(stream)
        assert ask(site, "POST", "/managed_experiments", operator, WEB)[0] == 201
        state = ""
        while state != "DEPLOYED":
            for one in next(stream)[1]["changes"]["experiments"]:
                assert (one["id"], one["name"]) == ("1", "web")
                assert "resources" not in one
                state = one["status"]
        assert ask(site, "DELETE", "/managed_experiments/1", operator)[0] == 204
        while next(stream)[1]["changes"]["deleted"] != [1]:
            pass
