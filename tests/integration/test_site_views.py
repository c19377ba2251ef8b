"""Views of a site: states that are final, ends that have come, hosts that are taken, all of a queue."""

from __future__ import annotations

import http.client
import json
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from batsched_py.cli.commands.site import DEFAULT
from batsched_py.cli.main import run
from batsched_py.errors import SiteError
from batsched_py.leases import lifecycle
from batsched_py.site.client import SiteClient
from tests.clone import ROOT
from tests.docs.site_api import schema
from tests.integration.test_site import wait_for
from tests.site_process import SiteProcess, running_site

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

#: Time stands nearly still.
STILL = ("--pace", "0.001")
RESERVATIONS = ("-s", "leases", "-o", "policy_preemption=ar-preempts-everything")


def lease(site: SiteProcess, number: int) -> dict[str, Any]:
    """Return a lease as the site shows it."""
    found: dict[str, Any] = site.client().get("api", "leases", number)
    return found


def asked(site: SiteProcess, path: str, **body: Any) -> int:
    """Ask for a lease or a job; return its number."""
    return int(site.client().post("api", path, body=body)["number"])


def test_a_running_job_has_no_end_but_a_limit(tmp_path: Path) -> None:
    """Its end is known when it has ended; the chart shows the limit as the end that is planned."""
    with running_site(tmp_path, *STILL, "-s", "easy") as site:
        number = asked(site, "jobs", nodes=2, walltime=1000, duration=500)
        wait_for(lambda: lease(site, number)["state"] == "running")
        found = lease(site, number)
        assert (found["final"], "end" in found, found["ends_by"]) == (False, False, found["start"] + 1000)
        (block,) = site.client().get("api", "schedule")
        assert (block["phase"], block["end"]) == ("under way", found["ends_by"])
        site.client().put("api", "clock", body={"pace": "max"})
        wait_for(lambda: lease(site, number)["final"])
        found = lease(site, number)
        assert found["state"] == "COMPLETED_SUCCESSFULLY"
        assert (found["end"], "ends_by" in found) == (found["start"] + 500, False)


def test_a_job_without_a_duration_takes_its_walltime(tmp_path: Path) -> None:
    """The walltime ends it, as its state says."""
    with running_site(tmp_path, "--pace", "max", "-s", "easy") as site:
        number = asked(site, "jobs", nodes=1, walltime=60)
        wait_for(lambda: lease(site, number)["final"])
        assert lease(site, number)["state"] == "COMPLETED_WALLTIME_REACHED"


@pytest.mark.parametrize(
    ("terms", "kind"),
    [
        ({}, "Best-effort"),
        ({"start": "now"}, "Immediate"),
        ({"start": "+01:00:00"}, "AR"),
        ({"deadline": 50_000}, "Deadline"),
    ],
)
def test_a_lease_that_never_fits_is_a_rejected_lease(tmp_path: Path, terms: dict[str, Any], kind: str) -> None:
    """As all others are: it has a type, and Haizea's state; a job is a job."""
    with running_site(tmp_path, *STILL, *RESERVATIONS) as site:
        number = asked(site, "leases", nodes=9, duration=10, **terms)
        wait_for(lambda: lease(site, number)["final"])
        found = lease(site, number)
        assert (found["type"], found["state"]) == (kind, "Rejected")
        assert found["why"]
        job = asked(site, "jobs", nodes=9, walltime=10)
        wait_for(lambda: lease(site, job)["final"])


def test_all_final_states_are_those_of_leases() -> None:
    """Nothing else has a list of them."""
    assert {state.label for state in lifecycle.FINAL} == {"Done", "Cancelled", "Fail", "Rejected"}
    page = (ROOT / "batsched_py" / "site" / "page" / "page.js").read_text()
    assert "Rejected" not in page


def test_reasons_have_all_digits(tmp_path: Path) -> None:
    """Long times are not rounded."""
    with running_site(tmp_path, "--pace", "1", *RESERVATIONS) as site:
        number = asked(site, "leases", nodes=1, duration=60, start=3039733.741)
        wait_for(lambda: lease(site, number)["state"] == "Ready")
        assert lease(site, number)["why"] == "is to start at 3039733.741"


