"""Images of a site's state: a start from one goes on as a start that repeats the whole journal."""

from __future__ import annotations

import math
import os
import random
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.leases.drains import DRAIN_HOSTS, UNDRAIN_HOSTS
from batsched_py.model.external_event import MACHINE_AVAILABLE, MACHINE_UNAVAILABLE
from batsched_py.model.settings import Settings
from batsched_py.runs.choice import Choice
from batsched_py.scheduling.queue_requests import HOLD_JOB, PRIORITISE_JOB, RELEASE_JOB
from batsched_py.site.api.identity import Identity
from batsched_py.site.api.lease_requests import JobRequest, LeaseRequest, ask_for_job, ask_for_lease, ask_to_cancel
from batsched_py.site.image.api import ImageKeeper
from batsched_py.site.inbox import Asked, Inbox
from batsched_py.site.journal import Journal, JournalEntry
from batsched_py.site.simulated import SimulatedSite
from batsched_py.site.site import IMAGE, JOURNAL, TRANSCRIPT, SiteSettings
from batsched_py.traces.simgrid_xml import read_platform
from tests.benchmarks.sites import _deletion, _experiment
from tests.clone import ROOT
from tests.integration.test_site import wait_for
from tests.same_state import difference
from tests.thoroughness import thorough

#: Messages between two images of a site that writes none.
NEVER = 10**9
#: A pace at which time stands nearly still.
STILL = 1e-9
PLATFORM = ROOT / "platforms" / "tiny4.xml"
ANN = Identity("ann", "", asserted=True)
OPERATOR = Identity("local", "", asserted=False)


def make(folder: Path, algorithm: str, every: int = 1, pace: float = STILL) -> tuple[Any, list[str]]:
    """Return a site that was not started, and the list of its warnings to come."""
    told = list[str]()
    choice = Choice(algorithm, {})
    opened = SiteSettings(name="tiny4", choice=choice, folder=folder, pace=pace, image_every=every)
    return SimulatedSite(opened, read_platform(PLATFORM), PLATFORM.read_bytes(), Settings(), told.append), told


@contextmanager
def started(folder: Path, algorithm: str, every: int = 1, pace: float = STILL) -> Iterator[tuple[Any, list[str]]]:
    """Start a site, wait until it has repeated its past, and stop it."""
    site, told = make(folder, algorithm, every, pace)
    site.start()
    try:
        wait_for(lambda: not (site.inbox.starting and site.alive))
        yield site, told
    finally:
        site.stop()
    if site.failure is not None:
        raise site.failure


def requests(chance: random.Random, many: int, algorithm: str) -> Iterator[JournalEntry]:
    """Yield requests of all kinds that an algorithm takes."""
    now, kinds = 0.0, dict[int, str]()
    leases = algorithm in ("leases", "experiments")
    out = {DRAIN_HOSTS: False, MACHINE_UNAVAILABLE: False}
    for number in range(1, many + 1):
        now = round(now + chance.expovariate(1 / 400), 6) if chance.random() < 0.8 else now
        asked, kinds[number] = _request(chance, kinds, out, now, leases=leases, experiments=algorithm == "experiments")
        members = asked.members(number)
        yield JournalEntry(number, number, now, now, asked.kind, asked.target, asked.user, asked.group, members)


def _request(
    chance: random.Random,
    kinds: Mapping[int, str],
    out: dict[str, bool],
    now: float,
    *,
    leases: bool,
    experiments: bool,
) -> tuple[Asked, str]:
    draw = chance.random()
    jobs = [number for number, kind in kinds.items() if kind == "job"]
    if draw < 0.15 and jobs:
        return ask_to_cancel(chance.choice(jobs), ANN), "cancel"
    if draw < 0.3 and jobs and leases:
        target, kind = chance.choice(jobs[-6:]), chance.choice([HOLD_JOB, RELEASE_JOB, RELEASE_JOB, PRIORITISE_JOB])
        priority = {"priority": chance.randint(-9, 9)} if kind == PRIORITISE_JOB else {}
        members = {"job_id": f"site!{target}", "by": "operator", **priority}
        return Asked(kind, lambda _: members, "local", "", target), "change"
    if draw < 0.4:
        ends = {MACHINE_UNAVAILABLE: MACHINE_AVAILABLE, DRAIN_HOSTS: UNDRAIN_HOSTS}
        kind = chance.choice([MACHINE_UNAVAILABLE, *([DRAIN_HOSTS] if leases else [])])
        out[kind] = not out[kind]
        return Asked(kind if out[kind] else ends[kind], lambda _: {"resources": "3"}, "local", ""), "hosts"
    if experiments and draw < 0.6:
        made = [number for number, kind in kinds.items() if kind == "experiment"]
        if made and chance.random() < 0.3:
            return _deletion(chance.choice(made), ANN), "deletion"
        return _experiment(ANN, chance), "experiment"
    if not leases or draw < 0.65:
        return ask_for_job(JobRequest(chance.randint(1, 3), chance.randint(60, 3000)), ANN), "job"
    start = f"+{chance.randint(10, 4000)}" if chance.random() < 0.3 else None
    body = LeaseRequest(chance.randint(1, 4), chance.randint(60, 3000), start, preemptible=start is None)
    return ask_for_lease(body, ANN, now, 0.0), "job"


