"""Reservations at a site: created over HTTP and by commands, used by experiments, and given back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

from batsched_py.cli.main import run
from tests.clone import ROOT
from tests.integration.test_site import wait_for
from tests.integration.test_site_commands import Ask, ask, cells, follow
from tests.integration.test_site_experiments import ask as request
from tests.integration.test_site_experiments import tree
from tests.site_process import SiteProcess, running_site

__all__ = ["ask"]  # the fixture

ON = ("-o", "reservations=on")
SERVERS: dict[str, Any] = {"compute": {"name": "Server", "min": 2, "locations": ["here"]}}
LAB: dict[str, Any] = {"name": "lab", "description": "a room", "duration": 120, "start": 3600, "resources": [SERVERS]}
USE: dict[str, Any] = {"name": "use", "duration": 120, "reservation": "/reservations/1", "resources": [SERVERS]}
TWO_HOURS: float = 7200
UNDATED: dict[str, Any] = {name: value for name, value in LAB.items() if name != "start"}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[SiteProcess]:
    """A site whose time stands nearly still."""
    with running_site(tmp_path, "--pace", "0.001", *ON) as found:
        yield found


def get(site: SiteProcess, path: str, user: str = "ann", status: int = 200) -> Any:
    """The content of an answer."""
    found = request(site, "GET", path, user=user, accept="application/json")
    assert found[0] == status, found
    return json.loads(found[2])


def post(site: SiteProcess, path: str, body: Any, user: str = "ann", status: int = 201) -> Any:
    """The content of an answer to a document."""
    found = request(site, "POST", path, body, user=user, accept="application/json")
    assert found[0] == status, found
    return json.loads(found[2])


def problem(found: Any) -> str:
    """The only problem of an answer, on one line."""
    ((path, message),) = [(one["path"], one["message"]) for one in found["problems"]]
    return f"{path}: {message}"


def test_an_experiment_is_deployed_in_a_reservation_of_its_user(tmp_path: Path) -> None:
    """BonFIRE's third workflow, as fast as possible: reserved for later, deployed then, ended with the reservation."""
    with running_site(tmp_path, "--pace", "max", *ON) as site:
        operator = site.client()
        operator.put("api", "clock", body={"paused": True})
        made = post(site, "/reservations", LAB)
        assert (made["href"], made["name"], made["state"]) == ("/reservations/1", "lab", "PENDING")
        post(site, "/managed_experiments", USE)
        wait_for(lambda: get(site, "/managed_experiments/2")["status"] == "RESERVED")
        found = get(site, "/reservations/1")
        assert (found["start"], found["end"] - found["start"], found["machines"]) == (3600, TWO_HOURS, 2)
        operator.put("api", "clock", body={"paused": False})
        operator.post("api", "leases", body={"nodes": 1, "duration": 20000})
        wait_for(lambda: get(site, "/managed_experiments/2")["status"] == "ENDED")
        log = [(line["time"], line["state"]) for line in get(site, "/managed_experiments/2/log")]
        assert {(3600, "DEPLOYING"), (3600, "DEPLOYED"), (3600 + TWO_HOURS, "ENDED")} <= set(log)
        assert get(site, "/reservations/1")["state"] == "ENDED"
        over = post(site, "/managed_experiments", USE, status=409)
        assert problem(over) == "reservation: /reservations/1 is over: ENDED"


