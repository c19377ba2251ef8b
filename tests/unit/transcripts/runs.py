"""Runs to be compared: small ones made of events and commands, and real ones told in another way."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from batsched_py.protocol.codec import Message, decode, encode
from batsched_py.protocol.dialect import V4, V14, Dialect
from batsched_py.protocol.events import (
    NO_MORE_EXTERNAL_EVENT,
    NO_MORE_STATIC_JOB,
    JobCompleted,
    JobKilled,
    Notify,
    SimulationBegins,
)
from batsched_py.transcripts.transcript import Exchange, Transcript
from tests.clone import ROOT

DATA = ROOT / "tests" / "data" / "batsim"

#: An event or command as (type, data), with its time in front if that is not the message's.
Said = tuple[str, dict[str, Any]] | tuple[float, str, dict[str, Any]]


def exchange(number: int, now: float, told: Iterable[Said], decided: Iterable[Said] = ()) -> Exchange:
    """A request at `now` and its reply."""
    return Exchange(number, _message(now, told), _message(now, decided))


def real(run: str) -> list[Exchange]:
    """A recorded run of real Batsim."""

    def warn(line: str) -> None:
        raise AssertionError(line)

    return list(Transcript(DATA / run / "transcript.jsonl", warn))


def respelled(run: Sequence[Exchange]) -> list[Exchange]:
    """Whole numbers without a point, blanks, members in another order, intervals host by host."""
    return [Exchange(one.number, _respell(one.request), _respell(one.reply)) for one in run]


def shuffled(run: Sequence[Exchange]) -> list[Exchange]:
    """Return the run with the events and commands of each instant in another order."""
    order = random.Random(1)
    return [Exchange(one.number, _shuffle(one.request, order), _shuffle(one.reply, order)) for one in run]


def split(run: Sequence[Exchange]) -> list[Exchange]:
    """A message for each event, the whole reply to the last."""
    parts: list[Exchange] = []
    for one in run:
        document = json.loads(one.request)
        events = document["events"]
        for event in events[:-1]:
            nothing = json.dumps({"now": document["now"], "events": []}).encode()
            parts.append(Exchange(len(parts), json.dumps({**document, "events": [event]}).encode(), nothing))
        last = json.dumps({**document, "events": events[-1:]}).encode()
        parts.append(Exchange(len(parts), last, one.reply))
    return parts


def merged(run: Sequence[Exchange]) -> list[Exchange]:
    """One message for each instant."""
    whole = []
    for number, (_, instant) in enumerate(groupby(run, lambda one: json.loads(one.request)["now"])):
        together = list(instant)
        requests = [json.loads(one.request) for one in together]
        replies = [json.loads(one.reply) for one in together]
        whole.append(Exchange(number, _join(requests), _join(replies)))
    return whole


def late(run: Sequence[Exchange], seconds: float) -> list[Exchange]:
    """All times of what is told that much later."""

    def delay(raw: bytes) -> bytes:
        document = json.loads(raw)
        for event in document["events"]:
            event["timestamp"] += seconds
        return json.dumps({**document, "now": document["now"] + seconds}).encode()

    return [Exchange(one.number, delay(one.request), one.reply) for one in run]


def in_v14(run: Sequence[Exchange], workload: str = "d4cace") -> list[Exchange]:
    """Told by Batsim 1.4: no profiles, no notices, no alloc, jobs of w0 under another name, a kill told once."""
    older: list[Exchange] = []
    for one in run:
        request = _write(decode(one.request, V4.events, keep_unknown=True), V14, events=True)
        reply = _write(decode(one.reply, V4.commands, keep_unknown=True), V14, events=False)
        renamed = (raw.replace(b'"w0!', f'"{workload}!'.encode()) for raw in (request, reply))
        older.append(Exchange(one.number, *renamed))
    return older


def _write(message: Message, dialect: Dialect, *, events: bool) -> bytes:
    kept = tuple(_older(event) for event in message.events if not _is_late(event))
    killed = {job for event in kept if type(event) is JobKilled for job in event.progress}
    kept = tuple(event for event in kept if not (type(event) is JobCompleted and event.job_id in killed))
    forms = dialect.events if events else dialect.commands
    return encode(Message(message.now, kept), forms, dialect.name, keep_unknown=True)


def _is_late(event: Any) -> bool:
    """True for notices that only later versions send."""
    return type(event) is Notify and event.kind in (NO_MORE_STATIC_JOB, NO_MORE_EXTERNAL_EVENT)


def _older(event: Any) -> Any:
    if type(event) is JobCompleted:
        return replace(event, hosts=None, status="SUCCESS", kill_reason="")
    if type(event) is SimulationBegins:
        # Batsim writes "" for "no special role" since version 3.
        plain = (
            replace(host, zone_properties=None, properties=_without_role(host.properties)) for host in event.resources
        )
        return replace(event, resources=tuple(plain), config=replace(event.config, members={}))
    return event


def _without_role(properties: Any) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if name != "role"}


def _message(now: float, said: Iterable[Said]) -> bytes:
    events = []
    for item in said:
        time, kind, data = item if len(item) == 3 else (now, *item)
        events.append({"timestamp": time, "type": kind, "data": data})
    return json.dumps({"now": now, "events": events}).encode()


def _respell(raw: bytes) -> bytes:
    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: _hosts(key, plain(item)) for key, item in reversed(value.items())}
        if isinstance(value, list):
            return [plain(item) for item in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    return json.dumps(plain(json.loads(raw)), indent=1).encode()


def _hosts(key: str, value: Any) -> Any:
    if key not in ("alloc", "resources") or not isinstance(value, str):
        return value
    runs = [piece.split("-") for piece in value.split(" ")]
    return ",".join(str(host) for low, *high in reversed(runs) for host in range(int(low), int((high or [low])[0]) + 1))


def _shuffle(raw: bytes, order: random.Random) -> bytes:
    document = json.loads(raw)
    instants = [list(events) for _, events in groupby(document["events"], lambda event: event["timestamp"])]
    for events in instants:
        order.shuffle(events)
    return json.dumps({**document, "events": [event for events in instants for event in events]}).encode()


def _join(messages: Sequence[dict[str, Any]]) -> bytes:
    events = [event for message in messages for event in message["events"]]
    return json.dumps({"now": max(message["now"] for message in messages), "events": events}).encode()


#: Ways to tell the same run.
RETOLD: dict[str, Callable[[Sequence[Exchange]], list[Exchange]]] = {
    "respelled": respelled,
    "shuffled": shuffled,
    "split": split,
    "merged": merged,
    "shuffled, split": lambda run: split(shuffled(run)),
}
