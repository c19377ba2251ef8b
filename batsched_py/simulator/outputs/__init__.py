"""Files that a simulation leaves, with the columns and numbers of Batsim.

`result_files` writes jobs and schedule from the records, `trace_files` the rows (`tracing`) that a `tracer` has kept.
"""
