"""A recorded run of real Batsim: what was said, and the platform, workloads and options to run it again."""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson
from msgspec.structs import replace

from batsched_py.metadata.memory_store import MemoryStore
from batsched_py.metadata.store import JobStore
from batsched_py.model.features import NO_FEATURES, Features
from batsched_py.model.platform import Platform
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.protocol.dialect import V14, Dialect
from batsched_py.protocol.events import Config, SimulationBegins
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.event_file import read_events
from batsched_py.traces.simgrid_xml import read_platform
from batsched_py.transcripts.decisions import dialect_of_run
from batsched_py.transcripts.facts import FactKind
from batsched_py.transcripts.transcript import Exchange, Transcript

#: Switches of Batsim 3 and 4 -> our setting.
_SWITCHES: Final = {
    "-E": "energy",
    "--enable-compute-sharing": "compute_sharing",
    "--enable-dynamic-jobs": "dynamic_jobs",
    "--acknowledge-dynamic-jobs": "acknowledge_dynamic_jobs",
    "--enable-profile-reuse": "profile_reuse",
    "--forward-profiles-on-submission": "forward_profiles",
    "--forward-unknown-events": "forward_unknown_events",
}
#: Switches that say what SIMULATION_BEGINS says as well, or that change nothing in the conversation.
_WITHOUT_EFFECT: Final = frozenset(
    {"--enable-redis", "--disable-schedule-tracing", "--disable-machine-state-tracing", "-q", "--quiet"}
)
#: Options with a value that are heeded, or that change nothing here.
_VALUED: Final = frozenset(
    {
        *("-p", "-w", "-r", "--events", "--mmax", "--sched-cfg", "--config-file", "-s", "-e", "-v", "--verbosity"),
        "--sg-cfg",
        *("--redis-hostname", "--redis-port", "--redis-prefix"),
    }
)


class UnusableError(Exception):
    """A recording cannot be compared; the text says why."""


@dataclass(frozen=True, slots=True)
class Command:
    """Batsim's command line, as far as a run depends on it."""

    platform: str
    workloads: tuple[str, ...]
    events: str | None
    roles: tuple[str, ...]
    settings: Mapping[str, Any]


