"""The contract between the engine and an algorithm.

An algorithm is a `Scheduler` (base.py) with one obligation: `decide(view, plan)`, called once for each message. It
reads the `View` and calls verbs of the `Plan`. Start with plan.py; then

* view.py: the state, read-only, always up to date;
* checks.py: the rules that verbs check, as Batsim would, before anything is booked or sent;
* options.py: options of an algorithm as a frozen dataclass, read from text and JSON;
* placement.py: the hosts of each job, by a selection and a constraint;
* remainder.py: the remaining work of a killed job.

Invariants:

* A verb is checked and booked in the state immediately, or raises PlanError and changes nothing. Therefore the View is
  up to date after each verb, and the next check is exact.
* Nothing here opens a file or a socket or reads a clock. One door: an option may name a function of the user's, which
  options.py has loaded; for text that a peer or a recording gives it stays shut.
* Algorithms import `batsched_py.api`, never this package.
"""
