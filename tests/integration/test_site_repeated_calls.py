"""Calls to a site that would change nothing: each is refused, with the reason, and comes again after a change."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import pytest

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

from tests.docs.site_api import schema
from tests.integration.test_site import wait_for
from tests.integration.test_site_callers import OPERATOR, ask
from tests.site_process import SiteProcess, running_site

Call = tuple[str, str, Any]
LEASE: Final[Call] = ("POST", "/api/leases", {"nodes": 4, "duration": 60})
#: An experiment of which a break holds both machines, or will hold them.
HELD: Final = {
    "name": "held",
    "duration": 100_000,
    "resources": [
        {"compute": {"name": name, "locations": ["here"], "timeline": [{"at": 1, "break": True}]}} for name in "ab"
    ],
}
TIMELINES: Final = "/managed_experiments/1/timelines"
RESUME: Final[Call] = ("POST", f"{TIMELINES}/resume", {"vms": ["a"]})
RESUME_ALL: Final[Call] = ("POST", f"{TIMELINES}/resume", {})
#: Calls before it, the call, its status, and status and reason of the same call again; N is the number of what the
#: calls before it have made.
TABLE: Final[tuple[tuple[tuple[Call, ...], Call, int, tuple[int, str]], ...]] = (
    ((LEASE,), ("DELETE", "/api/leases/N", None), 204, (409, "it has ended: Cancelled")),
    ((LEASE,), ("POST", "/api/leases/N/hold", {}), 204, (409, "it is held already")),
    (
        (LEASE, ("POST", "/api/leases/N/hold", {})),
        ("POST", "/api/leases/N/release", {}),
        204,
        (409, "it is not held"),
    ),
    (
        (LEASE,),
        ("PUT", "/api/leases/N/priority", {"priority": 3}),
        204,
        (409, "priority: its priority is 3 already"),
    ),
    ((), ("POST", "/api/hosts/drain", {"hosts": "3"}), 204, (409, "hosts: host 3 is drained already")),
    ((), ("POST", "/api/hosts/return", {"hosts": "3"}), 204, (409, "hosts: host 3 is in service")),
    ((), ("POST", "/api/hosts/fail", {"hosts": "3"}), 204, (409, "hosts: host 3 is unavailable already")),
    ((), ("PUT", "/api/clock", {"pace": 700}), 200, (409, "pace: is 700 already")),
    ((), ("PUT", "/api/clock", {"paused": True}), 200, (409, "paused: the clock is paused already")),
    ((), ("PUT", "/api/clock", {"paused": False}), 200, (409, "paused: the clock runs already")),
    (
        (("POST", "/api/notices", {"text": "maintenance"}),),
        ("DELETE", "/api/notices/N", None),
        204,
        (404, "there is no notice N, or it has ended"),
    ),
    (
        (("POST", "/managed_experiments", HELD),),
        ("DELETE", "/managed_experiments/N", None),
        204,
        (404, "there is no experiment N"),
    ),
    (
        (("POST", "/reservations", {**HELD, "duration": 5}),),
        ("DELETE", "/reservations/N", None),
        204,
        (404, "there is no reservation N"),
    ),
    ((), RESUME, 200, (409, "no break holds VM 'a'")),
    ((), RESUME_ALL, 200, (409, "no break holds a VM")),
)
#: Changes that make something, each time another one, and one that changes nothing at the site.
MAKE: Final = {
    ("POST", "/api/leases"),
    ("POST", "/api/jobs"),
    ("POST", "/api/notices"),
    ("POST", "/managed_experiments"),
    ("POST", "/reservations"),
    ("POST", "/managed_experiments/{number}/timelines/{vm}/entries"),
    ("POST", "/api/timelines/{vm}/entries"),
    ("POST", "/api/what-if"),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    """A site with an experiment of which a break holds both machines, and a lease that has the other hosts."""
    with running_site(tmp_path_factory.mktemp("site"), "--pace", "600", "-o", "reservations=on") as found:
        assert call(found, ("POST", "/managed_experiments", HELD))[0] == 201
        wait_for(lambda: held(found) == ["a", "b"])
        assert call(found, ("POST", "/api/leases", {"nodes": 2, "duration": "unlimited"}))[0] == 201
        yield found


def call(site: SiteProcess, asked: Call) -> tuple[int, Any]:
    """Ask as the operator; return status and content."""
    method, path, body = asked
    return ask(site, method, path, [(OPERATOR, "true")], body)


def held(site: SiteProcess) -> list[str]:
    """Return the machines of the experiment that a break holds."""
    status, found = call(site, ("GET", TIMELINES, None))
    return [vm["name"] for vm in found["vms"] if vm["held_by"] is not None] if status == 200 else []


def is_gone(site: SiteProcess, path: str) -> bool:
    """Return whether what was cancelled or deleted is final, or no longer there."""
    status, found = call(site, ("GET", path, None))
    return status != 200 or bool(found.get("final"))


def refusal(answer: tuple[int, Any]) -> tuple[int, str]:
    """Return status and reason of an answer that refuses."""
    status, content = answer
    (problem,) = content["problems"]
    return status, ": ".join(text for text in (problem["path"], problem["message"]) if text)


def test_a_call_that_changes_nothing_is_refused(site: SiteProcess) -> None:
    """The first call is accepted; the same one again, right afterwards, is refused with the reason."""
    for before, asked, accepted, (status, reason) in TABLE:
        made = ""
        for one in before:
            answer = call(site, (one[0], one[1].replace("N", made), one[2]))
            assert answer[0] < 300, answer
            if isinstance(answer[1], dict):
                made = str(answer[1].get("number") or answer[1]["id"])
        numbered = (asked[0], asked[1].replace("/N", f"/{made}"), asked[2])
        assert call(site, numbered)[0] == accepted, asked
        if numbered[0] == "DELETE":  # the lists may be as they were for a moment: "it is being cancelled"
            wait_for(partial(is_gone, site, numbered[1]))
        assert refusal(call(site, numbered)) == (status, reason.replace(" N", f" {made}")), asked


def test_each_change_of_the_api_is_in_the_table() -> None:
    """Or makes something; the timelines of a site without experiments are those of an experiment."""
    table = {(method, path) for _, (method, path, _), _, _ in TABLE}
    changes = {
        (method.upper(), path) for path, methods in schema()["paths"].items() for method in methods if method != "get"
    }
    named = {
        (method, path.replace("{number}", "N").replace("ments/N/time", "ments/1/time")) for method, path in changes
    }
    assert named - table == {(method, path.replace("{number}", "1")) for method, path in MAKE} | {
        ("POST", "/api/timelines/resume"),
        ("POST", "/api/close"),  # test_site_turns.py closes one twice
    }
