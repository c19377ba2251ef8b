"""Their side: the simulator is told what a recorded scheduler said; it must ask what real Batsim asked.

Twice. Where messages take time as in Batsim the k-th reply is given to the k-th request, and each request must be the
recorded one. Where they take none an instant is one message; a recorded reply is given as soon as all was told that
stood in the recorded request and those before it, and what both tell is compared as facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson

from batsched_py.errors import BatschedError
from batsched_py.model.platform import DEFAULT_MASTER
from batsched_py.protocol.batsim5.envelope import parse
from batsched_py.protocol.batsim5.greeting import is_greeting
from batsched_py.protocol.dialect import V14
from batsched_py.protocol.dialects import V5
from batsched_py.simulator.contention.messages import MessageDemands, message_seconds
from batsched_py.transcripts.compare import Tolerance, compare_transcripts
from batsched_py.transcripts.transcript import Exchange
from tests.differential.recorded import Recorded

#: Instants within this are one, in seconds, where messages take the time that they took in Batsim.
CLOSE: Final = 5e-6
#: The same for Batsim 5, whose messages say times with twelve digits after the point: six that ours have, rounded.
CLOSE_5: Final = 1e-6
#: Tolerance where messages take no time; their time in Batsim is added to it.
NEAR: Final = 1e-3

_NUMBERS: Final = frozenset({int, float})
#: Members of the first event of Batsim 5 that say who sent it.
_OF_SENDER: Final = frozenset({"batsim_version", "batsim_commit", "batsim_arguments", "batsim_execution_context_json"})
#: Events of Batsim 5 whose dates are those of the message before (5.0.0-rc2).
_STALE: Final = frozenset({"ExternalEventOccurredEvent", "HostsPStateChangedEvent", "HostsTurnedOnOffEvent"})
#: Members of SIMULATION_BEGINS that Batsim 4 has and Batsim 3 had not.
_SINCE_4: Final = frozenset({"zone_properties", "profile-reuse-enabled", "sched-config", "forward-unknown-events"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run of the simulator: `why` has a line for each difference, so it agrees if there is none.

    `refused` is the error with which the run ended as it had to.
    """

    exchanges: int
    why: tuple[str, ...]
    refused: str = ""

    @property
    def agrees(self) -> bool:
        """True if nothing differs."""
        return not self.why


def message_by_message(recorded: Recorded) -> Outcome:
    """Compare runs whose messages take time: the same messages with the same events."""
    prompter = Prompter(recorded)
    try:
        recorded.simulation(message_latency=True).run(prompter)
    except (BatschedError, IndexError) as error:
        prompter.why.append(f"message {prompter.next}: {type(error).__name__}: {error}")
    if prompter.next < len(recorded.exchanges):
        prompter.why.append(f"{prompter.next} messages, recorded are {len(recorded.exchanges)}")
    return Outcome(prompter.next, tuple(prompter.why))


def refused(recorded: Recorded) -> Outcome:
    """Give the replies of a client on which Batsim aborted, crashed or stood still: the simulator must refuse one.

    Until then it must send the recorded messages. It refuses when it reads, Batsim sometimes only when it obeys.
    """
    prompter = Prompter(recorded)
    try:
        recorded.simulation(message_latency=True).run(prompter)
    except BatschedError as error:
        return Outcome(prompter.next, tuple(prompter.why), str(error).partition("\n")[0])
    except IndexError:
        prompter.why.append(f"all {prompter.next} replies were obeyed")
    else:
        prompter.why.append("the run ended well")
    return Outcome(prompter.next, tuple(prompter.why))


def fact_by_fact(recorded: Recorded) -> Outcome:
    """Compare runs whose messages take no time: the same facts, within NEAR and the time of messages in Batsim."""
    follower = Follower(recorded)
    why = []
    try:
        recorded.simulation(message_latency=False).run(follower)
    except BatschedError as error:
        why.append(f"{type(error).__name__}: {error}")
    tolerance = Tolerance(NEAR + _longest_delay(recorded), relative=1e-5)
    for difference in compare_transcripts(recorded.exchanges, follower.exchanges, tolerance).differences:
        left, right = difference.left, difference.right
        if left is not None and right is not None:
            values = "; ".join(
                f"{name} {right.details.get(name)!r}, recorded {left.details.get(name)!r}" for name in difference.what
            )
            why.append(f"t={difference.time:g} {left.kind} {left.subject}: {values}")
        else:
            who = "only recorded" if right is None else "only here"
            why.append(f"t={difference.time:g} {difference.fact.kind} {difference.fact.subject}: {who}")
    return Outcome(len(follower.exchanges), tuple(why))


