"""Schedules read back, measured and drawn.

Start with `schedules.schedule`: a `Schedule` is the one input of everything here, whether it comes from result files of
Batsim or of ours, from a log, or from a simulation in this process.

1. `schedules` reads: files become a `Schedule`, and every wrong one a line with file, line, column and rule.
2. `metrics` measures: a *metric* is a number, of a run, of a job, or of an instant.
3. `pictures` draws: a *figure* is a picture, for terminals, papers or one HTML page.
4. `formatting` has the words that they share: durations and final states; `provenance` tells what was run.

Invariants: pictures use metrics, metrics use schedules, and never the other way; nothing here depends
on the order in which jobs ended; the same schedule gives the same bytes; no file is written here, which `cli` does.
"""
