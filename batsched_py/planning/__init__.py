"""Arithmetic on time and hosts, for algorithms and for the View, independent of events and protocol, without I/O.

* `future/`: hosts that are and will be free; promises and reservations. Start here.
* `policies/`: policies that users select by name: orders of jobs, selections of hosts, constraints.
* `packed_hosts`: hosts that tasks share, down to parts of a GPU; `task_packing`: the places of a job's tasks.
* `machine`: the hosts as selections see them; `power`: their power, and the costs of sleep.
* `run_times`: predictions of run times.

The state does not import this package and is not imported by it: it notifies the availability of changes through a
protocol of four members (`Forecast`). The embedded simulator does not use this package, so that it can detect its
errors.
"""
