"""Arithmetic on time and hosts, for algorithms and for the View. Knows no event and no protocol, and does no I/O.

* `future/`: hosts that are and will be free; promises and reservations. Start here.
* `policies/`: choices that users make by name: orders of jobs, selections of hosts, constraints.
* `machine`: the hosts as selections see them; `power`: their watts, and the costs of their sleep.
* `prediction`: run times of jobs.

The state does not import this package and is not imported by it: it tells the availability of changes through a
protocol of four members (`Forecast`). The embedded simulator uses none of it, so that an error here cannot hide there.
"""
