"""The algorithms of batsched-py, one file each; a new one needs a line in this table.

`backfilling` has the loop of backfilling algorithms, `energy` the energy-saving algorithms with their common parts,
`placing` the parts of `placer`, `slurm` the algorithm of this name, `trials` the algorithms for tests.
"""

from typing import Final

#: Name for `-s` -> its module and class, in alphabetical order.
BUILT_INS: Final = {
    "ar_preempt": "batsched_py.schedulers.ar_preempt:ArPreempt",
    "backfill": "batsched_py.schedulers.backfill:Backfill",
    "conservative": "batsched_py.schedulers.conservative:Conservative",
    "crasher": "batsched_py.schedulers.trials.crasher:Crasher",
    "easy": "batsched_py.schedulers.easy:Easy",
    "easy_dvfs": "batsched_py.schedulers.energy.easy_dvfs:EasyDvfs",
    "easy_idle_sleeper": "batsched_py.schedulers.energy.easy_idle_sleeper:EasyIdleSleeper",
    "easy_plus_plus": "batsched_py.schedulers.easy_plus_plus:EasyPlusPlus",
    "easy_subpart_sleeper": "batsched_py.schedulers.energy.easy_subpart_sleeper:EasySubpartSleeper",
    "energy_budget": "batsched_py.schedulers.energy.energy_budget:EnergyBudget",
    "energy_watcher": "batsched_py.schedulers.trials.energy_watcher:EnergyWatcher",
    "experiments": "batsched_py.schedulers.experiments:ExperimentsScheduler",
    "fcfs": "batsched_py.schedulers.fcfs:Fcfs",
    "filler": "batsched_py.schedulers.filler:Filler",
    "killer": "batsched_py.schedulers.trials.killer:Killer",
    "leases": "batsched_py.schedulers.leases:Leases",
    "placer": "batsched_py.schedulers.placer:PlacerScheduler",
    "priority": "batsched_py.schedulers.priority:Priority",
    "random": "batsched_py.schedulers.random_fit:RandomFit",
    "rejecter": "batsched_py.schedulers.trials.rejecter:Rejecter",
    "sequencer": "batsched_py.schedulers.sequencer:Sequencer",
    "sleeper": "batsched_py.schedulers.energy.sleeper:Sleeper",
    "slurm": "batsched_py.schedulers.slurm.scheduler:Slurm",
    "submitter": "batsched_py.schedulers.trials.submitter:Submitter",
    "timelines": "batsched_py.schedulers.timelines:TimelinesScheduler",
}

#: Algorithms that are not for production: they test workloads, outputs, and Batsim itself.
FOR_TESTS: Final = frozenset({"crasher", "energy_watcher", "killer", "rejecter", "submitter"})