def test_links_of_a_reservation_and_its_experiment_resolve(site: SiteProcess) -> None:
    """From the experiment to its reservation, its machines, the resources that use them, and back; in XML too."""
    post(site, "/reservations", {**LAB, "start": 0.5})
    post(site, "/managed_experiments", USE)
    site.client().put("api", "clock", body={"pace": 10})
    wait_for(lambda: get(site, "/managed_experiments/2")["status"] == "DEPLOYED")
    experiment = get(site, "/managed_experiments/2")
    assert {link for link in experiment["links"].values() if get(site, link)} == set(experiment["links"].values())
    reservation = get(site, experiment["links"]["reservation"])
    assert [one["href"] for one in reservation["resources"]] == ["/reservations/1/1", "/reservations/1/2"]
    for one in reservation["resources"]:
        assert get(site, one["href"]) == one
        used_by = get(site, one["resource"])
        assert used_by["resource"]["host"] == str(one["host"])
        assert get(site, used_by["experiment"])["managed_experiment"] == experiment["href"]
    assert get(site, experiment["link"])["resources"] == [one["resource"] for one in reservation["resources"]]
    links = {one.get("rel"): one.get("href") for one in tree(request(site, "GET", experiment["href"])).iter("link")}
    assert links == experiment["links"]
    assert "there is no machine 3" in problem(get(site, "/reservations/1/3", status=404))
    assert get(site, "/resources/99", status=404)
    assert get(site, "/experiments/99", status=404)


def test_a_reservation_that_is_not_the_users_own_is_refused(site: SiteProcess) -> None:
    """In one line, before anything is stored; 2 is that of an experiment."""
    post(site, "/reservations", LAB)
    post(site, "/managed_experiments", {"name": "own", "duration": 60, "resources": [SERVERS]})
    for user, named, status, rule in (
        ("bob", "/reservations/1", 403, "/reservations/1 belongs to another user"),
        ("local", "/reservations/1", 403, "/reservations/1 belongs to another user"),
        ("ann", "/reservations/2", 422, "there is no reservation '/reservations/2' of yours"),
        ("ann", "/reservations/9", 422, "there is no reservation '/reservations/9' of yours"),
        ("ann", "/reservations/01", 422, "there is no reservation '/reservations/01' of yours"),
        ("ann", "1", 422, "there is no reservation '1' of yours: did you mean /reservations/1?"),
    ):
        found = request(site, "POST", body={**USE, "reservation": named}, user=user, accept="application/json")
        assert (found[0], problem(json.loads(found[2]))) == (status, f"reservation: {rule}")
    assert len(get(site, "/managed_experiments")["items"]) == 1


def test_what_cannot_be_reserved_is_said(site: SiteProcess) -> None:
    """At once if the document is wrong, as the reason of a failure if there is no room, with what was left out."""
    assert "start" in problem(post(site, "/reservations", {**LAB, "start": -5}, status=422))
    inside = post(site, "/reservations", USE, status=422)
    assert "a reservation cannot be made in another reservation" in problem(inside)
    nothing = post(site, "/reservations", {**LAB, "resources": []}, status=422)
    assert "there is no compute to reserve for" in problem(nothing)
    many = {**LAB, "resources": [{"compute": {"name": "S", "min": 6, "locations": ["here"]}}]}
    post(site, "/reservations", many)
    post(site, "/reservations", {**many, "best_effort_allocation": True})
    wait_for(lambda: get(site, "/reservations/2")["machines"] == 4)
    failed, some = get(site, "/reservations/1"), get(site, "/reservations/2")
    assert (failed["name"], failed["state"], failed["reason"]) == (
        "lab",
        "FAILED",
        "it would not fit on the empty site",
    )
    assert (some["state"], some["reason"]) == ("PENDING", "no place for 2 machines: S-5, S-6")
    assert request(site, "DELETE", "/reservations/1")[0] == 204
    assert get(site, "/reservations/1", status=404)


def test_a_site_without_reservations_says_so(tmp_path: Path) -> None:
    """The option is off by default; other algorithms have none."""
    with running_site(tmp_path, "--pace", "0.001") as site:
        assert "reserve needs reservations=on" in problem(post(site, "/reservations", UNDATED, status=422))
        assert get(site, "/reservations") == []


