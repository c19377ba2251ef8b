"""Leases: jobs with terms, such as a fixed start, and jobs that are preempted for them.

This is Haizea's scheduler, without clock and machines. Start with `lifecycle` (transitions between states) and `lease`
(the data model), then `scheduler`, which composes the other modules and returns commands to machines, `actions`:

* `site`, `capacity`: hosts and their resources. The terms of a lease are in `model.lease_terms`.
* `table`: the slot table, an `occupancy` of all hosts and a `timeline` of each; `agenda`: the next begins and ends of
  reservations; `book`: changes of both.
* `planner`: finds a run for one lease at given `points` of time; `mapping`: the host of each node; `overheads`,
  `suspension`: durations of suspensions, resumptions and migrations; `settings`: the rules.
* `queue`: best-effort leases; `deadlines`: deadline leases; `eviction`: preemption for reservations; `undo`: rollback
  of tentative plans; `losses`: hosts that fail; `negotiation`: alternative starts for refused leases.
* `execution`: begins and ends of reservations. `observer`: the interface of observers; `accounting`: those that count.
* `preparation`: disk images. `policies`: admission, preemption and host selection.
* `haizea_interface`: Haizea's interfaces for users' own policies and probes; `api`: what such classes import.

Times are seconds; intervals are half-open. A reservation is in the table until it is over; a lease's state changes only
as `lifecycle` allows.

`arrivals` and `enactment` are the interface to Batsim: from jobs to leases, and from decisions to verbs of the Plan;
`segments`: the chain of jobs of one lease, because Batsim runs no job twice; `restarts`: jobs that are killed and
submitted again. `preemption` serves `schedulers/ar_preempt.py`: it chooses the jobs to kill for a reservation. Nothing
here does I/O.
"""
