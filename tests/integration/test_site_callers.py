"""Callers of a site: whom they may claim to be, and how much one of them may have."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from batsched_py.errors import SiteError
from tests.site_process import SiteProcess, running_site

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

USER, GROUP = "X-Bonfire-Asserted-Id", "X-Bonfire-Asserted-Selected-Group"
OPERATOR = "X-Batsched-Py-Operator"
WEB = {"name": "web", "duration": 60, "resources": [{"compute": {"name": "Server", "locations": ["here"]}}]}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    """A site whose time stands nearly still, with small quotas."""
    quotas = ("--quota-leases", "3", "--quota-experiments", "2", "--quota-megabytes", "0.02")
    with running_site(tmp_path_factory.mktemp("site"), "--pace", "0.001", *quotas) as found:
        yield found


def ask(
    site: SiteProcess, method: str, path: str, headers: Sequence[tuple[str, str]], body: Any = None
) -> tuple[int, Any]:
    """Ask with headers, of which some may be repeated; return status and content."""
    with closing(http.client.HTTPConnection(urlsplit(site.url).netloc, timeout=30)) as connection:
        connection.putrequest(method, path)
        content = None if body is None else json.dumps(body).encode()
        for name, value in headers:
            connection.putheader(name, value)
        connection.putheader("Accept", "application/json")
        if content is not None:
            connection.putheader("Content-Type", "application/json")
            connection.putheader("Content-Length", str(len(content)))
        connection.endheaders(content)
        answer = connection.getresponse()
        found = answer.read()
        return answer.status, json.loads(found) if found else None


@pytest.mark.parametrize(
    ("headers", "rule"),
    [
        ([(USER, "")], "must not be empty: only the operator names no user"),
        ([(USER, "  ")], "must not be empty"),
        ([(USER, "ann"), (USER, "eve")], "must be sent once"),
        ([(USER, "ann"), (USER, "ann")], "must be sent once"),
        ([(USER, "ann"), (GROUP, "a"), (GROUP, "b")], "must be sent once"),
        ([("X_Bonfire_Asserted_Id", "ann")], "must be spelled x-bonfire-asserted-id"),
        ([(USER, "ann"), ("X-Bonfire_Asserted-Selected-Group", "a")], "must be spelled x-bonfire-asserted-selected-gr"),
        ([(USER, "local")], "must not be local, which is the operator"),
        ([(USER, " local ")], "must not be local"),
        ([(USER, "ann,eve")], "must be printable text"),
        ([(OPERATOR, "false")], "must be true"),
        ([(OPERATOR, "true"), (OPERATOR, "true")], "must be true, and be sent once"),
    ],
)
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/leases", None),
        ("GET", "/api/clock", None),
        ("GET", "/api/hosts", None),
        ("PUT", "/api/clock", {"paused": False}),
        ("POST", "/api/leases", {"nodes": 1, "duration": 60}),
        ("POST", "/managed_experiments", WEB),
        ("GET", "/managed_experiments", None),
    ],
)
def test_a_doubtful_identity_is_refused(
    site: SiteProcess, headers: list[tuple[str, str]], rule: str, *, method: str, path: str, body: Any
) -> None:
    """400 everywhere: it is neither the operator nor the first of two."""
    status, content = ask(site, method, path, headers, body)
    assert (status, len(content["problems"])) == (400, 1)
    assert content["problems"][0]["path"].replace("_", "-") in {USER.lower(), GROUP.lower(), OPERATOR.lower()}
    assert rule in content["problems"][0]["message"]


def test_the_operator_has_experiments_by_saying_so(site: SiteProcess) -> None:
    """Without a name; with a name, the name counts."""
    status, content = ask(site, "POST", "/managed_experiments", [(OPERATOR, "true")], WEB)
    assert status == 201
    path = content["href"]
    assert ask(site, "GET", path, [(USER, "ann"), (OPERATOR, "true")])[0] == 403
    assert ask(site, "GET", path, [])[0] == 401
    assert ask(site, "DELETE", path, [(OPERATOR, "true")])[0] == 204


def test_a_user_has_a_number_of_open_leases(site: SiteProcess) -> None:
    """429 with the number; one that is cancelled makes room, and others have their own."""
    ann, bob = site.client("ann"), site.client("bob")
    body = {"nodes": 4, "duration": 600}
    numbers = [ann.post("api", "leases", body=body)["number"] for _ in range(2)]
    ann.post("api", "jobs", body={"nodes": 1, "walltime": 5})
    for path, more in (("leases", body), ("jobs", {"nodes": 1, "walltime": 5})):
        with pytest.raises(
            SiteError, match="you have 3 leases and jobs that have not ended: the quota leases of the user is 3"
        ):
            ann.post("api", path, body=more)
    bob.post("api", "leases", body=body)
    ann.delete("api", "leases", numbers[1])
    follow(site, ann, 2)
    ann.post("api", "leases", body=body)


def follow(site: SiteProcess, client: Any, number: int) -> None:
    """Wait until a user has so many open leases."""
    with closing(http.client.HTTPConnection(urlsplit(site.url).netloc, timeout=60)) as connection:
        connection.request("GET", "/api/events")
        answer = connection.getresponse()
        while len(client.get("api", "leases")) != number:
            assert answer.readline()


def test_a_user_has_a_number_of_experiments(site: SiteProcess) -> None:
    """429; deleted ones do not count."""
    carl = [(USER, "carl")]
    paths = [ask(site, "POST", "/managed_experiments", carl, WEB)[1]["href"] for _ in range(2)]
    status, content = ask(site, "POST", "/managed_experiments", carl, WEB)
    assert (status, content["problems"][0]["message"]) == (
        429,
        "you have 2 experiments and reservations: the quota experiments of the user is 2",
    )
    assert ask(site, "DELETE", paths[0], carl)[0] == 204
    assert ask(site, "POST", "/managed_experiments", carl, WEB)[0] == 201


def test_the_requests_of_a_user_take_a_number_of_bytes(tmp_path: Path) -> None:
    """413, also after a restart; a cancellation is always kept."""
    quota = ("--pace", "0.001", "--quota-megabytes", "0.02")
    large = {"nodes": 1, "duration": 6000, "software": {"image": "x" * 9000, "size": 1}}
    with running_site(tmp_path, *quota) as site:
        dora = site.client("dora")
        numbers = [dora.post("api", "leases", body=large)["number"] for _ in range(2)]
        with pytest.raises(SiteError, match=r"your requests take 18\d+ bytes; the most of a user is 0.02 MB"):
            dora.post("api", "leases", body=large)
        site.client("eric").post("api", "leases", body=large)
    with running_site(tmp_path, *quota) as site:
        dora = site.client("dora")
        with pytest.raises(SiteError, match=r"your requests take 18\d+ bytes"):
            dora.post("api", "leases", body=large)
        waiting = {"nodes": 4, "duration": 6000, "software": {"image": "x" * 1300, "size": 1}}
        number = dora.post("api", "leases", body=waiting)["number"]
        with pytest.raises(SiteError, match=r"your requests take 19\d+ bytes"):
            _ = [dora.post("api", "leases", number, change, body={}) for change in ("hold", "release") * 10]
        with pytest.raises(SiteError, match=r"your requests take 19\d+ bytes"):
            dora.put("api", "leases", number, "priority", body={"priority": -1})
        dora.delete("api", "leases", numbers[0])


def test_a_group_of_leases_is_requested_as_one_lease(site: SiteProcess) -> None:
    """Requests in several calls would be one lease only by chance, if they came at the same instant."""
    status, content = ask(site, "POST", "/api/leases", [(USER, "fred")], {"nodes": 1, "duration": 5, "group": "g"})
    assert status == 422
    assert "unknown field `group`" in content["problems"][0]["message"]
    nodes = [{"count": 1, "cpu": 50}, {"count": 2, "cpu": 100}]
    assert ask(site, "POST", "/api/leases", [(USER, "fred")], {"nodes": 3, "duration": 5, "capacity": nodes})[0] == 201
