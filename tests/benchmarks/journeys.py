"""Journeys through the program: distinct functions of batsched-py that run, their files and their calls.

All threads that take part are counted. Comprehensions, generator expressions and lambdas belong to the functions that
contain them. A coroutine or generator counts as called each time that it continues.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Final

import zmq

import batsched_py
from batsched_py.campaigns.execution.campaign_runner import read_state, run_missing
from batsched_py.campaigns.execution.run_store import RunStore
from batsched_py.campaigns.plan.planner import plan_campaign
from batsched_py.campaigns.plan.study_file import read_study
from batsched_py.model.settings import Settings
from batsched_py.plugins import load
from batsched_py.runs.choice import Choice
from batsched_py.session.serve import serve
from batsched_py.session.session import Session
from batsched_py.site.api.app import DoorSettings, make_app
from batsched_py.site.api.listening import listen
from batsched_py.site.api.server import run
from batsched_py.site.simulated import SimulatedSite
from batsched_py.site.site import Site, SiteSettings
from batsched_py.traces.simgrid_xml import read_platform
from batsched_py.transport.zmq_rep import RepSocket
from tests.builders import begins_data, message, submitted_data
from tests.clone import ROOT
from tests.studies import HereWorkers, written

OURS: Final = str(Path(batsched_py.__file__).parent) + "/"
PLATFORM: Final = ROOT / "platforms" / "tiny4.xml"
#: Seconds to wait for what another thread does.
PATIENCE: Final = 60.0
STUDY: Final = """
platforms = "p.xml"
workloads = [{ model = "lublin", jobs = 30, seeds = 1 }]
algorithms = [{ algorithm = "easy" }]
"""
LEASE: Final[Mapping[str, Any]] = {"nodes": 2, "duration": 600, "start": "+3600"}


@dataclass
class Journey:
    """The calls of functions of batsched-py between `begin` and `end`, in all watched threads.

    Attributes:
        name: of the journey.
        calls: file and function -> its calls.
    """

    name: str
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    _counts: bool = False

    @property
    def files(self) -> list[str]:
        """The files of the functions, in the order of their first calls."""
        return list(dict.fromkeys(file for file, _ in self.calls))

    def begin(self) -> None:
        """Count from here on."""
        self._counts = True

    def end(self) -> None:
        """Count no more."""
        self._counts = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch the threads that start meanwhile, to their ends."""
        before = threading.getprofile()
        threading.setprofile(self._note)
        try:
            yield
        finally:
            threading.setprofile(before)

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and self._counts and code.co_name[0] != "<" and code.co_filename.startswith(OURS):
            self.calls[code.co_filename.removeprefix(OURS), code.co_qualname] += 1


def post_lease(folder: Path) -> Journey:
    """A reservation over HTTP: from the client's request until the algorithm has reserved hosts and a page shows them.

    The clock of the site is stopped, so that nothing else happens.
    """
    journey = Journey("POST of a lease until it is a reservation")
    site = _make_site(folder)
    answers, urls = SimpleQueue[str](), SimpleQueue[str]()
    with journey.watched():
        listener = listen("127.0.0.1:0", guarded=False)
        app = make_app(site, DoorSettings())
        thread = threading.Thread(target=run, args=(site, app, listener, urls.put, answers.put))
        thread.start()
        connection = http.client.HTTPConnection(urls.get(timeout=PATIENCE).removeprefix("http://"), timeout=PATIENCE)
        try:
            _await_start(connection)
            _ask(connection, "PUT", "/api/clock", {"paused": True})
            _ask(connection, "POST", "/api/leases", {**LEASE, "start": "+9000"})  # what is done once is not counted
            _wait(site, 1)
            journey.begin()
            _ask(connection, "POST", "/api/leases", LEASE)
            _wait(site, 2)
            journey.end()
        finally:
            connection.close()
            site.stop()
            thread.join()
    return journey


def _await_start(connection: http.client.HTTPConnection) -> None:
    """Ask until the site, which listens before it is ready, is ready."""
    deadline = time.monotonic() + PATIENCE
    status = HTTPStatus.SERVICE_UNAVAILABLE.value
    while status == HTTPStatus.SERVICE_UNAVAILABLE and time.monotonic() < deadline:
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        answer.read()
        status = answer.status
    assert status == HTTPStatus.OK, status


