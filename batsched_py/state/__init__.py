"""The state of the run, as far as Batsim has announced and the algorithm has decided.

Start with state.py: `State` is changed by `advance(now)` and by `apply(event or command)`, nowhere else; a table at its
end names the method for each kind. Its parts, each with one owner and its own file:

* queue.py: the waiting jobs, in order of arrival and by size;
* hosts.py: hosts as bit sets, one for each reason not to use a host;
* profiles.py: profiles that Batsim knows, and those that it has forgotten.

Invariants, which `State.check` asserts and tests check after each message:

* a job waits, runs, is a control job, or has ended; one of them, and an id never comes twice;
* the busy hosts are those of the running jobs; the free ones are neither busy nor down;
* without sharing no host has two jobs.

An event that contradicts the books is Batsim's mistake (FieldError); a command that does is ours (InvariantError),
because the Plan checks it first. The state knows nothing of planning: it informs a `Forecast`.
"""
