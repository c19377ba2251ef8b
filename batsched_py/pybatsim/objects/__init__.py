"""The object layer of pybatsim, `batsim.sched`: jobs, resources and allocations with methods."""
