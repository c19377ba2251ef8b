"""Recorded conversations of WRENCH and C++ batsched, in a compact form: what is said, a line for each exchange.

WRENCH 2.9-dev on SimGrid 4.0 was recorded with batsched 1.4.0. A file begins with the command line by which WRENCH
started batsched; then each line has the time of a request, its events, and after an arrow what was answered:

    0.0 begin HOSTS CORES
    0.0 submit ID HOSTS CORES WALLTIME -> start ID HOSTS
    5.0 ask ID HOSTS WALLTIME; ask ... -> date TIME; date ...
    9.0 end ID                       (or `expire`, by its walltime, or `cancel`, by its user)
    9.0 over
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

FOLDER: Final = Path(__file__).parent / "data" / "wrench"
#: Word for an end -> the members of JOB_COMPLETED.
_ENDS: Final = {
    "end": ("COMPLETED_SUCCESSFULLY", "", "SUCCESS"),
    "expire": ("COMPLETED_FAILED", "", "TIMEOUT"),
    "cancel": ("COMPLETED_KILLED", "terminated by users", "SUCCESS"),
}


class Exchange(NamedTuple):
    """A request of WRENCH, and the answers as words, such as "start 3 0-1,4"."""

    request: bytes
    answers: tuple[str, ...]


class Conversation(NamedTuple):
    """The command line of a decision process, and what it was asked and answered."""

    arguments: tuple[str, ...]
    exchanges: tuple[Exchange, ...]


def read_conversation(path: Path) -> Conversation:
    """Read a file."""
    command, *lines = path.read_text().splitlines()
    return Conversation(tuple(command.split()[2:]), tuple(_exchange(line) for line in lines))


def answers_of(reply: bytes) -> tuple[str, ...]:
    """Return the words for what a reply says."""
    return tuple(_said(json.loads(reply)["events"]))


def request(now: float, *events: str) -> bytes:
    """Write a request as WRENCH does: members in alphabetical order."""
    document = {"events": [_event(now, event.split()) for event in events], "now": now}
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def _exchange(line: str) -> Exchange:
    said, _, answered = line.partition(" -> ")
    now, _, events = said.partition(" ")
    return Exchange(request(float(now), *events.split("; ")), tuple(answered.split("; ") if answered else ()))


def _event(now: float, words: list[str]) -> dict[str, Any]:
    kind, data = _data(*words)
    return {"timestamp": now, "type": kind, "data": data}


def _data(word: str, *values: str) -> tuple[str, Any]:
    if word == "begin":
        return "SIMULATION_BEGINS", _platform(*map(int, values))
    if word == "submit":
        job_id, size, cores, walltime = values
        job = {"id": job_id, "res": int(size), "core": int(cores), "walltime": float(walltime)}
        return "JOB_SUBMITTED", {"job_id": job_id, "job": job}
    if word == "ask":
        job_id, size, walltime = values
        asked = {"job_id": job_id, "job": {"id": job_id, "res": int(size), "walltime": int(walltime)}}
        return "QUERY", {"requests": {"estimate_waiting_time": asked}}
    if word == "over":
        return "SIMULATION_ENDS", None
    state, reason, status = _ENDS[word]
    return "JOB_COMPLETED", {"job_id": values[0], "job_state": state, "kill_reason": reason, "status": status}


def _platform(hosts: int, cores: int) -> dict[str, Any]:
    """Return the first message's data; the names are in another order than the hosts, as WRENCH's are."""
    listed = [
        {"id": str(host), "name": f"node{(host + 1) % hosts}", "core": cores, "state": "idle"} for host in range(hosts)
    ]
    config = {"redis-enabled": False}
    return {"nb_resources": hosts, "allow_time_sharing": False, "config": config, "resources_data": listed}


def _said(events: list[dict[str, Any]]) -> Iterator[str]:
    for event in events:
        data = event["data"]
        if event["type"] == "EXECUTE_JOB":
            yield f"start {data['job_id']} {data['alloc'].replace(' ', ',')}"
        elif event["type"] == "ANSWER":
            yield f"date {data['estimate_waiting_time']['estimated_waiting_time']!r}"
        elif event["type"] != "CALL_ME_LATER":  # which WRENCH ignores
            yield event["type"].lower()
