"""The future of a site, played ahead from now, as it is and under a change.

* future.py: a change, and the futures of leases without and with it; comparison.py: their differences;
* task.py: a simulated site, to be played ahead;
* continuation.py: the requests of the past, then those of the change, up to a horizon;
* play.py: two simulations, without and with the change; past.py: the transcript that they must agree with;
* process.py: a process of its own for them, within limits of time and memory.
"""
