"""Roles at a site with users: each call of the API, by each kind of caller."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

from batsched_py.errors import SiteError
from batsched_py.site.users import add_user, remove_user
from tests.docs.site_api import schema
from tests.integration.test_site import wait_for
from tests.integration.test_site_callers import GROUP, OPERATOR, USER, WEB, ask
from tests.site_process import SiteProcess, running_site

MANAGED: Final = "/managed_experiments"
LEASE: Final = {"nodes": 1, "duration": 600}
#: A lease that waits, as an experiment has a host.
WAITING: Final = {"nodes": 4, "duration": 600}
#: Callers: no token, a wrong one, the owner of a lease and an experiment, a member of the owner's group, another user,
#: and an operator.
CALLERS: Final = ("none", "wrong", "owner", "member", "other", "operator")
#: Calls that all users may use, that only operators may, that depend on the owner, and that owners may change.
ALL: Final = (401, 401, 200, 200, 200, 200)
ASKED: Final = (401, 401, 201, 201, 201, 201)
OPERATORS: Final = (401, 401, 403, 403, 403, 200)
DONE_BY_OPERATORS: Final = (401, 401, 403, 403, 403, 204)
READ: Final = (401, 401, 200, 200, 403, 200)
CHANGED: Final = (401, 401, 204, 403, 403, 204)
#: The site runs no timelines: who may, learns that.
NO_TIMELINES: Final = (401, 401, 404, 404, 404, 404)
OWN_READ: Final = (401, 401, 404, 404, 403, 404)
OWN_CHANGED: Final = (401, 401, 404, 403, 403, 404)
VM: Final = {"at": 1, "run": "probe"}
#: Method and path -> body, and the status for each caller.
TABLE: Final[Mapping[tuple[str, str], tuple[Any, tuple[int, ...]]]] = {
    ("GET", "/healthz"): (None, (200,) * 6),
    ("GET", "/api/leases"): (None, ALL),
    ("POST", "/api/leases"): (LEASE, ASKED),
    ("GET", "/api/leases/{number}"): (None, READ),
    ("DELETE", "/api/leases/{number}"): (None, CHANGED),
    ("POST", "/api/leases/{number}/hold"): ({}, CHANGED),
    ("POST", "/api/leases/{number}/release"): ({}, CHANGED),
    ("PUT", "/api/leases/{number}/priority"): ({"priority": -1}, CHANGED),
    ("POST", "/api/jobs"): ({"nodes": 1, "walltime": 5}, ASKED),
    ("POST", "/api/what-if"): ({"horizon": 10}, ALL),
    ("GET", "/api/clock"): (None, ALL),
    ("PUT", "/api/clock"): ({"paused": False}, OPERATORS),
    ("GET", "/api/site"): (None, ALL),
    ("GET", "/api/hosts"): (None, ALL),
    ("POST", "/api/hosts/drain"): ({"hosts": "3"}, DONE_BY_OPERATORS),
    ("POST", "/api/hosts/fail"): ({"hosts": "3"}, DONE_BY_OPERATORS),
    ("POST", "/api/hosts/return"): ({"hosts": "3"}, DONE_BY_OPERATORS),
    ("GET", "/api/notices"): (None, ALL),
    ("POST", "/api/notices"): ({"text": "maintenance"}, (401, 401, 403, 403, 403, 201)),
    ("DELETE", "/api/notices/{number}"): (None, DONE_BY_OPERATORS),
    ("GET", "/api/queue"): (None, ALL),
    ("GET", "/api/audit"): (None, OPERATORS),
    ("GET", "/api/caller"): (None, ALL),
    ("GET", "/api/schedule"): (None, ALL),
    ("GET", "/managed_experiments"): (None, ALL),
    ("POST", "/managed_experiments"): (WEB, ASKED),
    ("GET", "/managed_experiments/{number}"): (None, READ),
    ("GET", "/managed_experiments/{number}/log"): (None, READ),
    ("DELETE", "/managed_experiments/{number}"): (None, CHANGED),
    ("GET", "/reservations"): (None, ALL),
    ("POST", "/reservations"): (WEB, ASKED),
    ("GET", "/reservations/{number}"): (None, READ),
    ("DELETE", "/reservations/{number}"): (None, CHANGED),
    ("GET", "/reservations/{number}/{machine}"): (None, READ),
    ("GET", "/experiments/{number}"): (None, READ),
    ("GET", "/resources/{number}"): (None, READ),
    ("GET", "/api/timelines"): (None, NO_TIMELINES),
    ("GET", "/api/timelines/entries"): (None, NO_TIMELINES),
    ("GET", "/api/timelines/{vm}/entries"): (None, NO_TIMELINES),
    ("POST", "/api/timelines/resume"): ({}, (401, 401, 403, 403, 403, 404)),
    ("POST", "/api/timelines/{vm}/entries"): (VM, (401, 401, 403, 403, 403, 404)),
    ("GET", "/managed_experiments/{number}/timelines"): (None, OWN_READ),
    ("GET", "/managed_experiments/{number}/timelines/entries"): (None, OWN_READ),
    ("GET", "/managed_experiments/{number}/timelines/{vm}/entries"): (None, OWN_READ),
    ("POST", "/managed_experiments/{number}/timelines/resume"): ({}, OWN_CHANGED),
    ("POST", "/managed_experiments/{number}/timelines/{vm}/entries"): (VM, OWN_CHANGED),
}
#: Calls after another one, of the owner.
AFTER: Final = {("POST", "/api/leases/{number}/release"): ("POST", "/api/leases/{number}/hold")}
#: Calls with tests of their own below: a stream that does not end, the end of the site, and an answer that is no JSON.
APART: Final = {("GET", "/api/events"), ("POST", "/api/close"), ("GET", "/metrics")}


class Users:
    """A site with users: ann and bob of one group, cy of none, and the operator olga."""

    def __init__(self, site: SiteProcess, file: Path, tokens: Mapping[str, str]) -> None:
        self.site, self.file, self.tokens = site, file, tokens

    def ask(self, caller: str, method: str, path: str, body: Any = None, *more: tuple[str, str]) -> tuple[int, Any]:
        """Ask as one of the callers; return status and content."""
        token = self.tokens.get(caller, "")
        sent = [("Authorization", f"Bearer {token}")] if token else []
        return ask(self.site, method, path, [*sent, *more], body)


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Users]:
    """A site whose time stands nearly still, with its users."""
    folder = tmp_path_factory.mktemp("site")
    file = folder / "users.json"
    tokens = {
        "owner": add_user(file, "ann", "red", "user"),
        "member": add_user(file, "bob", "red", "user"),
        "other": add_user(file, "cy", "", "user"),
        "operator": add_user(file, "olga", "", "operator"),
        "wrong": "x" * 43,
    }
    with running_site(folder, "--pace", "0.001", "--users", str(file), "-o", "reservations=on") as site:
        found = Users(site, file, tokens)
        found.ask("owner", "POST", MANAGED, WEB)
        wait_for(lambda: found.ask("owner", "GET", f"{MANAGED}/1")[1]["status"] == "DEPLOYED")
        yield found


def test_each_call_of_the_api_has_a_row() -> None:
    """A new call must say who may use it."""
    calls = {(method.upper(), path) for path, methods in schema()["paths"].items() for method in methods}
    assert calls == TABLE.keys() | APART


@pytest.mark.parametrize(("method", "path"), TABLE)
@pytest.mark.parametrize("caller", CALLERS)
def test_a_call_is_allowed_by_role_and_owner(users: Users, method: str, path: str, caller: str) -> None:
    """The status is that of the table; a resource of its own for each change."""
    body, statuses = TABLE[method, path]
    if "{number}" in path:
        number = made(users, path)
        if (method, path) in AFTER:
            first, before = AFTER[method, path]
            assert users.ask("owner", first, before.replace("{number}", number))[0] < 300
        path = path.replace("{number}", number).replace("{machine}", "1")
    if (method, path) == ("PUT", "/api/clock") and caller == "operator":
        users.ask("operator", method, path, {"paused": True})
    if path.startswith("/api/hosts/"):  # in service, or drained before it returns, whichever tests ran before
        users.ask("operator", "POST", "/api/hosts/return", body)
        if path.endswith("/return"):
            assert users.ask("operator", "POST", "/api/hosts/drain", body)[0] == 204
    status, _ = users.ask(caller, method, path.replace("{vm}", "client"), body)
    assert status == statuses[CALLERS.index(caller)]


def made(users: Users, path: str) -> str:
    """The number in the path of a new lease, experiment or reservation of the owner, or of a resource."""
    if path.startswith("/api/notices"):
        return str(users.ask("operator", "POST", "/api/notices", {"text": "maintenance"})[1]["number"])
    if path.startswith("/api"):
        return str(users.ask("owner", "POST", "/api/leases", WAITING)[1]["number"])
    if path.startswith(MANAGED):
        return str(users.ask("owner", "POST", MANAGED, WEB)[1]["id"])
    if path == "/reservations/{number}":
        return str(users.ask("owner", "POST", "/reservations", WEB)[1]["number"])
    return "1"  # of the first experiment, which is deployed


def test_a_user_cannot_undo_what_an_operator_does(users: Users) -> None:
    """A hold by an operator is ended by an operator, and only an operator raises a priority."""
    lease = f"/api/leases/{made(users, '/api/leases')}"
    assert users.ask("operator", "POST", f"{lease}/hold")[0] == 204
    wait_for(lambda: users.ask("owner", "GET", lease)[1].get("held") == "operator")
    assert users.ask("owner", "GET", lease)[1]["why"] == "held by an operator"
    assert users.ask("owner", "POST", f"{lease}/release")[0] == 403
    assert users.ask("owner", "POST", f"{lease}/hold")[0] == 409
    assert users.ask("operator", "POST", f"{lease}/release")[0] == 204
    assert users.ask("owner", "PUT", f"{lease}/priority", {"priority": -5})[0] == 204
    wait_for(lambda: users.ask("owner", "GET", lease)[1].get("priority") == -5)
    assert "held" not in users.ask("owner", "GET", lease)[1]
    assert users.ask("owner", "PUT", f"{lease}/priority", {"priority": -4})[0] == 403
    assert users.ask("operator", "PUT", f"{lease}/priority", {"priority": 7})[0] == 204
    for wrong in (0.5, 10**6, "1", None):
        assert users.ask("operator", "PUT", f"{lease}/priority", {"priority": wrong})[0] == 422


def test_an_operator_sees_the_leases_and_experiments_of_all(users: Users) -> None:
    """Others see their own and those of their group."""
    users.ask("owner", "POST", "/api/leases", LEASE)
    users.ask("other", "POST", "/api/leases", LEASE)
    users.ask("other", "POST", "/managed_experiments", WEB)

    def seen(caller: str, path: str = "/api/leases") -> set[str]:
        return {one["user"] for one in users.ask(caller, "GET", path)[1]}

    assert {"ann", "cy"} <= seen("operator")
    assert "cy" not in seen("member")
    assert "ann" in seen("member")
    assert seen("other") == {"cy"}
    found = users.ask("operator", "GET", "/managed_experiments?user_id=cy")[1]["items"]
    assert {one["owner"] for one in found} == {"cy"}


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        (USER, "ann", 200),
        (USER, "olga", 403),
        (USER, "local", 400),
        (USER, "", 400),
        (GROUP, "red", 200),
        (GROUP, "blue", 403),
        (OPERATOR, "true", 200),
        ("X_Bonfire_Asserted_Id", "olga", 400),
    ],
)
def test_headers_do_not_change_who_a_user_is(users: Users, header: str, value: str, status: int) -> None:
    """They may repeat what the token says; another user, group or role is not obtained."""
    assert users.ask("owner", "GET", "/api/leases", None, (header, value))[0] == status
    assert users.ask("owner", "PUT", "/api/clock", {"paused": False}, (header, value))[0] in (400, 403)


def test_two_tokens_are_none(users: Users) -> None:
    """The site must not choose one of them."""
    second = ("Authorization", f"Bearer {users.tokens['operator']}")
    assert users.ask("owner", "GET", "/api/leases", None, second)[0] == 401


def test_a_change_of_the_users_holds_at_once(users: Users) -> None:
    """A new user is admitted, a removed one is not, and while the file cannot be used all are refused."""
    eve = add_user(users.file, "eve", "", "user")
    client = users.site.client(token=eve)
    assert client.get("api", "leases") == []
    remove_user(users.file, "eve")
    with pytest.raises(SiteError, match="must send your token"):
        client.get("api", "leases")
    users.file.chmod(0o644)
    assert users.ask("operator", "GET", "/api/leases")[0] == 503
    users.file.chmod(0o600)
    assert users.ask("operator", "GET", "/api/leases")[0] == 200


def test_no_file_of_a_site_has_a_token(users: Users) -> None:
    """Neither its journal, nor its transcript, nor the file of users, which only its owner may read."""
    assert stat.S_IMODE(users.file.stat().st_mode) == 0o600
    kept = b"".join(path.read_bytes() for path in users.file.parent.rglob("*") if path.is_file())
    assert b"olga" in kept
    assert not any(token.encode() in kept for token in users.tokens.values())
    command = Path(f"/proc/{users.site.process.pid}/cmdline")
    assert not command.exists() or os.fsencode(users.tokens["operator"]) not in command.read_bytes()


def test_numbers_are_for_operators(users: Users) -> None:
    """They count the requests of all."""
    found = dict[str, int]()
    for caller in CALLERS:
        headers = {"Authorization": f"Bearer {users.tokens.get(caller, '')}"}
        with closing(HTTPConnection(urlsplit(users.site.url).netloc, timeout=30)) as connection:
            connection.request("GET", "/metrics", headers=headers)
            found[caller] = connection.getresponse().status
    assert tuple(found.values()) == OPERATORS


def test_only_an_operator_closes_a_site(users: Users) -> None:
    """All others are refused, and the site goes on."""
    refused = [users.ask(caller, "POST", "/api/close", {})[0] for caller in CALLERS[:-1]]
    assert refused == [401, 401, 403, 403, 403]
    assert users.ask("operator", "GET", "/healthz")[0] == 200
    assert [users.ask(caller, "GET", "/api/events")[0] for caller in ("none", "wrong")] == [401, 401]
