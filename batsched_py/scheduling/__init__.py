"""The contract between the engine and an algorithm.

An algorithm is a `Scheduler` (base.py) with one obligation: `decide(view, plan)`, called once for each message. It
reads the `View` and calls verbs of the `Plan`. Start with plan.py; then

* view.py: the state, read-only, always up to date;
* checks.py: the rules that verbs check, in Batsim's stead, before anything is booked or sent;
* options.py: options of an algorithm as a frozen dataclass, read from text and JSON;
* placement.py: the hosts of each job, by a selection and a constraint;
* remainder.py: the work that a killed job had left.

Invariants:

* A verb is checked at the call and booked in the state at once, or raises PlanError and changes nothing. So the View is
  true after each verb, and the next check exact.
* Nothing here opens a file or a socket or reads a clock. One door: an option may name a function of the user's, which
  options.py has loaded; for text that a peer or a recording gives it stays shut.
* Algorithms import `batsched_py.api`, never this package.
"""