class Prompter:
    """Gives the k-th reply to the k-th request, and notes how that differs from the recorded one."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self.next = 0
        self.why: list[str] = []

    def __call__(self, request: bytes) -> bytes:
        exchange = self._recorded.exchanges[self.next]
        if is_greeting(request):
            if request != exchange.request:
                self.why.append(f"greeting: {request!r}, recorded {exchange.request!r}")
        else:
            self._compare(parse(request), parse(exchange.request))
        self.next += 1
        return exchange.reply

    def _compare(self, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
        close = CLOSE
        if self._recorded.dialect.name == V5.name:
            ours, theirs, close = comparable(ours), comparable(theirs), CLOSE_5
        for told in _differences(theirs, ours, older=self._recorded.batsim.startswith("3."), close=close):
            self.why.append(f"message {self.next}, t={theirs['now']:g}: {told}")


class Follower:
    """Gives a recorded reply as soon as all was told that its request, and those before, had told."""

    def __init__(self, recorded: Recorded) -> None:
        talked = [item for item in recorded.exchanges if not is_greeting(item.request)]
        #: The answer to Batsim 5's greeting.
        self._hello = recorded.exchanges[0].reply
        self._left = [(parse(item.request), parse(item.reply)) for item in talked]
        self._left.reverse()
        #: Events that were told and belong to no request yet.
        self._told: Counter[tuple[str, str]] = Counter()
        self.exchanges: list[Exchange] = []

    def __call__(self, request: bytes) -> bytes:
        if is_greeting(request):
            self.exchanges.append(Exchange(0, request, self._hello))
            return self._hello
        asked = parse(request)
        self._told.update(_identity(event) for event in asked["events"])
        said: list[Any] = []
        now = asked["now"]
        while self._left:
            needed = Counter(_identity(event) for event in self._left[-1][0]["events"])
            if not needed <= self._told:
                break
            self._told -= needed
            _, reply = self._left.pop()
            said += reply["events"]
            now = max(now, reply["now"])
        reply_bytes = orjson.dumps({"now": now, "events": said})
        self.exchanges.append(Exchange(len(self.exchanges), request, reply_bytes))
        return reply_bytes


#: Members that say what an event is about.
_SUBJECTS: Final = (
    *("job_id", "job_ids", "type", "resources", "state"),
    *("id", "host_ids", "pstate", "call_me_later_id", "probe_id"),
)


def _identity(event: dict[str, Any]) -> tuple[str, str]:
    """Kind and subject of an event."""
    data = event["data"] if "data" in event else event["event"]
    about = [str(data[member]) for member in _SUBJECTS if member in data]
    return event["type"] if "type" in event else event["event_type"], " ".join(about)


def _longest_delay(recorded: Recorded) -> float:
    """Seconds that messages can have made anything late: a long reply command by command, an end from the last host."""
    if recorded.dialect.name == V14.name:
        return 0.0
    platform = recorded.platform
    demands = MessageDemands(platform, platform.compute_hosts(), DEFAULT_MASTER)
    *hosts, master = map(message_seconds, demands)
    longest = max(
        len(parse(exchange.reply)["events"]) + len(parse(exchange.request)["events"])
        for exchange in recorded.exchanges
        if not is_greeting(exchange.request)
    )
    return max(hosts) + (longest + 2) * master


def comparable(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message of Batsim 5 without what says who sent it, and how the inputs were named.

    The date of an event that Batsim 5 notes late is that of the message before: it is left out, too.
    """
    return {"now": message["now"], "events": [_comparable(event) for event in message["events"]]}


def _comparable(event: dict[str, Any]) -> dict[str, Any]:
    if event["event_type"] in _STALE:
        return {name: value for name, value in event.items() if name != "timestamp"}
    if event["event_type"] != "SimulationBeginsEvent":
        return event
    told = {name: value for name, value in event["event"].items() if name not in _OF_SENDER}
    for name in ("workloads", "external_event_lists"):
        told[name] = [item["name"] for item in told.get(name, ())]
    for name in ("computation_hosts", "storage_hosts"):
        told[name] = [_with_sorted_properties(host) for host in told[name]]
    return {**event, "event": told}


def _with_sorted_properties(host: dict[str, Any]) -> dict[str, Any]:
    """Batsim has properties in the order of a hash table."""
    properties = ("properties", "zone_properties")
    return {**host, **{name: {pair["key"]: pair["value"] for pair in host[name]} for name in properties}}


def _differences(theirs: Any, ours: Any, *, older: bool, close: float) -> Iterator[str]:
    """Yield path and both values of each difference of two messages; numbers may differ by `close`."""
    left, right = dict(_leaves(theirs)), dict(_leaves(ours))
    for path in dict.fromkeys([*left, *right]):
        if path not in right:
            yield f"{path}: {left[path]!r} only recorded"
        elif path not in left:
            if not (older and _SINCE_4.intersection(path.split("."))):
                yield f"{path}: {right[path]!r} only here"
        elif not _close(left[path], right[path], close):
            yield f"{path}: {right[path]!r}, recorded {left[path]!r}"


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each value inside that is no object or list, with its path; empty ones count as values."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not inside or not value:
        yield path, value
        return
    for key, item in inside:
        yield from _leaves(item, f"{path}.{key}".lstrip("."))


def _close(left: Any, right: Any, close: float) -> bool:
    if type(left) in _NUMBERS and type(right) in _NUMBERS:
        return bool(abs(left - right) <= close)
    return bool(left == right)
