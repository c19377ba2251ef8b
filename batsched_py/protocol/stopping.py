"""The replies by which a decision process stops its peer.

Batsim aborts on an event of an unknown type, which contains the reason. WRENCH ignores such an event, and aborts on a
text without an end, which its error message shows.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from batsched_py.errors import RemoteProtocolError

#: The type of the event that makes Batsim stop: it aborts on an unknown event, and its log shows this name.
STOP_EVENT: Final = "BATSCHED_PY_STOPPED"
#: Bytes that each stopping reply contains; other replies may also contain them.
_STOP: Final = STOP_EVENT.encode()


#: Maximum number of characters of a reason for WRENCH.
_LONGEST: Final = 2000


def text_without_end(reason: str) -> bytes:
    """Return a JSON text that lacks its closing quote: WRENCH's parser fails and shows all of it.

    Quotes, backslashes and control characters would end the text, or hide the reason.
    """
    plain = reason.replace('"', "'").replace("\\", "/")
    shown = "".join(one if one.isprintable() else " " for one in plain[:_LONGEST])
    return f'"batsched-py: {shown}'.encode(errors="replace")


class _Reason(Struct, frozen=True):
    reason: str = "it gave no reason"


class _StopText(Struct, frozen=True):
    type: str = ""
    data: _Reason = _Reason()
    event_type: str = ""
    event: _Reason = _Reason()


class _StoppingReply(Struct, frozen=True):
    """The part of a stopping reply that contains the reason."""

    events: list[_StopText]


def check_stop(reply: bytes) -> None:
    """Raise RemoteProtocolError with the reason if the reply stops Batsim; check nothing else."""
    if _STOP not in reply:
        return
    try:
        events = msgspec.json.decode(reply[reply.index(b"{") :].rstrip(b"\0"), type=_StoppingReply).events
    except (msgspec.MsgspecError, ValueError):
        return
    for event in events:
        if STOP_EVENT in (event.type, event.event_type):
            reason = event.data.reason if event.type else event.event.reason
            raise RemoteProtocolError("", f"the decision process stopped: {reason} ({STOP_EVENT})")
