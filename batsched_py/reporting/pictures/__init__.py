"""Pictures of schedules: `terminal` (text), `paper` (matplotlib, an extra) and `html` (one page).

Start with `window`: all three draw the time and the hosts that a `Window` selects. `colouring` assigns the same colours
to jobs in all pictures, `raster` assigns cells to jobs if there are more jobs than pixels, `time_axis` finds round
ticks. `lease_marks` has the marks of leases in addition to the runs of their machines.

Invariants: a job's number, letter and colour depend on the order of submission, not on the algorithm; the same schedule
gives the same bytes.
"""