def _make_site(folder: Path) -> Site:
    settings = SiteSettings(name=PLATFORM.name, choice=Choice("leases"), folder=folder)
    return SimulatedSite(settings, read_platform(PLATFORM), PLATFORM.read_bytes(), Settings())


def _ask(connection: http.client.HTTPConnection, method: str, path: str, body: Mapping[str, Any]) -> None:
    connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    content = answer.read()
    assert answer.status < 300, content


def _wait(site: Site, leases: int) -> None:
    """Wait until a snapshot has so many leases with hosts."""
    ready = threading.Event()
    while len(getattr(site.board.snapshot.tables.get("leases"), "rows", ())) < leases:
        assert site.alive
        ready.wait(0.001)


def run_campaign(folder: Path) -> Journey:
    """A campaign of one run of EASY on 8 hosts: from its study file to the stored run."""
    journey = Journey("a campaign of one run of 30 jobs")
    study = written(folder, STUDY)

    def play(store: RunStore) -> None:
        plan = plan_campaign(read_study(study))
        run_missing(read_state(plan, store), store, HereWorkers(), jobs=False)
        assert store.keys() == set(plan.keys)

    play(RunStore(folder / "first"))  # what is done once, such as imports, is not counted
    with journey.watched():
        thread = threading.Thread(target=play, args=(RunStore(folder / "second"),))
        journey.begin()
        thread.start()
        thread.join()
        journey.end()
    return journey


class _Watched:
    """A socket, in whose last exchange but one a journey is made."""

    def __init__(self, socket: RepSocket, journey: Journey, last: int) -> None:
        self._socket, self._journey, self._last = socket, journey, last

    def receive(self, timeout: float | None = None) -> bytes:
        """Receive a request; the last one begins the journey."""
        self._last -= 1
        if not self._last:
            self._journey.begin()
        return self._socket.receive(timeout)

    def send(self, reply: bytes) -> None:
        """Send the reply, which ends the journey."""
        self._socket.send(reply)
        self._journey.end()


def decide(_: Path) -> Journey:
    """EASY over a socket, in the middle of a run: a job ends, the head of the queue starts; one comes that waits."""
    journey = Journey("EASY, one decision over the socket")
    requests = [message(0, ("SIMULATION_BEGINS", begins_data(8)))]
    for data in (submitted_data("1", size=6, walltime=100), submitted_data("2", size=4, walltime=50)):
        requests.append(message(0, ("JOB_SUBMITTED", data)))
    late = submitted_data("3", size=8, walltime=50, subtime=5)
    ends = {"job_id": "w0!1", "job_state": "COMPLETED_SUCCESSFULLY", "return_code": 0, "alloc": "0-5"}
    requests.append(message(5, ("JOB_COMPLETED", ends), ("JOB_SUBMITTED", late)))
    with journey.watched(), RepSocket("tcp://127.0.0.1:*") as socket:
        session, watched = Session(load("easy"), {}), _Watched(socket, journey, len(requests))
        thread = threading.Thread(target=serve, args=(session, watched))
        thread.start()
        with zmq.Context() as context, context.socket(zmq.REQ) as peer:
            peer.connect(socket.address)
            for request in (*requests, message(9, ("SIMULATION_ENDS", {}))):
                peer.send(request)
                peer.recv()
        thread.join()
    return journey


#: Name -> the function that makes the journey, in an empty folder.
JOURNEYS: Final[Mapping[str, Callable[[Path], Journey]]] = {
    "easy": decide,
    "lease": post_lease,
    "campaign": run_campaign,
}


def make_journey(name: str) -> Journey:
    """Make a journey and return its calls."""
    with TemporaryDirectory() as folder:
        return JOURNEYS[name](Path(folder))


def markdown(journeys: Iterable[Journey]) -> Iterator[str]:
    """The lines of the page's table."""
    yield "| journey | files | functions | calls |"
    yield "|---|---|---|---|"
    for one in journeys:
        yield f"| {one.name} | {len(one.files)} | {len(one.calls)} | {one.calls.total()} |"


def passed(journey: Journey) -> Iterator[str]:
    """The functions of a journey with their calls, in the order of the first ones."""
    return (f"{count:6} {file} :: {name}" for (file, name), count in journey.calls.items())
