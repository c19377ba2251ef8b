"""Recordings of real Batsim: each request is understood whole, and our algorithms follow those that decided alike."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import orjson

from batsched_py.errors import BatschedError
from batsched_py.metadata.memory_store import MemoryStore
from batsched_py.plugins import load
from batsched_py.protocol.codec import decode, encode
from batsched_py.protocol.commands import ExecuteJob, RejectJob
from batsched_py.protocol.conversation import TURNS, DecisionSide
from batsched_py.session.session import Session
from batsched_py.transcripts.transcript import Transcript
from tests.acceptance.check import Check, same

#: The algorithms that are fed with recorded requests.
VARIANTS: Final[tuple[tuple[str, Mapping[str, str]], ...]] = (
    ("fcfs", {}),
    ("easy", {"reserve": "counts"}),
    ("easy", {"reserve": "hosts"}),
)


#: Members of a SIMULATION_BEGINS that let the scheduler register jobs, in v4 and in v1.4.
_DYNAMIC: Final = (b'"dynamic-jobs-enabled":true', b'"from_scheduler":{"enabled":true')


def recordings(folder: Path) -> Iterator[Check]:
    """All checks on the folder of transcripts."""
    paths = sorted(folder.glob("*/*/transcript.jsonl"))
    kept = [path for path in paths if _without_loss(path)]
    yield same("recordings whose requests are decoded and encoded without loss", len(paths), len(kept))
    followed: dict[str, int] = {}
    errors: list[str] = []
    for path in paths:
        for name, options in VARIANTS:
            outcome = _follow(path, name, options)
            followed[outcome.split(":")[0]] = followed.get(outcome.split(":")[0], 0) + 1
            if outcome.startswith("error"):
                errors.append(f"{path.parent.name} {name}: {outcome}")
    counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(followed.items()))
    yield Check("fcfs and easy fed with the requests of each", "no error", "; ".join(errors) or counts, not errors)
    yield Check("... and some agree to the end", "at least 1", counts, followed.get("agrees to the end", 0) > 0)


def _without_loss(path: Path) -> bool:
    """Equal JSON, the same order of members and the same types of numbers."""
    side = DecisionSide()
    for exchange in Transcript(path):
        message = side.receive(exchange.request)
        again = encode(message, side.dialect.events, side.dialect.name, keep_unknown=True)
        if repr(orjson.loads(again)) != repr(orjson.loads(exchange.request)):
            return False
        side.turn = TURNS[side.turn, "reply"]
    return True


def _follow(path: Path, name: str, options: Mapping[str, str]) -> str:
    """Feed an algorithm until it decides otherwise than was recorded, or to the end."""
    session = Session(load(name), options, open_store=lambda config: _input_files(path.parent))
    for exchange in Transcript(path):
        if any(switch in exchange.request for switch in _DYNAMIC):
            return "has dynamic jobs"
        try:
            ours = session.answer(exchange.request)
        except BatschedError as error:
            return f"error: exchange {exchange.number}: {error}"
        if _decisions(session, ours) != _decisions(session, exchange.reply):
            return "decides otherwise"
    return "agrees to the end" if session.over else "error: the recording has no end"


def _decisions(session: Session, reply: bytes) -> list[tuple[str, str, str]]:
    """Return the jobs that are started, with their hosts, and those that are rejected; nothing else is compared."""
    commands = decode(reply, session.dialect.commands, keep_unknown=False).events
    return sorted(
        (type(command).__name__, command.job_id, str(command.hosts) if isinstance(command, ExecuteJob) else "")
        for command in commands
        if isinstance(command, (ExecuteJob, RejectJob))
    )


def _input_files(run: Path) -> MemoryStore:
    """In the place of the Redis that a run had: the jobs of its workload file."""
    command = shlex.split(json.loads((run / "run.json").read_text())["batsim_command"])
    name = Path(command[command.index("-w") + 1]).name
    found = [path for folder in (run / "inputs", run.parent / "inputs") for path in folder.glob(name)]
    store = MemoryStore()
    store.put({f"w0!{job['id']}": job for job in json.loads(found[0].read_text())["jobs"]})
    return store
