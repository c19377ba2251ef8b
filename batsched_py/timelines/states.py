"""States of a VM with a timeline, and their transitions (F6)."""

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


#: State -> states that may follow it. An absent pair is a defect of the program. TESTING is for callers that test a VM
#: before they launch its timeline; timelines themselves do not enter it.
TRANSITIONS: Final[dict[VmState, frozenset[VmState]]] = {
    VmState.UNINITIALIZED: frozenset({VmState.TESTING, VmState.CONFIGURING, VmState.CONFIGURED, VmState.FAILED}),
    VmState.NOT_MANAGED: frozenset(),
    VmState.TESTING: frozenset({VmState.CONFIGURING, VmState.CONFIGURED, VmState.FAILED}),
    VmState.CONFIGURING: frozenset({VmState.CONFIGURED, VmState.FAILED}),
    VmState.CONFIGURED: frozenset({VmState.FAILED}),
    VmState.FAILED: frozenset(),
}
#: States before `configured`: a VM that ends in one of them has failed.
NOT_CONFIGURED: Final = frozenset({VmState.UNINITIALIZED, VmState.TESTING, VmState.CONFIGURING})