def test_reservations_are_listed_in_parts(site: SiteProcess) -> None:
    """By number, with those of experiments; each user's own and those of the group."""
    post(site, "/managed_experiments", {"name": "own", "duration": 60, "resources": [SERVERS]})
    for _ in range(2):
        post(site, "/reservations", LAB)
    post(site, "/reservations", LAB, user="bob")
    wait_for(lambda: [one["number"] for one in get(site, "/reservations")] == [1, 2, 3])
    assert get(site, "/reservations")[0]["experiment"] == "/managed_experiments/1"
    status, headers, content = request(site, "GET", "/reservations?limit=2&after=1", user="local")
    assert (status, [one["number"] for one in json.loads(content)]) == (200, [2, 3])
    assert headers["link"] == '</reservations?limit=2&after=3>; rel="next"'
    status, _, content = request(site, "DELETE", "/reservations/1")
    assert (status, problem(json.loads(content))) == (409, ": it was made for experiment 1: delete that")
    assert request(site, "DELETE", "/managed_experiments/1")[0] == 204
    wait_for(lambda: [one["number"] for one in get(site, "/reservations")] == [2, 3])


def test_reservations_survive_a_kill_and_are_replayed(tmp_path: Path) -> None:
    """The journal has each request before it is answered; the transcript alone gives the same decisions."""
    with running_site(tmp_path, "--pace", "0.001", *ON) as site:
        post(site, "/reservations", LAB)
        post(site, "/managed_experiments", USE)
        post(site, "/reservations", {**LAB, "name": "again"})
        assert request(site, "DELETE", "/reservations/3")[0] == 204
        wait_for(lambda: get(site, "/managed_experiments/2")["status"] == "RESERVED")
        before = get(site, "/reservations"), get(site, "/managed_experiments/2")
        site.kill()
    with running_site(tmp_path, "--pace", "0.001", *ON) as site:
        wait_for(lambda: (get(site, "/reservations"), get(site, "/managed_experiments/2")) == before)
        assert request(site, "DELETE", "/reservations/1")[0] == 204
        wait_for(lambda: get(site, "/managed_experiments/2")["status"] == "FAILED")
        assert get(site, "/managed_experiments/2")["failure"] == "reservation /reservations/1 is TERMINATED"
    with closing(sqlite3.connect(tmp_path / "site" / "site.sqlite")) as database:
        kinds = [kind for (kind,) in database.execute("SELECT kind FROM requests ORDER BY number")]
    assert kinds == ["submit_reservation", "submit_experiment", "submit_reservation", *["delete_reservation"] * 2]
    assert run(["replay", str(tmp_path / "site" / "transcript.jsonl")]) == 0


def test_reservations_by_commands(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Created, shown, listed and deleted, by the id or by its number."""
    Path("lab.json").write_text(json.dumps(LAB))
    (tmp_path / "lab.ovf").write_bytes((ROOT / "tests" / "data" / "experiments" / "located.ovf").read_bytes())
    with running_site(tmp_path, "--pace", "0.001", *ON) as site:
        follow(site, monkeypatch)
        ann = ("--user", "ann")
        assert ask("reservation", "list") == (0, "There are no reservations.\n", "")
        created = "Reservation created.\nReservation ID: /reservations/1\n"
        assert ask("reservation", "create", "lab.json", *ann) == (0, created, "")
        wait_for(lambda: "from 3600 to 10800" in ask("reservation", "show", "1", *ann)[1])
        shown = ask("reservation", "show", "/reservations/1", *ann)[1]
        assert shown.startswith("lab: PENDING from 3600 to 10800\n")
        assert ["/reservations/1/2", "here", "small", "1", "-"] in cells(shown)
        assert json.loads(ask("reservation", "show", "1", "--json", *ann)[1])["description"] == "a room"
        row = ["/reservations/1", "lab", "ann", "PENDING", "3600", "10800", "2"]
        assert list(cells(ask("reservation", "list", *ann)[1]))[1] == row
        assert (
            ask("reservation", "delete", "1", "--user", "bob")[2] == "batsched-py: error: it belongs to another user\n"
        )
        assert "must be like /reservations/5 or 5, not 'lab'" in ask("reservation", "delete", "lab")[2]
        assert ask("reservation", "delete", "/reservations/1", *ann) == (0, "", "")
        assert ask("reservation", "list", *ann)[1] == "There are no reservations.\n"
        assert ask("reservation", "create", "lab.ovf", *ann)[1].endswith("Reservation ID: /reservations/3\n")
