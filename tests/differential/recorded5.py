"""A recorded run of real Batsim 5: one file, with its inputs in a folder beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from batsched_py.errors import RemoteProtocolError, WorkloadError
from batsched_py.model.external_event import ExternalEvent
from batsched_py.model.features import NO_FEATURES, Features
from batsched_py.model.settings import Settings
from batsched_py.protocol.batsim5.greeting import is_greeting, read_greeting, read_hello
from batsched_py.protocol.codec import Message, decode, encode
from batsched_py.protocol.dialects import V5
from batsched_py.protocol.events import SimulationBegins
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.event_file import read_events
from batsched_py.transcripts.facts import FactKind
from batsched_py.transcripts.transcript import Exchange
from tests.differential.recorded import Command, Recorded, UnusableError

#: Options of Batsim 5 with one value that are heeded, or that change nothing here.
_VALUED: Final = frozenset({"-p", "-w", "--ee", "-e", "-m", "--mmax", "-v"})
#: Long names of options -> short ones.
_SHORT: Final = {
    "--platform": "-p",
    "--workload": "-w",
    "--external-events": "--ee",
    "--export": "-e",
    "--edc-socket-str": "-s",
    "--edc-socket-file": "-S",
}
#: The number of the format of a client that speaks JSON.
_JSON: Final = 2
#: Switches -> our setting; None for those that change nothing.
_SWITCHES: Final = {
    "--energy-host": "energy",
    "--trace-machine-state": None,
    "--trace-pstate-changes": None,
    "--trace-probe-data": None,
    "-q": None,
}


class Recorded5(Recorded):
    """One file `NAME.jsonl`.

    Attributes:
        inputs: the folder of its platform and its workloads.
        code: with which Batsim ended; not 0 if it aborted, crashed or stood still.
    """

    def __init__(self, file: Path, inputs: Path | None = None) -> None:
        """UnusableError if anything is missing or unknown, or if Batsim ended before it said anything."""
        self.folder, self.name, self.batsim = file.parent, file.stem, "5.0.0-rc2"
        self.inputs = inputs if inputs is not None else file.parent / "inputs"
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        said = {line["from"]: line for line in lines}
        if "end" not in said:
            raise UnusableError("it has no end")
        self.code = int(said["end"]["rc"])
        self._command, self._events = _read_command(said["cmd"]["argv"])
        self._check_inputs()
        if self.code and "edc" not in said:
            raise UnusableError(f"Batsim ended with {self.code} before it said anything")
        self.exchanges = _exchanges(lines)
        self.dialect = V5
        self._features = NO_FEATURES
        if not self.code:
            self._features = self._asked()
        #: The text of the user's, which Batsim greets with.
        self.words = read_greeting(self.exchanges[0].request)

    def _asked(self) -> Features:
        """Return what the client asked for, once all that it said is understood. UnusableError."""
        try:
            for exchange in self.exchanges[1:]:
                decode(exchange.reply, V5.commands, keep_unknown=False)
            return read_hello(self.exchanges[0].reply).features
        except RemoteProtocolError as error:
            raise UnusableError(f"its client said what is not understood here: {error}") from error

    #: Our session asks for the reuse of profiles besides.
    not_compared = frozenset({FactKind.REGISTRATIONS, FactKind.CONFIGURATION})

    def told(self, request: bytes) -> bytes:
        """Return a request with the profiles of the workloads, for which our session asks, and the recorded did not."""
        if is_greeting(request) or self._features.forward_profiles_on_simulation_begins:
            return request
        message = decode(request, V5.events, keep_unknown=True)
        if not message.events or type(message.events[0]) is not SimulationBegins:
            return request
        try:
            workloads = [self._workload(path) for path in self._command.workloads]
        except WorkloadError:  # larger numbers than are simulated here
            return request
        profiles = {
            f"w{number}": {name: profile.members for name, profile in workload.profiles.items()}
            for number, workload in enumerate(workloads)
        }
        begins = replace(message.events[0], profiles=profiles)
        message = Message(message.now, (begins, *message.events[1:]))
        return encode(message, V5.events, V5.name, keep_unknown=True)

    @property
    def features(self) -> Features:
        """The features that its client asked for."""
        return self._features

    @property
    def dynamic_jobs(self) -> bool:
        """True if its client would register jobs."""
        return self._features.dynamic_registration

    def simulation(self, *, message_latency: bool, trace: bool = False) -> Simulation:
        """The embedded simulator with what Batsim had; with `trace` for the trace files, too."""
        settings = dict(self._command.settings)
        if self._command.roles:
            settings["roles"] = dict(role.rsplit(":", 1) for role in self._command.roles)
        events: list[ExternalEvent] = []
        for number, path in enumerate(self._events):
            events += read_events(self._input(path), number_of_file=number)
        return Simulation(
            self.platform,
            [self._workload(path) for path in self._command.workloads],
            Settings(
                allow_oversized=True,
                message_latency=message_latency,
                external_events=tuple(sorted(events, key=attrgetter("timestamp"))),
                scheduler_config=self.words,
                **settings,
            ),
            trace=trace,
        )

    def _input(self, path: str) -> Path:
        file = self.inputs / Path(path).name
        if not file.exists():
            raise UnusableError(f"its input {file.name} is not there")
        return file


def files_of_runs(folder: Path) -> list[Path]:
    """The files of all runs below the folder, in order of their names."""
    return [path for path in sorted(folder.glob("**/*.jsonl")) if path.name != "transcript.jsonl"]


def _exchanges(lines: Sequence[dict[str, Any]]) -> tuple[Exchange, ...]:
    messages = [line for line in lines if line["from"] in ("batsim", "edc")]
    if len(messages) < 2:
        raise UnusableError("nothing was said in it")
    pairs = list(zip(messages[::2], messages[1::2], strict=True))
    exchanges = [Exchange(0, bytes.fromhex(pairs[0][0]["hex"]), _hello(pairs[0][1]))]
    exchanges += [Exchange(number, _raw(request), _raw(reply)) for number, (request, reply) in enumerate(pairs[1:], 1)]
    return tuple(exchanges)


def _hello(line: dict[str, Any]) -> bytes:
    """Return the hello of a client; of one that spoke binary FlatBuffers there is its text in JSON, as of Batsim's."""
    flags = _JSON if "b64" in line else int(line["flags"])
    return flags.to_bytes(4, "little") + _raw(line)


def _raw(line: dict[str, Any]) -> bytes:
    text: str = line["text"] if "text" in line else json.dumps(line["data"])
    return text.encode() + b"\0"


def _read_command(arguments: Sequence[str]) -> tuple[Command, Sequence[str]]:
    """Return the command, and the files of external events."""
    values: dict[str, list[str]] = {}
    settings: dict[str, Any] = {"protocol": "v5"}
    words = iter(arguments[1:])
    for word in (_SHORT.get(word, word) for word in words):
        if word in _VALUED:
            values.setdefault(word, []).append(next(words))
        elif word == "-r":
            values.setdefault(word, []).append(f"{next(words)}:{next(words)}")
        elif word in ("-s", "-S"):
            next(words), next(words)
        elif word in _SWITCHES:
            if _SWITCHES[word] is not None:
                settings[str(_SWITCHES[word])] = True
        else:
            raise UnusableError(f"Batsim ran with {word}, which is unknown here")
    if "--mmax" in values:
        settings["machines"] = int(values["--mmax"][0])
    if "-m" in values:
        settings["master_host"] = values["-m"][0]
    roles = tuple(values.get("-r", ()))
    command = Command(values["-p"][0], tuple(values.get("-w", ())), None, roles, settings)
    return command, values.get("--ee", [])
