"""Changes of one thing that come at the same time: one is accepted, and the others are refused, not ignored."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from batsched_py.errors import SiteError
from batsched_py.site.site import JOURNAL
from tests.integration.test_site_callers import USER, WEB
from tests.integration.test_site_callers import ask as call
from tests.site_process import SiteProcess, running_site

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

#: The number of calls at the same time.
MANY = 12
#: A job that waits or runs until the site is killed.
JOB = {"nodes": 4, "walltime": 600}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    """A site of four hosts, whose time stands nearly still, with a lease that runs on all of them."""
    options = ("--pace", "0.001", "-o", "reservations=on")
    with running_site(tmp_path_factory.mktemp("site"), *options) as running:
        running.client().post("api", "leases", body={"nodes": 4, "duration": 6000})
        yield running


def at_once(site: SiteProcess, method: str, path: str, body: Any = None, user: str = "") -> Counter[int]:
    """Send the same call many times at the same time; return the statuses of the answers."""
    headers = [(USER, user)] if user else []
    with ThreadPoolExecutor(MANY) as pool:
        return Counter(status for status, _ in pool.map(lambda _: call(site, method, path, headers, body), range(MANY)))


def test_one_of_many_changes_of_a_lease_is_accepted(site: SiteProcess) -> None:
    """Holds, releases and cancellations; a lease that is being cancelled is not held."""
    number = site.client("ann").post("api", "leases", body={"nodes": 4, "duration": 60})["number"]
    lease = f"/api/leases/{number}"
    assert at_once(site, "POST", f"{lease}/hold", {}, "ann") == {204: 1, 409: MANY - 1}
    assert site.client("ann").get("api", "leases", number)["held"] == "user"
    assert at_once(site, "POST", f"{lease}/release", {}, "ann") == {204: 1, 409: MANY - 1}
    assert at_once(site, "DELETE", lease, user="ann") == {204: 1, 409: MANY - 1}
    assert call(site, "POST", f"{lease}/hold", [(USER, "ann")], {})[0] == 409


def test_a_priority_is_only_lowered_also_by_calls_at_the_same_time(site: SiteProcess) -> None:
    """Each is compared with the one accepted before."""
    ann = site.client("ann")
    number = ann.post("api", "leases", body={"nodes": 4, "duration": 60})["number"]
    ann.put("api", "leases", number, "priority", body={"priority": -5})
    with pytest.raises(SiteError, match="only an operator may raise its priority, which is -5"):
        ann.put("api", "leases", number, "priority", body={"priority": -4})


def test_one_of_many_deletions_is_accepted(site: SiteProcess) -> None:
    """Experiments and reservations."""
    for resource in ("managed_experiments", "reservations"):
        status, made = call(site, "POST", f"/{resource}", [(USER, "ann"), ("Accept", "application/json")], WEB)
        assert status == 201
        assert at_once(site, "DELETE", made["href"], user="ann") == {204: 1, 404: MANY - 1}


def test_one_of_many_changes_of_hosts_is_accepted(site: SiteProcess) -> None:
    """Drains, failures, and returns, which end both together."""
    assert at_once(site, "POST", "/api/hosts/drain", {"hosts": "2-3"}) == {204: 1, 409: MANY - 1}
    assert at_once(site, "POST", "/api/hosts/fail", {"hosts": "3"}) == {204: 1, 409: MANY - 1}
    assert at_once(site, "POST", "/api/hosts/return", {"hosts": "2-3"}) == {204: 1, 409: MANY - 1}


def test_requests_behind_one_that_closes_the_site_are_refused(tmp_path: Path) -> None:
    """Although they wait for the disk together, and would be written together."""
    calls = [("jobs", JOB), ("jobs", JOB), ("close", {}), ("close", {}), ("jobs", JOB)]
    with running_site(tmp_path, "--pace", "0.001") as site, ExitStack() as stack:
        site.client().post("api", "jobs", body=JOB)
        disk = stack.enter_context(closing(sqlite3.connect(tmp_path / "site" / JOURNAL)))
        disk.execute("BEGIN IMMEDIATE")  # the site waits for the disk
        asked = [stack.enter_context(closing(sent(site, f"/api/{path}", body))) for path, body in calls]
        disk.execute("ROLLBACK")
        answers = [stack.enter_context(one.getresponse()) for one in asked]
        assert [one.status for one in answers] == [201, 201, 202, 503, 503]
        refused = [json.load(one)["problems"][0]["message"] for one in answers[3:]]
        assert all(message.startswith("the site was closed") for message in refused)
        site.kill()
    with closing(sqlite3.connect(tmp_path / "site" / JOURNAL)) as disk:
        kinds = [kind for (kind,) in disk.execute("SELECT kind FROM requests ORDER BY number")]
    assert kinds == ["submit_job"] * 3 + ["close_site"]


def sent(site: SiteProcess, path: str, body: Any) -> HTTPConnection:
    """Send a call, and wait until the site has read it, but not for its answer."""
    connection = HTTPConnection(site.url.removeprefix("http://"), timeout=30)
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    for _ in range(5):
        site.client().get("api", "site")
    return connection
