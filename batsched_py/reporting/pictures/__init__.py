"""Pictures of schedules: `terminal` (text), `paper` (matplotlib, an extra) and `html` (one page).

Start with `window`: all three draw the time and the hosts that a `Window` selects. `colouring` gives jobs the same
colours everywhere, `raster` shares cells among jobs where there are more of them than pixels, `time_axis` finds round
ticks. `lease_marks` has what is drawn of leases beside the runs of their machines.

Invariants: a job has the same number, letter and colour whichever algorithm scheduled it, by order of submission; the
same schedule gives the same bytes.
"""