def keep(folder: Path, entries: Sequence[JournalEntry], time: float = 0.0) -> None:
    """Add requests to the journal of a site that does not run."""
    journal = Journal(folder / JOURNAL, {})
    assert sum(1 for _ in journal.read()) == entries[0].number - 1
    journal.append(entries)
    journal.keep_time(max(entries[-1].time, time))
    journal.close()


def shown(site: Any) -> list[Any]:
    """Return what callers see of a site."""
    snapshot = site.board.snapshot
    tables = {name: [str(row) for row in table.rows] for name, table in snapshot.tables.items()}
    return [snapshot.now, snapshot.waiting, snapshot.running, snapshot.hosts, tables, site.board.ended]


def with_image(folder: Path, algorithm: str, entries: Sequence[JournalEntry]) -> None:
    """Make a site with these requests, and an image of its state after the last one."""
    with started(folder, algorithm, 10**9):
        pass
    keep(folder, entries)
    with started(folder, algorithm) as (site, told):
        assert told == []
        assert not site.failure
    assert (folder / IMAGE).exists(), told


ALGORITHMS = ["experiments", "leases", "easy", "conservative", "priority"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@settings(max_examples=thorough(2))
@given(seed=st.integers(0, 10**6), share=st.floats(0.05, 0.95))
def test_a_start_from_an_image_goes_on_as_a_repetition(
    tmp_path_factory: pytest.TempPathFactory, algorithm: str, seed: int, share: float
) -> None:
    """With the same transcript, the same views, and the same state, object by object."""
    folder = tmp_path_factory.mktemp("site")
    entries = list(requests(random.Random(seed), 40, algorithm))
    many = max(1, int(share * len(entries)))
    with_image(folder / "image", algorithm, entries[:many])
    keep(folder / "image", entries[many:])
    shutil.copytree(folder / "image", folder / "journal")
    (folder / "journal" / IMAGE).unlink()
    with (
        started(folder / "image", algorithm, NEVER) as (imaged, told),
        started(folder / "journal", algorithm, NEVER) as (repeated, others),
    ):
        imaged.stop()
        repeated.stop()
        assert (told, others) == ([], [])
        assert imaged._images._messages > 0, "it was not started from its image"
        assert shown(imaged) == shown(repeated)
        assert imaged.inbox.outcomes.ignored == repeated.inbox.outcomes.ignored
        assert difference(imaged.state(), repeated.state(), (SimulatedSite, Inbox)) == ""
    one, other = ((folder / name / TRANSCRIPT).read_bytes() for name in ("image", "journal"))
    assert one == other


@pytest.fixture(scope="module")
def imaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site with an image, and requests that came after it."""
    folder = tmp_path_factory.mktemp("imaged") / "site"
    entries = list(requests(random.Random(5), 20, "experiments"))
    with_image(folder, "experiments", entries[:12])
    keep(folder, entries[12:])
    return folder


@pytest.fixture(scope="module")
def expected(imaged: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], bytes]:
    """Return the views and the transcript of that site, started from its image."""
    folder = tmp_path_factory.mktemp("expected") / "site"
    shutil.copytree(imaged, folder)
    with started(folder, "experiments", NEVER) as (site, told):
        assert told == []
    return shown(site), (folder / TRANSCRIPT).read_bytes()


def _line(number: int, change: Callable[[Any], object]) -> Callable[[bytes], bytes]:
    """Return a change of a line of an image, whose hash follows."""

    def changed(content: bytes) -> bytes:
        lines = [orjson.loads(line) for line in content.splitlines()]
        change(lines[number])
        state = orjson.dumps(lines[1])
        lines[0]["content"] = sha256(state).hexdigest()
        return orjson.dumps(lines[0]) + b"\n" + state + b"\n"

    return changed


def _group(state: Any, name: str) -> Any:
    return next(group for part in state["state"].values() for group in part if name in group["class"])


def _named(name: str, other: str) -> Callable[[bytes], bytes]:
    """Return a change of the class of some objects."""
    return _line(1, lambda state: _group(state, name).update({"class": other}))


def _constant(group: Any) -> None:
    group["values"] = ["mixed", [["constant", "os:system"]] * len(group["values"][1])]


def _other(name: str, attribute: str, value: object) -> Callable[[bytes], bytes]:
    """Return a change of an attribute of some objects."""

    def change(state: Any) -> None:
        group = _group(state, name)
        column = group["of"][group["names"].index(attribute)]
        column[1] = [value] * len(column[1])

    return _line(1, change)


DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty header": (lambda content: b"\n" + content.split(b"\n", 1)[1], "is damaged"),
    "cut": (lambda content: content[: len(content) // 2], "is damaged"),
    "cut at the last byte": (lambda content: content[:-1], "is damaged"),
    "a byte": (lambda content: content[:-900] + bytes([content[-900] ^ 1]) + content[-899:], "is damaged"),
    "no JSON": (lambda content: b"x" * 100, "is damaged"),
    "another form": (_line(0, lambda header: header.update(form=99)), "another version"),
    "another program": (_line(0, lambda header: header.update(program="0")), "another version"),
    "another site": (_line(0, lambda header: header.update(site="0")), "is of another site"),
    "another start": (_line(0, lambda header: header.update(made="0")), "is of another site"),
    "another journal": (_line(0, lambda header: header["past"].update(journal="0")), "does not follow"),
    "more requests": (_line(0, lambda header: header["past"].update(requests=10**6)), "does not follow"),
    "another transcript": (_line(0, lambda header: header["past"].update(transcript="0")), "does not follow"),
    "a longer transcript": (_line(0, lambda header: header["past"].update(size=10**9)), "does not follow"),
    "a class of Python": (
        _line(1, lambda state: _group(state, "Lease").update({"class": "os:_Environ"})),
        "is damaged",
    ),
    "a class of the site": (
        _line(1, lambda state: _group(state, "Lease").update({"class": "batsched_py.site.journal:Journal"})),
        "is damaged",
    ),
    "another class": (
        _line(1, lambda state: _group(state, "leases.lease:Lease").update({"class": "list"})),
        "is damaged",
    ),
    "a method": (_line(1, lambda state: _group(state, "method")["of"][1][1].__setitem__(0, "__init__")), "is damaged"),
    "a constant": (_line(1, lambda state: _constant(_group(state, "dict"))), "is damaged"),
    "an object more": (
        _line(1, lambda state: _group(state, "dict").update(items=["objects", [10**9]])),
        "is damaged",
    ),
    "more objects than bytes": (_line(1, lambda state: _group(state, "dict").update(count=10**12)), "is damaged"),
    "no notes": (_line(1, lambda state: state.update(notes={})), "is damaged"),
    "other leases": (_other("leases.lease:LeaseRun", "end", 1e9), "the journal does not go on from it"),
    "another count of messages": (_other("session:Session", "messages", 1), "is damaged"),
    "no state": (_line(1, lambda state: state.pop("state")), "is damaged"),
    "a list": (_line(1, lambda state: state.update(state=[])), "is damaged"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_whatever_is_wrong_with_an_image_the_journal_is_repeated(
    imaged: Path, expected: tuple[list[Any], bytes], tmp_path: Path, name: str
) -> None:
    """In one line; the site is the same."""
    folder = tmp_path / "site"
    shutil.copytree(imaged, folder)
    damage, why = DAMAGES[name]
    (folder / IMAGE).write_bytes(damage((folder / IMAGE).read_bytes()))
    with started(folder, "experiments", NEVER) as (site, told):
        assert len(told) == 1, told
        assert why in told[0]
        assert told[0].endswith("; the whole journal is repeated")
    assert shown(site) == expected[0]
    assert (folder / TRANSCRIPT).read_bytes() == expected[1]


def test_an_image_is_not_read_after_the_transcript_was_moved_away(imaged: Path, tmp_path: Path) -> None:
    """The journal alone suffices, and makes it anew."""
    folder = tmp_path / "site"
    shutil.copytree(imaged, folder)
    (folder / TRANSCRIPT).rename(tmp_path / "transcript.jsonl")
    with started(folder, "experiments", NEVER) as (_, told):
        assert "does not follow from journal and transcript" in told[0]
    first = (tmp_path / "transcript.jsonl").read_bytes().partition(b"\n")[2]
    assert (folder / TRANSCRIPT).read_bytes().partition(b"\n")[2].startswith(first)


#: Where a process that writes an image is killed: at a call of a function.
PHASES: dict[str, tuple[str, str]] = {
    "before the file": ("batsched_py.site.image.keeper", "describe"),
    "in the file": ("batsched_py.site.image.files", "write_pieces_atomically"),
    "before it is on disk": ("os", "fsync"),
    "before it is renamed": ("os", "replace"),
}


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("first", [False, True])
def test_a_site_that_is_killed_while_an_image_is_written_starts(
    imaged: Path, tmp_path: Path, phase: str, first: bool
) -> None:
    """From the image before, if there was one; nothing is left of the other one."""
    folder = tmp_path / "site"
    shutil.copytree(imaged, folder)
    if first:
        (folder / IMAGE).unlink()
    site, _ = make(folder, "experiments", NEVER)
    site.start()
    wait_for(lambda: not site.inbox.starting)
    process = os.fork()
    if not process:
        _write_until(site, *PHASES[phase])
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL
    site.stop()
    with started(folder, "experiments", NEVER) as (again, told):
        assert told == []
        assert (again._images._messages == 0) is first
    assert sorted(path.name for path in folder.glob(f".{IMAGE}.*")) == []


def _write_until(site: Any, module: str, name: str) -> None:
    """Write an image, and die when a function is called."""

    def die(*_: Any, **__: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(sys.modules[module], name, die)
    ImageKeeper._write(site._images, site._images._graph)
    os._exit(0)


def _called(site: Any) -> bool:
    """Let the simulation's thread look for something to do."""
    site.inbox.control(lambda *_: None)
    return True


def test_an_image_is_written_in_the_background(tmp_path: Path) -> None:
    """After so many messages; a site that is killed starts from it."""
    folder = tmp_path / "site"
    site, told = make(folder, "experiments", every=5)
    site.start()
    wait_for(lambda: bool(site.inbox.ready))
    for _ in range(12):
        site.inbox.accept([ask_for_job(JobRequest(1, 10), ANN)])
        wait_for(lambda: not (site.inbox.outcomes.taken < len(site.inbox.entries)))
    wait_for(lambda: _called(site) and not (site._images._process is None and not (folder / IMAGE).exists()))
    wait_for(lambda: _called(site) and not (site._images._process is not None))
    assert told == []
    shutil.copytree(folder, tmp_path / "killed")
    site._images._every = NEVER
    site.stop()
    with started(tmp_path / "killed", "experiments", NEVER) as (again, told):
        assert told == []
        assert again._images._messages >= 5
    assert again.board.ended == site.board.ended
    assert oct((folder / IMAGE).stat().st_mode)[-3:] == "600"


def test_an_algorithm_that_an_image_cannot_hold_is_repeated(tmp_path: Path) -> None:
    """One of a user: the site says so once, and has no image."""
    (tmp_path / "mine.py").write_text(
        "from batsched_py.api import Scheduler\n"
        "class Mine(Scheduler):\n"
        "    name = 'mine'\n"
        "    def decide(self, view, plan):\n"
        "        for job in view.queue:\n"
        "            if job.size <= len(plan.free):\n"
        "                plan.start(job, plan.free.first(job.size))\n"
    )
    folder = tmp_path / "site"
    for _ in range(2):
        with started(folder, f"{tmp_path}/mine.py:Mine", pace=math.inf) as (site, told):
            site.inbox.accept([ask_for_job(JobRequest(1, 10), ANN)])
            wait_for(lambda: bool(site.board.ended))
        assert len(told) == 1
        assert "Mine: there are no images, and a start repeats the whole journal" in told[0]
    assert not (folder / IMAGE).exists()
