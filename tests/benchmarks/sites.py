"""A site with many experiments and leases: its start, its memory, and what requests cost it."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from batsched_py.cli.commands.site import DEFAULT
from batsched_py.model.settings import Settings
from batsched_py.runs.choice import Choice
from batsched_py.site.api.identity import Identity
from batsched_py.site.api.lease_requests import LeaseRequest, ask_for_lease, ask_to_cancel
from batsched_py.site.inbox import Asked
from batsched_py.site.journal import Journal, JournalEntry
from batsched_py.site.simulated import SimulatedSite
from batsched_py.site.site import JOURNAL, TRANSCRIPT, SiteSettings
from batsched_py.traces.platform_writer import write_homogeneous
from batsched_py.traces.simgrid_xml import read_platform
from tests.site_process import SiteProcess

HOSTS: Final = 256
#: The share of the hosts that leases would use if none was refused.
LOAD: Final = 0.8
#: The mean size and duration of leases, in hosts and seconds.
_SIZE: Final = 4.5
_SECONDS: Final = 3630.0
#: Leases and experiments of the sites that are measured.
SIZES: Final = ((0, 0), (0, 1_000), (3_000, 300), (20_000, 1_000))
#: Seconds between two questions whether a site has started; repeated requests of a kind.
_PAUSE: Final = 0.2
_TIMES: Final = 21
#: The list of experiments as the page reads it; the lease that is requested.
_EXPERIMENTS: Final = "managed_experiments?newest=true&limit=50"
_WANTED: Final[dict[str, Any]] = {"nodes": 1, "duration": 60}
_USERS: Final = tuple(f"user{number}" for number in range(20))


def made_site(
    folder: Path, leases: int, experiments: int, *, load: float = LOAD, pace: float = 60.0, hosts: int = HOSTS
) -> SimulatedSite:
    """Return a site, not started, whose journal has so many requests, made anew if the folder has none.

    They arrive evenly, with a tenth as many cancellations; a fifth of the experiments is deleted.
    """
    platform = folder / "platform.xml"
    if not platform.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_homogeneous(platform, hosts)
        _open(folder, pace).stop()
        journal = Journal(folder / "site" / JOURNAL, {})
        for _ in journal.read():
            raise AssertionError("the folder has requests")
        entries = list(_entries(leases, experiments, load, hosts))
        for begin in range(0, len(entries), 1000):
            journal.append(entries[begin : begin + 1000])
        journal.keep_time(max((entry.time for entry in entries), default=0.0))
        journal.close()
    return _open(folder, pace)


def _open(folder: Path, pace: float) -> SimulatedSite:
    platform = folder / "platform.xml"
    settings = SiteSettings(name=platform.name, choice=Choice(DEFAULT, {}), folder=folder / "site", pace=pace)
    return SimulatedSite(settings, read_platform(platform), platform.read_bytes(), Settings())


def _entries(leases: int, experiments: int, load: float, hosts: int) -> Iterator[JournalEntry]:
    chance, now, number = random.Random(7), 0.0, 0
    every = _SIZE * _SECONDS / (load * hosts)
    kinds = [True] * leases + [False] * experiments
    chance.shuffle(kinds)
    made: dict[bool, list[tuple[int, Identity]]] = {True: [], False: []}
    for is_lease in kinds:
        now = round(now + chance.expovariate(1 / every), 6)
        who = Identity(chance.choice(_USERS), "", asserted=True)
        number += 1
        made[is_lease].append((number, who))
        yield _entry(number, now, _lease(who, now, chance) if is_lease else _experiment(who, chance))
        if chance.random() < (0.1 if is_lease else 0.2):
            number += 1
            target, who = made[is_lease].pop(chance.randrange(len(made[is_lease])))
            yield _entry(number, now, ask_to_cancel(target, who) if is_lease else _deletion(target, who))


def _entry(number: int, now: float, asked: Asked) -> JournalEntry:
    members = asked.members(number)
    return JournalEntry(number, number, now, now, asked.kind, asked.target, asked.user, asked.group, members)


def _lease(who: Identity, now: float, chance: random.Random) -> Asked:
    start = f"+{chance.randint(600, 86_400)}" if chance.random() < 0.2 else None
    body = LeaseRequest(chance.randint(1, 8), chance.randint(60, 7200), start, preemptible=start is None)
    return ask_for_lease(body, who, now, 0.0)


def _experiment(who: Identity, chance: random.Random) -> Asked:
    computes = [
        {"compute": {"name": name, "locations": ["here"], "min": size, "resources": [{"network": "lan"}]}}
        for name, size in (("Server", 1), ("Client", chance.randint(1, 3)))
    ]
    resources = [{"network": {"name": "lan", "location": "here"}}, *computes]
    descriptor = json.dumps({"name": "load", "duration": chance.choice((60, 120, 1440)), "resources": resources})
    members = {"descriptor": descriptor, "owner": who.user, "origin": 0.0}
    return Asked("submit_experiment", lambda number: members | {"experiment": number}, who.user, who.group)


def _deletion(target: int, who: Identity) -> Asked:
    return Asked("delete_experiment", lambda _: {"experiment": str(target)}, who.user, who.group, target)


class MeasuredSite(NamedTuple):
    """A site that was started with its journal.

    Attributes:
        leases, experiments: the numbers of requests.
        decisions: the number of messages that were repeated.
        start: CPU seconds until it accepted requests.
        memory: bytes of the process.
        again, again_memory: the same for a second start, from the image that the first one has left.
        write, read: seconds of a request for a lease and of a list of 50, medians.
        event: bytes of the event after a request, and of all lists that it replaces.
    """

    leases: int
    experiments: int
    decisions: int
    start: float
    memory: int
    again: float
    again_memory: int
    write: float
    read: float
    event: int
    lists: int


def measure_site(leases: int, experiments: int) -> MeasuredSite:
    """Start a site with so many requests, and measure it from outside."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        made_site(folder, leases, experiments).stop()
        opened = ("site", "-p", str(folder / "platform.xml"))
        site = SiteProcess(folder, ("--pace", "0.001"), opened, files=1024)  # as a process of its own
        try:
            client, pid = site.client(), site.process.pid
            while not _is_ready(site):
                time.sleep(_PAUSE)
            start, memory = _cpu_seconds(pid), _memory(pid)
            with (folder / "site" / TRANSCRIPT).open("rb") as transcript:
                decisions = sum(1 for _ in transcript) // 2
            writes = sorted(_seconds_of(lambda: client.post("api", "leases", body=_WANTED)) for _ in range(_TIMES))
            reads = sorted(_seconds_of(lambda: client.get("api", "leases", limit=50)) for _ in range(_TIMES))
            event = _event_size(site, lambda: client.post("api", "leases", body=_WANTED))
            now = client.get("api", "clock")["now"]
            around = f"begin={now - 9600}&end={now + 19_200}"
            paths = ("api/leases?newest=true&limit=50", "api/queue?limit=50", f"api/schedule?{around}", _EXPERIMENTS)
            lists = sum(len(_read(site, path)) for path in paths)
        finally:
            site.end()
        again = _restarted(folder, opened)
    middle = _TIMES // 2
    return MeasuredSite(
        leases, experiments, decisions, start, memory, *again, writes[middle], reads[middle], event, lists
    )


