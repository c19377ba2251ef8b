"""Addresses of ZeroMQ endpoints, and the one mistake in them that ZeroMQ does not notice."""

from __future__ import annotations

from typing import Final

from batsched_py.errors import TransportError

#: The rule, for messages.
FORM: Final = "it must be an address like tcp://127.0.0.1:28000"


def check_address(address: str) -> None:
    """Refuse a port that no machine has: ZeroMQ keeps its last 16 bits and uses another port, silently."""
    port = address.rpartition(":")[2]
    if address.startswith("tcp://") and port.isdecimal() and (len(port) > 5 or int(port) > 65535):
        raise TransportError(f"cannot use {address}: the port must be at most 65535")
