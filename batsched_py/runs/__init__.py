"""Runs: from the choice of an algorithm to a session, a result and its files, for commands and for Python alike.

* `choice` makes the session of an algorithm with its options, `session_run` connects it to the embedded simulator.
* `simulate` is a run in one call from Python, `run` what it returns, or what is read from files, `simulated_run` the
  part that files lack; `inputs` reads platforms and workloads.
* `result_writer` writes jobs, schedule and traces under Batsim's names, `table_writer` the tables of an algorithm,
  `decision_spool` its decisions; their rows wait on disk until the run has ended.
* `run_description` describes what was run: inputs with their hashes, options, settings, versions.

Invariants: a file is written whole or not at all; inputs are hashed before the run, which may be long.
"""
