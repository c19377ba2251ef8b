"""Results of runs: records of what became of jobs, and the files that simulator, real Batsim and reports share.

* `records`: the end of each job, and counts of a run; `attempts`: jobs that were submitted again.
* `progress`: how far a run is.
* `tracing`: rows of energy and of host states over time.
* `result_files` writes jobs and schedule in Batsim's columns, `trace_files` the rows of `tracing`; `file_forms` is how
  versions of Batsim name these files.
* `run_file` describes what was run, with hashes; `decisions_file` has the reasons of an algorithm.

Invariants: nothing here knows how a run was made; numbers are written as Batsim writes them.
"""