def test_hosts_of_experiments_are_busy_and_have_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their machines are no jobs; the schedule says which they are."""
    computes = [{"compute": {"name": name, "locations": ["here"]}} for name in ("Server", "Client")]
    body = json.dumps({"name": "web", "duration": 6000, "resources": computes}).encode()
    with running_site(tmp_path, *STILL) as site:
        with closing(http.client.HTTPConnection(urlsplit(site.url).netloc, timeout=30)) as connection:
            headers = {"Content-Type": "application/json", "X-Bonfire-Asserted-Id": "ann"}
            connection.request("POST", "/managed_experiments", body, headers)
            assert connection.getresponse().status == 201
        client = site.client()
        wait_for(lambda: [one["state"] for one in client.get("api", "hosts")] == ["busy", "busy", "free", "free"])
        machines = [
            (block["machine"], block["hosts"], block["number"])
            for block in client.get("api", "schedule")
            if block["kind"] == "vm"
        ]
        assert machines == [("1/Server", "0", None), ("1/Client", "1", None)]
        assert run(["hosts", "--url", site.url]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[-3:] for row in rows if row and row[0].isdigit()] == [
        ["100", "1024", state] for state in ("busy", "busy", "free", "free")
    ]


def test_the_memory_of_hosts_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the property that leases read."""
    hosts = '<host id="big" speed="1f"><prop id="cpu" value="400"/><prop id="mem" value="2048"/></host>'
    (tmp_path / "p.xml").write_text(
        f'<?xml version="1.0"?><platform version="4.1"><zone id="z" routing="Full">{hosts}</zone></platform>'
    )
    site = SiteProcess(tmp_path, STILL, ("site", "-p", "p.xml"))
    try:
        wait_for(lambda: site.client().get("healthz")["status"] == "ready")
        assert run(["hosts", "--url", site.url]) == 0
    finally:
        site.end()
    assert ["0", "big", "400", "2048", "free"] in [line.split() for line in capsys.readouterr().out.splitlines()]


def test_the_queue_is_paged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From the head on; the command shows all of it."""
    with running_site(tmp_path, *STILL, "--rate", "10000", *RESERVATIONS) as site:
        numbers = [asked(site, "leases", nodes=4, duration=60) for _ in range(8)]
        client = site.client()
        wait_for(lambda: len(client.get("api", "queue")) == 7)
        pages = [client.get("api", "queue", after=after, limit=3) for after in (0, 3, 6, 7)]
        assert [[one["number"] for one in page] for page in pages] == [numbers[1:4], numbers[4:7], numbers[7:], []]
        assert run(["queue", "--url", site.url]) == 0
        rows = [line.split() for line in capsys.readouterr().out.splitlines()]
        shown = [row[0] for row in rows if row and row[0].isdigit()]
        assert shown == [str(number) for number in numbers[1:]]


def test_the_help_names_the_default_algorithm(capsys: pytest.CaptureFixture[str]) -> None:
    """As the manual does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "200")
        assert run(["site", "--help"]) == 0
    assert f"Without -s, the algorithm is {DEFAULT}" in " ".join(capsys.readouterr().out.split())
    assert f"The default algorithm is `{DEFAULT}`" in " ".join((ROOT / "docs" / "cli.md").read_text().split())


def check_states(client: SiteClient) -> None:
    """Each list refuses a state that does not exist, and says which there are; so does its command."""
    paths = [
        path
        for path, methods in schema()["paths"].items()
        if any(one["name"] == "in_state" for one in methods.get("get", {}).get("parameters", ()))
    ]
    assert len(paths) >= 9
    for path in paths:
        filled = path.format(number=2, vm="Server")
        with pytest.raises(SiteError, match="in_state: state 'nonsense': unknown; there are: "):
            client.get(*filled.split("/"), in_state="nonsense")
    client.get("api", "leases", in_state="suspended-QUEUED")


def test_lists_are_selected_by_state_user_and_text(tmp_path: Path) -> None:
    """Leases, experiments and reservations; what a caller may not read is not found."""
    web = {"name": "web", "duration": 60, "resources": [{"compute": {"name": "Server", "locations": ["here"]}}]}

    def numbers(caller: str, *path: str, **query: Any) -> list[int]:
        found = site.client(caller).get(*path, **query)
        return [int(one.get("number", one.get("id"))) for one in (found if isinstance(found, list) else found["items"])]

    with running_site(tmp_path, *STILL, "-o", "reservations=on") as site:
        ann, bob = site.client("ann"), site.client("bob")
        for client in (ann, bob):
            client.post("api", "leases", body={"nodes": 1, "duration": "unlimited", "constraint": "$id >= 0"})
            client.post("managed_experiments", body={**web, "description": "of a paper"})
            client.post("reservations", body={**web, "name": "lab"})
        ann.delete("api", "leases", 1)
        wait_for(lambda: numbers("", "api", "leases") == [4])
        assert numbers("", "api", "leases", in_state="cancelled") == [1]
        assert numbers("bob", "api", "leases", in_state="cancelled") == []
        assert numbers("", "api", "leases", finished="true", user="ann") == [1]
        assert numbers("ann", "api", "leases", finished="true", user="bob") == []
        assert numbers("", "api", "leases", finished="true", text="$ID >=") == [1, 4]
        assert numbers("", "managed_experiments", text="PAPER", newest="true") == [5, 2]
        assert numbers("", "managed_experiments", user="bob") == [5]
        assert numbers("ann", "managed_experiments", user="bob") == []
        wait_for(lambda: numbers("", "reservations", newest="true") == [6, 5, 3, 2])
        assert numbers("", "reservations", newest="true", before=6, limit=2) == [5, 3]
        assert numbers("", "reservations", text="LAB", user="ann") == [3]
        assert numbers("", "reservations", in_state="ended") == []
        check_states(site.client())
        wait_for(lambda: site.client().get("reservations", 3)["hosts"] != "")
