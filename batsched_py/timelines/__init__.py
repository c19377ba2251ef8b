"""Timelines of events in VMs: configuration, a global barrier, an experiment's own clock (FIREWHEEL).

* `entries`: the entries of a VM's timeline and their order; the timelines of an experiment in one file.
* `clock`: schedule time to experiment time, moved by pauses and breaks.
* `states`: states of a VM, and their transitions.
* `records`: outcomes of entries, and orders to the caller.
* `barriers`: the local barriers of a VM, and its reboots.
* `vm`: one VM: configuration, positive times, late additions.
* `run`: all VMs of an experiment and the global barrier. Start here.
* `kinds`: durations and exit codes of programs.
* `playback`: a whole run without hosts, with the durations that the entries name.
* `enactment`: the same on Batsim's hosts, where entries are jobs.
* `firewheel`: schedules of FIREWHEEL's VMs as entries.
* `additions`: entries that are added from outside while it runs.
* `status_tables`: the current state of a run, as tables.
* `tables`: the outcomes of entries and VMs, as tables; `listing`: a whole run as rows in order of time, and as JSON.
* `api`: what others import.

Callers report events to a run (`launch`, `ended`, `resume`, ...) and get its orders (`advance`). Nothing here does I/O.
Times are in seconds: schedule time is the time in the timeline, experiment time counts from the start that the global
barrier sets, and wall time is the external clock, which the caller passes in.
"""
