"""Messages of the simulator: to and from the scheduler, and to the store of jobs.

`scheduler_link` sends a request and reads its reply, `simulation_begins` builds the first event, `store_link` is for
runs whose jobs are described in Redis, `rounding` writes numbers as Batsim does.
"""
