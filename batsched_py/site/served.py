"""A site beside a Batsim, real or embedded, that connects over ZeroMQ: requests join its messages.

Batsim is the caller, and knows nothing of the site. A request becomes an external event in the first message whose time
is not before its own, as if Batsim had said so; a recording of the conversation has it there. Time is paced by letting
Batsim wait for the reply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import orjson

from batsched_py.errors import RemoteProtocolError
from batsched_py.protocol.codec import read_document
from batsched_py.protocol.events import Event, JobCompleted, Notify, RequestedCall, SimulationEnds, ToldBy
from batsched_py.protocol.forms import Forms
from batsched_py.session.decision_log import PassOn
from batsched_py.session.serve import serve
from batsched_py.session.session import Session
from batsched_py.site.board import JobNow
from batsched_py.site.site import Site, SiteSettings
from batsched_py.traces.event_file import ExternalEvent
from batsched_py.transport.connection import Connection


class ServedSite(Site):
    """A site that decides for whoever connects.

    Args:
        settings: what it is; the algorithm must be called every now and then (`call_every`).
        connection: to Batsim.
        timeout: the longest silence of Batsim, in seconds.
        log: receives rows of holds and promises; None if nobody wants them.
        finish: is called with the session before the last reply leaves.
    """

    def __init__(
        self,
        settings: SiteSettings,
        connection: Connection,
        timeout: float | None = None,
        log: PassOn | None = None,
        finish: Callable[[Session], None] | None = None,
    ) -> None:
        super().__init__(settings, log)
        self._finish = finish
        self._connection, self._timeout = connection, timeout
        self._ended: list[JobNow] = []
        #: External events that were added so far.
        self._notices = 0
        self.board.follow(lambda number: self._ended[number:])

    def run(self) -> None:
        """Decide until the simulation ends."""
        finish = None if self._finish is None else partial(self._finish, self.session)
        serve(self.session, self, record=self._keep, timeout=self._timeout, finish=finish)

    def receive(self, timeout: float | None = None) -> bytes:
        """Wait for Batsim's next request, and until it is time for it; return it with what was asked of the site."""
        request = self._connection.receive(timeout)
        forms = self.session.dialect.events
        try:
            document = forms.envelope.parse(request)
            message = read_document(document, forms, keep_unknown=True)
        except RemoteProtocolError:
            return request  # a greeting, or the session says what is wrong with it
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
        """Answer it."""
        self._connection.send(reply)

    def _keep(self, request: bytes, reply: bytes, *, is_json: bool = False) -> None:  # noqa: ARG002  (all of it is)
        self.record(request, reply)

    def _note_ended(self, events: Iterable[Event]) -> None:
        """Keep what is known of jobs whose end a message tells, before the session forgets them."""
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
        """Return an external event as this Batsim would have written it; in Batsim 5 it is a text with an id."""
        self._notices += 1
        members = {**event.members, "type": event.type}
        told_by = ToldBy(f"site!{self._notices}", orjson.dumps(members).decode())
        notice = Notify(now, event.type, None, members, told_by)
        envelope = forms.envelope
        return {"timestamp": now, envelope.kind: forms.name_of(notice), envelope.data: forms.writers[Notify][1](notice)}
