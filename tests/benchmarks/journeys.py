"""Journeys through the program: distinct functions of batsched-py that run, their files and their calls.

Each journey is made twice, to separate what is done once (reading tables, filling caches) from what each request costs:
`first` counts the first time, `calls` an identical request after it. Imports are made before and not counted.

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


#: File and function -> its calls.
Calls = Counter[tuple[str, str]]


@dataclass
class Journey:
    """The calls of functions of batsched-py between `begin` and `end`, in all watched threads.

    Attributes:
        name: of the journey.
        first: the calls of the first time.
        calls: the calls of the latest time.
    """

    name: str
    first: Calls = field(default_factory=Counter)
    calls: Calls = field(default_factory=Counter)
    _counted: Calls | None = None

    def begin(self) -> None:
        """Count from here on."""
        if not self.first:
            self._counted = self.first
        else:
            self._counted = self.calls = Counter()

    def end(self) -> None:
        """Count no more."""
        self._counted = None

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
        if (
            event == "call"
            and self._counted is not None
            and code.co_name[0] != "<"
            and code.co_filename.startswith(OURS)
        ):
            self._counted[code.co_filename.removeprefix(OURS), code.co_qualname] += 1


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
            for leases in (1, 2):
                journey.begin()
                _ask(connection, "POST", "/api/leases", LEASE)
                _wait(site, leases)
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

    with journey.watched():
        for name in ("first", "second"):
            thread = threading.Thread(target=play, args=(RunStore(folder / name),))
            journey.begin()
            thread.start()
            thread.join()
            journey.end()
    return journey


class _Watched:
    """A socket, of whose exchanges some are journeys."""

    def __init__(self, socket: RepSocket, journey: Journey, exchanges: range) -> None:
        self._socket, self._journey, self._exchanges, self._number = socket, journey, exchanges, -1

    def receive(self, timeout: float | None = None) -> bytes:
        """Receive a request, which may begin a journey."""
        self._number += 1
        if self._number in self._exchanges:
            self._journey.begin()
        return self._socket.receive(timeout)

    def send(self, reply: bytes) -> None:
        """Send the reply, which ends the journey."""
        self._socket.send(reply)
        self._journey.end()


def decide(_: Path) -> Journey:
    """EASY over a socket, in the middle of a run: a job ends, the head of the queue starts; one comes that waits."""
    journey = Journey("EASY, one decision over the socket")
    jobs = [("JOB_SUBMITTED", submitted_data(str(number), size=6, walltime=50)) for number in (1, 2)]
    requests = [message(0, ("SIMULATION_BEGINS", begins_data(8))), *(message(0, job) for job in jobs)]
    begun = len(requests)
    for number in (1, 2):
        now = 5.0 * number
        ends = {"job_id": f"w0!{number}", "job_state": "COMPLETED_SUCCESSFULLY", "return_code": 0, "alloc": "0-5"}
        late = submitted_data(str(number + 2), size=6, walltime=50, subtime=now)
        requests.append(message(now, ("JOB_COMPLETED", ends), ("JOB_SUBMITTED", late)))
    with journey.watched(), RepSocket("tcp://127.0.0.1:*") as socket:
        session, watched = Session(load("easy"), {}), _Watched(socket, journey, range(begun, len(requests)))
        thread = threading.Thread(target=serve, args=(session, watched))
        thread.start()
        with zmq.Context() as context, context.socket(zmq.REQ) as peer:
            peer.connect(socket.address)
            for request in (*requests, message(19, ("SIMULATION_ENDS", {}))):
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
    yield "| journey | time | files | functions | calls |"
    yield "|---|---|---|---|---|"
    for one in journeys:
        for time_of_it, calls in (("first", one.first), ("again", one.calls)):
            files = {file for file, _ in calls}
            yield f"| {one.name} | {time_of_it} | {len(files)} | {len(calls)} | {calls.total()} |"


def passed(journey: Journey) -> Iterator[str]:
    """The functions of a journey with their calls by module, in the order of the first ones; then numbers by package.

    Functions of the first time only are marked.
    """
    together = {**journey.first, **journey.calls}
    for module in dict.fromkeys(file for file, _ in together):
        yield module
        for (file, name), count in together.items():
            if file == module:
                yield f"{count:6} {name}{'' if (file, name) in journey.calls else ' (first time only)'}"
    packages = Counter(file.partition("/")[0] for file, _ in journey.calls)
    yield ""
    yield "functions, without those of the first time only:"
    yield from (f"{count:6} {package}" for package, count in packages.most_common())
