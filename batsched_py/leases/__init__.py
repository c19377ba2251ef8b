"""Leases: jobs with terms, such as the instant at which they must start, and those that give way for them.

* `terms`: what a job's member `lease` asks for. Start here.
* `preemption`: who may be stopped for a reservation, who was, and when the work that runs will have ended.
* `segments`: which job stands for which, as Batsim runs no job twice.

`schedulers/ar_preempt.py` composes them with a book of reservations (`planning.future.reservations`). Nothing here does
I/O, and nothing here decides: it finds out what is possible, and speaks to Batsim through the Plan.
"""
