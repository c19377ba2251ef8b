"""Leases: jobs with terms, such as the instant at which they must start, and those that give way for them.

Haizea's scheduler, without clock and machines. Start with `lifecycle` (states) and `lease` (what there is), then
`scheduler`, which composes the rest and tells what is to be done outside, `actions`:

* `terms`: what a job's member `lease` asks for. `site`, `capacity`: hosts and what they have.
* `table`: what is reserved, by an `occupancy` of all hosts and the `timeline` of each; `upcoming`: what begins and ends
  next; `book`: both, and changes of them.
* `planner`: finds a run for one lease at some `points` of time; `mapping`: which node on which host; `overheads`,
  `suspension`: what suspending, resuming and moving takes; `settings`: the rules.
* `queue`: best-effort leases; `deadlines`: deadline leases; `eviction`: who gives way to reservations; `undo`: plans
  that were tried in vain; `losses`: hosts that fail; `negotiation`: other starts for those refused.
* `execution`: reservations begin and end. `observer`: looks on; `accounting`: observers that count.
* `preparation`: images. `policies`: who is admitted, who gives way, which hosts are tried first.
* `own`: Haizea's interfaces for policies and probes of users' own.

Times are seconds; intervals are half-open. A reservation is in the table until it is over; a lease's state changes only
as `lifecycle` says.

`arrivals` and `enactment` are Batsim's side: which lease a job asks for, and how decisions become verbs of the Plan;
`segments`: which job stands for which, as Batsim runs no job twice; `restarts`: jobs that are killed to begin again.
`preemption` serves `schedulers/ar_preempt.py`: who is killed for a reservation. Nothing here does I/O.
"""
