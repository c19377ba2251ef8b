"""The kinds of requests to a site: the types of the external events that they become."""

from __future__ import annotations

from typing import Final

from batsched_py.experiments.parsing.submissions import DELETE, RESERVE, SUBMIT, WITHDRAW
from batsched_py.leases.drains import DRAIN_HOSTS, UNDRAIN_HOSTS
from batsched_py.model.external_event import MACHINE_EVENTS
from batsched_py.scheduling.queue_requests import CANCEL_JOB, QUEUE_REQUESTS
from batsched_py.session.requests import SUBMIT_JOB
from batsched_py.timelines.additions import ADD_ENTRY, RESUME

#: All kinds but that of the request that closes the site; the inbox accepts no others.
EVENT_KINDS: Final = (
    frozenset({SUBMIT_JOB, CANCEL_JOB, DRAIN_HOSTS, UNDRAIN_HOSTS, ADD_ENTRY, RESUME})
    | {SUBMIT, DELETE, RESERVE, WITHDRAW}
    | QUEUE_REQUESTS
    | MACHINE_EVENTS
)
