"""Leases: jobs with terms, such as the instant at which they must start, and those that give way for them.

* `terms`: the member `lease` of a job, read. Start here.
* `preemption`: jobs that are stopped for reservations, and the ends that are expected of running ones.
* `segments`: jobs that repeat stopped ones, as Batsim runs no job twice.

`schedulers/ar_preempt.py` composes them with a book of reservations (`planning.future.reservations`). Nothing here does
I/O, and nothing here decides: it finds out what is possible, and speaks to Batsim through the Plan.
"""