class Recorded:
    """One folder: `transcript.jsonl`, `run.json`, Batsim's output files; inputs there or in a folder beside it."""

    #: With which Batsim ended.
    code = 0

    def __init__(self, folder: Path) -> None:
        """UnusableError if anything is missing or unknown."""
        self.folder = folder
        self.name = folder.name
        run = json.loads((folder / "run.json").read_text())
        if missing := [member for member in ("batsim", "batsim_command") if member not in run]:
            raise UnusableError(f"run.json has no {missing[0]}")
        #: Version of Batsim.
        self.batsim: str = run["batsim"]
        self._command = _read_command(run["batsim_command"])
        self._check_inputs()
        self.exchanges: tuple[Exchange, ...] = tuple(Transcript(folder / "transcript.jsonl"))
        if not self.exchanges:
            raise UnusableError("nothing was said in it")
        self.dialect: Dialect = dialect_of_run(self.exchanges[0].request)
        self._config = _config(self.exchanges[0].request, self.dialect)

    def __str__(self) -> str:
        return self.name

    @property
    def features(self) -> Features:
        """The features that Batsim 5 was asked for; nothing in earlier versions."""
        return NO_FEATURES

    #: Facts that our session may tell otherwise.
    not_compared: frozenset[FactKind] = frozenset({FactKind.REGISTRATIONS})

    def told(self, request: bytes) -> bytes:
        """Return a request as our session would have got it, had it been there."""
        return request

    @property
    def dynamic_jobs(self) -> bool:
        """True if the scheduler could register jobs."""
        return self._config.dynamic_jobs

    @property
    def platform(self) -> Platform:
        """The platform that Batsim read."""
        return read_platform(self._input(self._command.platform))

    def simulation(self, *, message_latency: bool) -> Simulation:
        """The embedded simulator with what Batsim had; workloads are called what Batsim called them."""
        settings = dict(self._command.settings)
        if self._command.events is not None:
            settings["external_events"] = read_events(self._input(self._command.events))
        if self._command.roles:
            settings["roles"] = dict(role.rsplit(":", 1) for role in self._command.roles)
        config = self._config
        if config.redis:
            settings |= {
                "redis_hostname": config.redis_hostname,
                "redis_port": config.redis_port,
                "redis_prefix": config.redis_prefix,
            }
        if self.dialect.name == V14.name:
            settings |= {
                "protocol": "v1.4",
                "workload_names": self._workload_names(),
                "dynamic_jobs": config.dynamic_jobs,
                "acknowledge_dynamic_jobs": config.dynamic_jobs_acknowledged,
                "forward_profiles": config.profiles_forwarded,
            }
        return Simulation(
            self.platform,
            [self._workload(path) for path in self._command.workloads],
            Settings(allow_oversized=True, message_latency=message_latency, **settings),
            store=self._store({}) if config.redis else None,
        )

    def jobs_in_redis(self) -> JobStore:
        """Return the jobs that Batsim and the scheduler had put into Redis, for a session to read."""
        static: dict[str, Any] = {}
        for name, path in zip(self._workload_names(), self._command.workloads, strict=True):
            static |= {f"{name}!{job.id}": job.members for job in self._workload(path).jobs}
        return self._store(static)

    def _store(self, jobs: Mapping[str, Any]) -> MemoryStore:
        """These jobs, and what the recorded scheduler put into Redis, of which only the traces are left.

        What Batsim wrote of a registered job in `out_jobs.csv` tells what its description was. All were delay jobs.
        """
        registered: dict[str, Any] = {}
        profiles: dict[tuple[str, str], Any] = {}
        static = set(self._workload_names())
        with (self.folder / "out_jobs.csv").open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["workload_name"] not in static]
        for row in rows:
            job_id, run = f"{row['workload_name']}!{row['job_id']}", float(row["execution_time"])
            profile = row.get("profile") or f"delay_{run:.6f}"
            registered[job_id] = {
                "id": job_id,
                "subtime": float(row["submission_time"]),
                "walltime": float(row["requested_time"]),
                "res": int(row.get("requested_number_of_resources") or row["requested_number_of_processors"]),
                "profile": profile,
            }
            profiles[row["workload_name"], profile] = {"type": "delay", "delay": run}
        store = MemoryStore()
        store.put({**jobs, **registered}, profiles)
        return store

    def _workload(self, path: str) -> Workload:
        return replace(read_workload(self._input(path)), source=path)

    def _workload_names(self) -> tuple[str, ...]:
        """In v1.4 a hash of something: the first name that is heard in a submission that nobody registered."""
        if self.dialect.name != V14.name:
            return tuple(f"w{number}" for number in range(len(self._command.workloads)))
        registered = {event["data"]["job_id"] for event in _said(self.exchanges, "SUBMIT_JOB", "reply")}
        heard = [event["data"]["job_id"] for event in _said(self.exchanges, "JOB_SUBMITTED", "request")]
        return tuple(dict.fromkeys(job_id.partition("!")[0] for job_id in heard if job_id not in registered))

    def _check_inputs(self) -> None:
        command = self._command
        for path in (command.platform, *command.workloads, *([command.events] if command.events else ())):
            self._input(path)

    def _input(self, path: str) -> Path:
        name = Path(path).name
        for folder in (self.folder / "inputs", self.folder.parent / "inputs"):
            if (folder / name).exists():
                return folder / name
        raise UnusableError(f"its input {name} is not there")


def folders_of_runs(folder: Path) -> list[Path]:
    """The folders of all runs below the folder, in order of their names."""
    return [path.parent for path in sorted(folder.glob("**/run.json"))]


def recordings(folder: Path) -> list[Recorded]:
    """All runs below the folder, in order of their names."""
    return [Recorded(run) for run in folders_of_runs(folder)]


def _read_command(text: str) -> Command:
    words = iter(shlex.split(text)[1:])
    values: dict[str, list[str]] = {}
    settings: dict[str, Any] = {}
    for word in words:
        if word in _SWITCHES:
            settings[_SWITCHES[word]] = True
        elif word in _VALUED:
            values.setdefault(word, []).append(next(words, ""))
        elif word not in _WITHOUT_EFFECT:
            raise UnusableError(f"Batsim ran with {word}, which the simulator does not have")
    if "-p" not in values or "-w" not in values:
        raise UnusableError("Batsim ran without a platform or a workload")
    if "--mmax" in values:
        settings["machines"] = int(values["--mmax"][0])
    if "--sg-cfg" in values:
        items = (item.partition(":") for item in values["--sg-cfg"])
        settings["simgrid_config"] = tuple((name, value) for name, _, value in items)
    if "--sched-cfg" in values:
        settings["scheduler_config"] = values["--sched-cfg"][0]
    return Command(
        values["-p"][0],
        tuple(values["-w"]),
        values.get("--events", [None])[0],
        tuple(values.get("-r", ())),
        settings,
    )


def _config(request: bytes, dialect: Dialect) -> Config:
    event = orjson.loads(request)["events"][0]
    begins = dialect.events.readers["SIMULATION_BEGINS"](event["timestamp"], event["data"])
    assert isinstance(begins, SimulationBegins)
    return begins.config


def _said(exchanges: tuple[Exchange, ...], kind: str, side: str) -> Iterator[Any]:
    for exchange in exchanges:
        yield from (event for event in orjson.loads(getattr(exchange, side))["events"] if event["type"] == kind)
