"""The algorithms that come with batsched-py, one file each; a new one gets a line in this table."""

from typing import Final

#: Name for `-s` -> where it is.
BUILT_INS: Final = {
    "easy": "schedulers.easy:Easy",
    "fcfs": "schedulers.fcfs:Fcfs",
    "filler": "schedulers.filler:Filler",
}
