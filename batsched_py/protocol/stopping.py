"""How a decision process stops Batsim: by an event that it does not know, which has the reason."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from batsched_py.errors import RemoteProtocolError

#: The type of the event that makes Batsim stop: it aborts on an event it does not know, and its log shows this name.
STOP_EVENT: Final = "BATSCHED_PY_STOPPED"
#: Bytes of each reply by which the decision process stops Batsim; others may hold them as a part of something.
_STOP: Final = STOP_EVENT.encode()


class _Reason(Struct, frozen=True):
    reason: str = "it gave no reason"


class _Said(Struct, frozen=True):
    type: str = ""
    data: _Reason = _Reason()
    event_type: str = ""
    event: _Reason = _Reason()


class _Farewell(Struct, frozen=True):
    """The part of a reply that holds the reason of a decision process that stops."""

    events: list[_Said]


def check_stop(reply: bytes) -> None:
    """Raise RemoteProtocolError with the reason of a decision process that stops Batsim; check nothing else."""
    if _STOP not in reply:
        return
    try:
        events = msgspec.json.decode(reply[reply.index(b"{") :].rstrip(b"\0"), type=_Farewell).events
    except (msgspec.MsgspecError, ValueError):
        return
    for event in events:
        if STOP_EVENT in (event.type, event.event_type):
            reason = event.data.reason if event.type else event.event.reason
            raise RemoteProtocolError("", f"the decision process stopped: {reason} ({STOP_EVENT})")
