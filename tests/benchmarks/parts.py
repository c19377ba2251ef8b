"""The parts, one by one and in process: yardstick, codec, session, simulator, and session and simulator together."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from batsched_py.protocol.codec import Message, decode, encode
from batsched_py.protocol.dialect import V4
from batsched_py.protocol.dialects import V5
from batsched_py.protocol.forms import Forms
from tests.benchmarks.inputs import Recording, direct, new_session, new_simulation, record
from tests.benchmarks.timing import Effort, Timing, measure
from tests.benchmarks.yardstick import HOSTS, BareFcfs, Yardstick, bare_jobs, simulate

#: A light load: the queue is short, and what is measured is the price of a message.
LOAD = 0.6


def measure_parts(jobs: int, effort: Effort) -> list[tuple[str, Timing, int]]:
    """(part, its timing, jobs that were simulated in it or 0)."""
    recordings = {name: record(name, jobs, HOSTS, LOAD) for name in ("fcfs", "easy")}
    fcfs = recordings["fcfs"]
    bare_messages = simulate(bare_jobs(jobs), BareFcfs(HOSTS).answer)
    rows = [
        _row("yardstick: bare FCFS + simulator", lambda: _bare(jobs), bare_messages, effort, jobs),
        _row("codec: read request, write reply", lambda: _decision_end(fcfs), len(fcfs.requests), effort),
        _row("codec: write request, read reply", lambda: _batsim_end(fcfs), len(fcfs.requests), effort),
        _row("simulator, canned replies", lambda: _simulator(fcfs), len(fcfs.requests), effort, jobs),
    ]
    for name, recording in recordings.items():
        rows.append(_session_row(name, recording, effort))
        rows += [_whole_row(name, recording, effort, jobs, unwritten=unwritten) for unwritten in (False, True)]
    rows.append(_session_row("fcfs", record("fcfs", jobs, HOSTS, LOAD, V5.name), effort, ", Batsim 5"))
    return rows


def _row(
    name: str, prepare: Callable[[], Callable[[], object]], messages: int, effort: Effort, jobs: int = 0
) -> tuple[str, Timing, int]:
    yardstick = Yardstick()
    samples = measure(prepare, effort, yardstick)
    return name, Timing.of(samples, messages, yardstick), jobs


def _session_row(name: str, recording: Recording, effort: Effort, which: str = "") -> tuple[str, Timing, int]:
    return _row(f"session {name}{which}", lambda: _session(name, recording), len(recording.requests), effort)


def _whole_row(
    name: str, recording: Recording, effort: Effort, jobs: int, *, unwritten: bool
) -> tuple[str, Timing, int]:
    what = f"session {name} + simulator{', unwritten' if unwritten else ''}"
    return _row(what, lambda: _whole(name, recording, unwritten), len(recording.requests), effort, jobs)


def _bare(jobs: int) -> Callable[[], object]:
    described, peer = bare_jobs(jobs), BareFcfs(HOSTS)
    return lambda: simulate(described, peer.answer)


def _decision_end(recording: Recording) -> Callable[[], object]:
    return _code(recording.requests, V4.events, _typed(recording.replies, V4.commands), V4.commands)


def _batsim_end(recording: Recording) -> Callable[[], object]:
    return _code(recording.replies, V4.commands, _typed(recording.requests, V4.events), V4.events)


def _code(raw: tuple[bytes, ...], read: Forms, typed: list[Message], write: Forms) -> Callable[[], object]:
    def action() -> None:
        for request, reply in zip(raw, typed, strict=True):
            decode(request, read, keep_unknown=False)
            encode(reply, write, V4.name, keep_unknown=False)

    return action


def _typed(raw: tuple[bytes, ...], forms: Forms) -> list[Message]:
    return [decode(message, forms, keep_unknown=False) for message in raw]


def _session(name: str, recording: Recording) -> Callable[[], object]:
    session = new_session(name)

    def action() -> None:
        for request in recording.requests:
            session.answer(request)

    return action


def _simulator(recording: Recording) -> Callable[[], object]:
    simulation = new_simulation(recording.workload)
    replies: Iterator[bytes] = iter(recording.replies)
    return lambda: simulation.run(lambda _: next(replies))


def _whole(name: str, recording: Recording, unwritten: bool) -> Callable[[], object]:
    simulation, session = new_simulation(recording.workload), new_session(name)
    return lambda: simulation.run(direct(session) if unwritten else session.answer)
