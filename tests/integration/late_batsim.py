"""A Batsim that tells everything late and one by one, as hostile as the protocol allows (E4, E5, E15, E18).

No event shares a message with another, events of one instant come in any order, an end is told after its walltime is
over, a call after it was due, and other things in between. What really is (which hosts run what until when) is kept
apart from what was told, and every decision is judged by it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, Final

from batsched_py.hostset import format_bits, parse_bits
from tests.builders import begins_data, message

#: Seconds from what happens to the message that tells it: at once, by latencies that were seen, and long.
LATENESS: Final = (0.0, 0.0, 1e-6, 15e-6, 6e-4, 0.1, 2.5)
#: Seconds from a reply to a start.
START: Final = 15e-6

#: (submit time, hosts, run time, walltime)
Spec = tuple[int, int, int, int]


class LateBatsim:
    """One run of delay jobs; `run` plays it."""

    def __init__(self, hosts: int, specs: list[Spec], chance: random.Random) -> None:
        self._hosts, self._chance = hosts, chance
        self._specs = {f"w0!{number}": spec for number, spec in enumerate(specs)}
        #: (when it is told, order, when it happened, type, data).
        self._untold: list[tuple[float, int, float, str, dict[str, Any]]] = []
        self._asked = 0
        self.now = 0.0
        #: Host -> until when it really works.
        self._busy_until = dict.fromkeys(range(hosts), 0.0)
        #: Job id -> state; the order is that of the ends that were told.
        self.ended: dict[str, str] = {}
        self._waiting: set[str] = set()
        self.messages = 0

    def run(self, answer: Callable[[bytes], bytes]) -> None:
        """From the first message to the last."""
        for job_id, (submit, size, _, walltime) in self._specs.items():
            described = {"id": job_id, "subtime": submit, "res": size, "profile": "p", "walltime": walltime}
            self._later(submit, "JOB_SUBMITTED", {"job_id": job_id, "job": described})
        self._ask(answer, 0.0, "SIMULATION_BEGINS", begins_data(self._hosts))
        while self._untold:
            told, _, happened, kind, data = heappop(self._untold)
            self.now = max(self.now, round(told, 6))
            if kind == "JOB_SUBMITTED":
                self._waiting.add(data["job_id"])
            elif kind == "JOB_COMPLETED":
                self.ended[data["job_id"]] = data["job_state"]
            self._ask(answer, min(happened, self.now), kind, data)
        self._ask(answer, self.now, "SIMULATION_ENDS", {})

    def _later(self, happens: float, kind: str, data: dict[str, Any]) -> None:
        self._asked += 1
        order = self._chance.randrange(1000) * 100_000 + self._asked
        heappush(self._untold, (happens + self._chance.choice(LATENESS), order, happens, kind, data))

    def _ask(self, answer: Callable[[bytes], bytes], happened: float, kind: str, data: dict[str, Any]) -> None:
        """One message with one event, which may be older than the message."""
        request = json.loads(message(self.now, (kind, data)))
        request["events"][0]["timestamp"] = self._chance.choice((round(happened, 6), self.now))
        reply = json.loads(answer(json.dumps(request).encode()))
        self.messages += 1
        assert reply["now"] >= self.now
        for position, event in enumerate(reply["events"], 1):
            self._obey(self.now + position * START, event["type"], event["data"])

    def _obey(self, now: float, kind: str, data: dict[str, Any]) -> None:
        if kind == "CALL_ME_LATER":
            assert data["timestamp"] > now, "Batsim aborts: awaken in the past"
            self._later(data["timestamp"], "REQUESTED_CALL", {})
            return
        assert kind == "EXECUTE_JOB", kind
        job_id, hosts = data["job_id"], parse_bits(data["alloc"])
        self._waiting.remove(job_id)  # it was told of, and not started before
        _, size, duration, walltime = self._specs[job_id]
        assert hosts.bit_count() == size
        chosen = [host for host in self._busy_until if hosts >> host & 1]
        assert len(chosen) == size
        assert all(self._busy_until[host] <= now for host in chosen), f"{job_id} was started on hosts that work"
        end = now + min(duration, walltime)
        self._busy_until.update(dict.fromkeys(chosen, end))
        state = "COMPLETED_WALLTIME_REACHED" if duration >= walltime else "COMPLETED_SUCCESSFULLY"
        told = {"job_id": job_id, "job_state": state, "return_code": 0, "alloc": format_bits(hosts)}
        self._later(end, "JOB_COMPLETED", told)
