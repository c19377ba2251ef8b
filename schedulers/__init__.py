"""The algorithms that come with batsched-py, one file each; a new one gets a line in this table.

What several of them are made of is in `schedulers.pieces`.
"""

from typing import Final

#: Name for `-s` -> where it is; in the order of the alphabet.
BUILT_INS: Final = {
    "ar_preempt": "schedulers.ar_preempt:ArPreempt",
    "backfill": "schedulers.backfill:Backfill",
    "conservative": "schedulers.conservative:Conservative",
    "crasher": "schedulers.crasher:Crasher",
    "easy": "schedulers.easy:Easy",
    "easy_dvfs": "schedulers.easy_dvfs:EasyDvfs",
    "easy_idle_sleeper": "schedulers.easy_idle_sleeper:EasyIdleSleeper",
    "easy_plus_plus": "schedulers.easy_plus_plus:EasyPlusPlus",
    "easy_subpart_sleeper": "schedulers.easy_subpart_sleeper:EasySubpartSleeper",
    "energy_budget": "schedulers.energy_budget:EnergyBudget",
    "energy_watcher": "schedulers.energy_watcher:EnergyWatcher",
    "fcfs": "schedulers.fcfs:Fcfs",
    "filler": "schedulers.filler:Filler",
    "killer": "schedulers.killer:Killer",
    "priority": "schedulers.priority:Priority",
    "random": "schedulers.random_fit:RandomFit",
    "rejecter": "schedulers.rejecter:Rejecter",
    "sequencer": "schedulers.sequencer:Sequencer",
    "sleeper": "schedulers.sleeper:Sleeper",
    "submitter": "schedulers.submitter:Submitter",
}

#: Those that nobody would schedule with: they are there to try out workloads, outputs, and Batsim itself.
FOR_TESTS: Final = frozenset({"crasher", "energy_watcher", "killer", "rejecter", "submitter"})
