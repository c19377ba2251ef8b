"""Results of runs: records of jobs, and the files that the simulator, real Batsim and reports share.

* `records`: the end of each job, and totals of a run; `attempts`: resubmitted jobs.
* `progress`: the progress of a run.
* `tracing`: rows of energy and of host states over time.
* `result_files` writes jobs and schedule in Batsim's columns, `trace_files` the rows of `tracing`; `file_forms`
contains
  the names of these files in each version of Batsim.
* `lease_rows`, `timeline_rows`, `experiment_rows`: rows of the tables of algorithms with leases.
* `run_file` describes a run, with hashes of its files; `decisions_file` contains the reasons of an algorithm.

Invariants: nothing here depends on the origin of a run; numbers are written as Batsim writes them.
"""
