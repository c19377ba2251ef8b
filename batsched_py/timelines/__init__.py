"""Timelines: what happens in VMs when: configuration, a global barrier, an experiment's own clock (FIREWHEEL).

* `entries`: the entries of a VM's timeline and their order; what is said of an experiment in one file.
* `clock`: schedule time to experiment time, moved by pauses and breaks.
* `states`: states of a VM, and which may follow which.
* `records`: what became of each entry, and what the caller has to do.
* `barriers`: the local barriers of a VM, and its reboots.
* `vm`: one VM: configuration, positive times, late additions.
* `run`: all VMs of an experiment and the global barrier. Start here.
* `kinds`: how long programs take, and how they exit.
* `playing`: a whole run without hosts, with the durations that the entries name.
* `enactment`: the same on Batsim's hosts, where entries are jobs.
* `firewheel`: schedules of FIREWHEEL's VMs as entries.
* `additions`: entries that are added from outside while it runs.
* `live`: how things are while it runs, as tables.
* `tables`: what became of entries and VMs, as tables.

A run is told what happens (`launch`, `ended`, `resume`, ...) and asked what to do (`advance`). Nothing here does I/O.
Times are seconds: schedule time stands in the timeline, experiment time counts from the start that the global barrier
sets, and the clock outside, which a caller passes in, is wall time.
"""
