"""Warnings about unread members of messages: each kind is reported once, so that nothing is ignored silently.

They are not refused, because algorithms can read undocumented members of events in `extra`. Real Batsim has not been
observed to send any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from batsched_py.protocol.begins import CONFIG_MEMBERS
from batsched_py.protocol.codec import Message
from batsched_py.protocol.events import NO_MEMBERS, SimulationBegins
from batsched_py.protocol.forms import Envelope
from batsched_py.protocol.later_ids import LATER_IDS
from batsched_py.protocol.task_gpus import DEMANDS
from batsched_py.text.display import displayed
from batsched_py.text.wording import seconds

#: Maximum number of reported kinds; a hostile peer could send any number.
MOST: Final = 50
_ENVELOPE: Final = ("now", "events")
#: Members that Batsim 5 is known to send, and that are read from `extra` or do not affect decisions:
#: versions, its command line, the names of external events, counters of probes, speeds of hosts. WRENCH sends `core`,
#: our simulator `demands` and ids of later jobs.
_KNOWN: Final = frozenset(
    {
        *("batprotocol_version", "batsim_version", "batsim_commit", "batsim_arguments"),
        *("batsim_execution_context_json", "external_event_lists", "external_event_type"),
        *("manually_triggered", "metrics", "nb_emitted", "nb_triggered"),
        *(DEMANDS, LATER_IDS),
        *("pstate", "pstate_count", "core_count", "computation_speed", "core"),
    }
)


class UnreadMembers:
    """Detector of unread members in the messages of one peer."""

    __slots__ = ("_known", "_warn")

    def __init__(self, warn: Callable[[str], None]) -> None:
        """Set the callback for warnings, one line for each kind of member."""
        self._warn = warn
        #: Reported pairs (event, member).
        self._known = set[tuple[str, str]]()

    def look(self, document: Mapping[str, Any], message: Message, envelope: Envelope) -> None:
        """Report new kinds of unread members of a message; `document` is the parsed message."""
        if len(document) > len(_ENVELOPE):
            self._report_new(message, "a message", (name for name in document if name not in _ENVELOPE))
        for event, written in zip(message.events, document["events"], strict=True):
            extra = getattr(event, "extra", NO_MEMBERS)
            if extra or len(written) > 3:
                kind = str(written.get(envelope.kind))
                known = ("timestamp", envelope.kind, envelope.data)
                self._report_new(message, kind, (name for name in written if name not in known))
                self._report_new(message, kind, (name for name in extra if name not in _KNOWN))
            if type(event) is SimulationBegins:
                self._look_at_begins(event, message)

    def _look_at_begins(self, event: SimulationBegins, message: Message) -> None:
        members = event.config.members
        self._report_new(message, "config", (name for name in members if name not in CONFIG_MEMBERS))
        for resource in (*event.resources, *event.storages):
            if resource.extra:
                self._report_new(message, "a resource", (name for name in resource.extra if name not in _KNOWN))

    def _report_new(self, message: Message, kind: str, names: Iterable[str]) -> None:
        for name in names:
            if (kind, name) not in self._known and len(self._known) < MOST:
                self._known.add((kind, name))
                member = f"member {displayed(name)} of {displayed(kind)}"
                self._warn(f"t={seconds(message.now)}: {member} is unknown: nothing reads it")
                if len(self._known) == MOST:
                    self._warn("further unknown members of messages are not reported")
