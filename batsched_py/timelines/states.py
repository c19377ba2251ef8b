"""States of a VM with a timeline, and which may follow which (F6)."""

from __future__ import annotations

from enum import Enum
from typing import Final


class VmState(Enum):
    """State of a VM, by the name that users see."""

    UNINITIALIZED = "uninitialized"
    NOT_MANAGED = "n/a"
    TESTING = "testing"
    CONFIGURING = "configuring"
    CONFIGURED = "configured"
    FAILED = "failed"


#: State -> states that may follow it. A pair that is absent is a mistake of the program. TESTING is for those who try a
#: VM before they launch its timeline; timelines themselves do not enter it.
TRANSITIONS: Final[dict[VmState, frozenset[VmState]]] = {
    VmState.UNINITIALIZED: frozenset({VmState.TESTING, VmState.CONFIGURING, VmState.CONFIGURED, VmState.FAILED}),
    VmState.NOT_MANAGED: frozenset(),
    VmState.TESTING: frozenset({VmState.CONFIGURING, VmState.CONFIGURED, VmState.FAILED}),
    VmState.CONFIGURING: frozenset({VmState.CONFIGURED, VmState.FAILED}),
    VmState.CONFIGURED: frozenset({VmState.FAILED}),
    VmState.FAILED: frozenset(),
}
