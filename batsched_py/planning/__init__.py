"""Arithmetic on time and hosts, for algorithms and for the View. Knows no event and no protocol, and does no I/O.

* `future/`: what will be free when; promises and reservations. Start here.
* `policies/`: choices that users make by name: orders of jobs, selections of hosts, constraints.
* `machine`: what a selection may know of the hosts; `power`: what hosts draw, and what their sleep costs.
* `prediction`: how long jobs will run.

The state does not import this package and is not imported by it: it tells the availability of changes through a
protocol of four members (`Forecast`). The embedded simulator uses none of it, so that an error here cannot hide there.
"""
