"""Changes that come as their lease begins or ends: answered after the decision, which carries them out or not."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.commands.site import DEFAULT
from batsched_py.cli.main import run
from batsched_py.model.settings import Settings
from batsched_py.runs.choice import Choice
from batsched_py.simulator.time.live_loop import LiveBatch
from batsched_py.site.inbox import Inbox
from batsched_py.site.simulated import SimulatedSite
from batsched_py.site.site import SiteSettings
from batsched_py.traces.simgrid_xml import read_platform
from tests.clone import ROOT

pytest.importorskip("litestar")
from litestar.testing import TestClient

from batsched_py.site.api.app import DoorSettings, make_app

PLATFORM = ROOT / "platforms" / "tiny4.xml"
OPERATOR = {"X-Batsched-Py-Operator": "true", "Authorization": "Bearer secret"}


class BlindSite:
    """A site on which time stands still, and whose snapshots can be kept as they are while it goes on."""

    def __init__(self, folder: Path, algorithm: str = DEFAULT) -> None:
        settings = SiteSettings(name="tiny4", choice=Choice(algorithm, {}), folder=folder / "site", pace=1e-9)
        self.site = SimulatedSite(settings, read_platform(PLATFORM), PLATFORM.read_bytes(), Settings())
        self._see, self._blind = self.site.inbox._look, False
        self.site.inbox._look = lambda idle: math.inf if self._blind else self._see(idle)
        self.site.start()
        self.client = TestClient(make_app(self.site, DoorSettings(token="secret")))
        self.client.__enter__()
        while self.ask("GET", "/healthz")[0] != 200:
            pass

    def close(self) -> None:
        """Stop it."""
        self.client.__exit__()
        self.site.stop()

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Return the status and the body of an answer."""
        answer = self.client.request(method, path, json=body, headers=OPERATOR)
        return answer.status_code, answer.json() if answer.content else None

    def refusal(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        """Return the status of an answer, and why the call is refused."""
        status, found = self.ask(method, path, body)
        return status, found["problems"][0]["message"] if found else ""

    def go_to(self, instant: float) -> None:
        """Let the simulation go to an instant, and stand there; snapshots remain as they are."""
        self._blind, there = True, threading.Event()
        wait, control = Inbox.wait, self.site.inbox.control

        def wait_there(now: float, due: float | None) -> LiveBatch | None:
            if now >= instant and not there.is_set():
                control(lambda clock, now: clock.change_pace(1e-9, now))
                there.set()
            return wait(self.site.inbox, now, due)

        self.site.inbox.wait = wait_there  # type: ignore[method-assign]
        control(lambda clock, now: clock.change_pace(math.inf, now))
        assert there.wait(60)


@pytest.fixture
def blind(tmp_path: Path) -> Iterator[BlindSite]:
    """A site with a reservation of all hosts from second 100 to 200, and a best-effort lease until 50."""
    site = BlindSite(tmp_path)
    site.ask("POST", "/api/leases", {"nodes": 4, "duration": 100, "start": "+100"})
    site.ask("POST", "/api/leases", {"nodes": 1, "duration": 50})
    while site.ask("GET", "/api/leases/2")[1]["state"] != "Active":
        pass
    yield site
    site.close()


def test_a_hold_that_comes_as_its_lease_begins_is_refused(blind: BlindSite) -> None:
    """The check still sees it waiting; later views do not show the hold, either."""
    blind.go_to(100)
    assert blind.ask("GET", "/api/leases/1")[1]["state"] == "Ready"
    refused = "it has begun (Active): only waiting leases can be held"
    assert blind.refusal("POST", "/api/leases/1/hold", {}) == (409, refused)
    assert "held" not in blind.ask("GET", "/api/leases/1")[1]
    assert blind.refusal("POST", "/api/leases/1/release", {}) == (409, "it is not held")


def test_changes_that_come_as_their_lease_ends_are_refused(blind: BlindSite) -> None:
    """Priorities and cancellations: afterwards it does not count as being cancelled."""
    blind.go_to(50)
    assert blind.ask("GET", "/api/leases/2")[1]["state"] == "Active"
    assert blind.refusal("PUT", "/api/leases/2/priority", {"priority": -1}) == (409, "it has ended")
    assert blind.refusal("DELETE", "/api/leases/2") == (409, "it neither waits nor runs")
    assert blind.refusal("DELETE", "/api/leases/2") == (409, "it neither waits nor runs")


def test_changes_in_time_are_answered_when_they_have_taken_effect(blind: BlindSite) -> None:
    """The decision on leases and hosts was made, and the simulation shows it."""
    view = blind.site.session.view

    def table(name: str) -> list[Any]:
        return [list(one.rows) for one in blind.site.session.live_tables() if one.name == name]

    assert blind.ask("POST", "/api/leases/1/hold", {}) == (204, None)
    assert table("lease_controls") == [[(1, "operator", 0)]]
    assert blind.ask("POST", "/api/leases/1/release", {}) == (204, None)
    assert blind.ask("POST", "/api/hosts/drain", {"hosts": "3"}) == (204, None)
    assert table("drained_hosts") == [[("3",)]]
    assert blind.ask("POST", "/api/hosts/fail", {"hosts": "3"}) == (204, None)
    assert str(view.unavailable) == "3"
    assert blind.ask("POST", "/api/hosts/return", {"hosts": "3"}) == (204, None)
    assert str(view.unavailable) == ""
    assert blind.ask("DELETE", "/api/leases/2") == (204, None)
    assert "site!2" not in {run.job.id for run in view.running}


def test_a_change_that_is_not_decided_soon_is_answered_as_such(blind: BlindSite) -> None:
    """The simulation is busy: 202, not 204; the change is made later all the same."""
    answer, go_on = blind.site.session.answer, threading.Event()

    def answer_late(request: bytes) -> bytes:
        assert go_on.wait(60)
        return answer(request)

    blind.site.session.answer = answer_late  # type: ignore[method-assign]
    status = blind.ask("POST", "/api/leases/1/hold", {})
    go_on.set()
    assert status == (202, None)
    assert blind.ask("POST", "/api/leases/1/release", {}) == (204, None)


class _Undecided(BaseHTTPRequestHandler):
    """A site that has not decided yet."""

    def do_DELETE(self) -> None:
        """Answer as such a site."""
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing."""


def test_commands_say_that_a_change_is_not_decided_yet(capsys: pytest.CaptureFixture[str]) -> None:
    """In one line, and they succeed."""
    with HTTPServer(("127.0.0.1", 0), _Undecided) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        assert run(["lease", "cancel", "1", "--url", f"http://127.0.0.1:{server.server_port}"]) == 0
        thread.join()
    assert "accepted, and is not decided yet" in capsys.readouterr().err
