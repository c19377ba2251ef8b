"""Reading, measuring and drawing of schedules.

Start with `schedules.schedule`: a `Schedule` is the input of all modules here, whether it comes from result files of
Batsim or batsched-py, from a log, or from a simulation in this process.

1. `schedules` reads files into a `Schedule`; an invalid file gives an error with file, line, column and rule.
2. `metrics` measures: a *metric* is a number that belongs to a run, a job, or an instant.
3. `pictures` draws: a *figure* is a picture for terminals, papers or an HTML page.
4. `formatting` has shared names and formats for durations and final states; `provenance` describes the runs.

Invariants: pictures depend on metrics, metrics on schedules, and never the reverse; results do not depend on the order
in which jobs ended; the same schedule gives the same bytes; `cli` writes all files, these modules none.
"""
