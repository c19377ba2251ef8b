"""A site that serves a Batsim, real or embedded, over ZeroMQ: requests are added to its messages.

Batsim is the caller, and does not know of the site. A request becomes an external event in the first message whose time
is not before its own, as if Batsim had sent it; the transcript has it there. The site paces time by delaying its
replies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import orjson

from batsched_py.errors import RemoteProtocolError
from batsched_py.model.external_event import ExternalEvent
from batsched_py.protocol.codec import read_document
from batsched_py.protocol.events import Event, EventSource, JobCompleted, Notify, RequestedCall, SimulationEnds
from batsched_py.protocol.forms import Forms
from batsched_py.session.decision_log import PassOn
from batsched_py.session.serve import serve
from batsched_py.session.session import Session
from batsched_py.site.site import Site, SiteSettings
from batsched_py.site.snapshot import JobNow
from batsched_py.transport.connection import Connection


class ServedSite(Site):
    """A site that decides for a connected Batsim.

    Args:
        settings: the settings of the site; `call_every` must be set, for periodic messages.
        connection: the connection to Batsim.
        timeout: the longest time without a message of Batsim, in seconds; None for no limit.
        log: receives rows of holds and promises; None to discard them.
        finish: is called with the session before the last reply is sent.
        warn: receives warnings, in the site's thread; None to discard them.
    """

    def __init__(
        self,
        settings: SiteSettings,
        connection: Connection,
        timeout: float | None = None,
        log: PassOn | None = None,
        *,
        finish: Callable[[Session], None] | None = None,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(settings, log, warn)
        self._finish = finish
        self._connection, self._timeout = connection, timeout
        self._ended: list[JobNow] = []
        #: The number of external events added so far.
        self._notices = 0
        self.board.follow(lambda number: self._ended[number:])

    def run(self) -> None:
        """Decide until the simulation ends."""
        finish = None if self._finish is None else partial(self._finish, self.session)
        serve(self.session, self, record=self._keep, timeout=self._timeout, finish=finish)

    def receive(self, timeout: float | None = None) -> bytes:
        """Wait for Batsim's next message and until its time has come; return it with the site's requests added."""
        request = self._connection.receive(timeout)
        forms = self.session.dialect.events
        try:
            document = forms.envelope.parse(request)
            message = read_document(document, forms, keep_unknown=True)
        except RemoteProtocolError:
            return request  # a handshake, or an invalid message, which the session refuses
        kinds = {type(event) for event in message.events}
        if SimulationEnds in kinds:
            return request
        self._note_ended(message.events)
        asked = self.inbox.meet(message.now, idle=self.session.idle and kinds <= {RequestedCall})
        if not asked:
            return request
        notices = [self._notice(message.now, event, forms) for event in asked]
        return forms.envelope.dump({**document, "events": [*document["events"], *notices]})

    def send(self, reply: bytes) -> None:
        """Send the reply to Batsim."""
        self._connection.send(reply)

    def _keep(self, request: bytes, reply: bytes, *, is_json: bool = False) -> None:  # noqa: ARG002  (all messages are JSON here)
        self.record(request, reply)

    def _note_ended(self, events: Iterable[Event]) -> None:
        """Keep the views of jobs that end in a message, before the session drops them."""
        for event in events:
            if isinstance(event, JobCompleted):
                self._note(event.job_id, event.state, event.timestamp)

    def _note(self, job_id: str, state: str, end: float) -> None:
        running = self.session.view.run(job_id)
        if running is not None:
            job = running.job
            hosts, start = str(running.hosts), running.start
            self._ended.append(JobNow(job.id, state, job.size, job.walltime, job.submit_time, start, end, hosts))

    def _notice(self, now: float, event: ExternalEvent, forms: Forms) -> dict[str, Any]:
        """Return an external event in the format of this Batsim; in that of Batsim 5 it is a string with an id."""
        self._notices += 1
        members = {**event.members, "type": event.type}
        source = EventSource(f"site!{self._notices}", orjson.dumps(members).decode())
        notice = Notify(now, event.type, None, members, source)
        envelope = forms.envelope
        return {"timestamp": now, envelope.kind: forms.name_of(notice), envelope.data: forms.writers[Notify][1](notice)}
