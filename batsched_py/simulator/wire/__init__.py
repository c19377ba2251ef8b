"""Messages of the simulator to and from the scheduler, and to the store of jobs.

`scheduler_link` sends a request and reads its reply, `simulation_begins` builds the first event, `store_link` serves
runs with job descriptions in Redis, `rounding` formats numbers as Batsim does.
"""