def _restarted(folder: Path, opened: Sequence[str]) -> tuple[float, int]:
    """Return CPU seconds and memory of a start of a site that has written an image."""
    site = SiteProcess(folder, ("--pace", "0.001"), opened, files=1024)
    try:
        while not _is_ready(site):
            time.sleep(_PAUSE)
        return _cpu_seconds(site.process.pid), _memory(site.process.pid)
    finally:
        site.kill()


def markdown(rows: Sequence[MeasuredSite]) -> Iterator[str]:
    """The lines of the page's table."""
    starts = ("start: CPU s", "MB", "from an image: CPU s", "MB")
    heads = ("leases", "experiments", "decisions", *starts, "request: ms", "list: ms", "event: kB", "its lists: kB")
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        both = f"{row.start:.1f} | {row.memory / 1e6:.0f} | {row.again:.1f} | {row.again_memory / 1e6:.0f}"
        times = f"{both} | {row.write * 1e3:.1f} | {row.read * 1e3:.1f}"
        sizes = f"{row.event / 1e3:.1f} | {row.lists / 1e3:.0f}"
        yield f"| {row.leases} | {row.experiments} | {row.decisions} | {times} | {sizes} |"


def _read(site: SiteProcess, path: str) -> bytes:
    headers = {"X-Batsched-Py-Operator": "true", "Accept": "application/json"}
    with urlopen(Request(f"{site.url.rstrip('/')}/{path}", headers=headers), timeout=600) as answer:
        return bytes(answer.read())


def _is_ready(site: SiteProcess) -> bool:
    try:
        return bool(_read(site, "healthz"))
    except HTTPError as error:
        if error.code != HTTPStatus.SERVICE_UNAVAILABLE:
            raise
        return False


def _event_size(site: SiteProcess, act: Callable[[], object]) -> int:
    """Return the bytes of the next event with changes after an action."""
    with urlopen(f"{site.url.rstrip('/')}/api/events", timeout=600) as answer:
        lines = (line for line in answer if line.startswith(b"data:"))
        next(lines)
        act()
        return next(len(line) for line in lines if b'"changes":{' in line)


def _seconds_of(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
