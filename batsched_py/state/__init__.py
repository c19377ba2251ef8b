"""The state of the run, according to Batsim's messages and the algorithm's decisions.

Start with state.py: only `advance(now)` and `apply(event or command)` change the `State`; a table at the end of the
file lists the method for each kind. Its parts, each with one owner and its own file:

* queue.py: the waiting jobs, in order of arrival and by size;
* hosts.py: hosts as bit sets, one for each reason not to use a host;
* profiles.py: profiles known to Batsim, and those it has removed.

Invariants, asserted by `State.check`, which tests call after each message:

* a job waits, runs, is a control job, or has ended (exactly one of these), and ids are unique;
* the busy hosts are those of the running jobs; the free ones are neither busy nor down;
* without sharing no host has two jobs.

An event that contradicts the state is an error of Batsim (FieldError); a contradictory command is an error of
batsched-py (InvariantError), because the Plan checks commands first. The state does not depend on planning: it informs
a `Forecast`.
"""
