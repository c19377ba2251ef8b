"""Runs: from the choice of an algorithm to a session, a result and its files, for commands and for Python alike.

* `choice` makes the session of an algorithm with its options, `session_run` connects it to the embedded simulator.
* `simulate` is a run in one call from Python, and the only such function. It returns a `simulated_run`, which is a
  `run`, as those read from files are; `inputs` reads platforms and workloads, `class_state` finds changes that a run
  leaves in the class of its algorithm, `job_wait` shows why a job waited.
* `result_writer` writes the files of a simulation: jobs, schedule and traces under Batsim's names; `served_run` writes
  those of a run with another simulator. `table_writer` writes the tables of an algorithm, `decision_spool` its
  decisions; rows wait on disk until the run has ended.
* `run_description` describes what was run: inputs with their hashes, options, settings, versions.

Invariants: a file is written whole or not at all; inputs are hashed before the run, which may be long.
"""
