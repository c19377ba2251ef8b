"""The algorithms that come with batsched-py, one file each; a new one gets a line in this table."""

from typing import Final

#: Name for `-s` -> where it is; in the order of the alphabet.
BUILT_INS: Final = {
    "easy": "schedulers.easy:Easy",
    "fcfs": "schedulers.fcfs:Fcfs",
    "filler": "schedulers.filler:Filler",
    "priority": "schedulers.priority:Priority",
}

#: Those that nobody would schedule with: they are there to try out workloads, outputs, and Batsim itself.
FOR_TESTS: Final = frozenset[str]()
