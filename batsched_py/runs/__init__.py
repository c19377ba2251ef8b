"""Runs: from a result to its files, for commands and for Python alike.

* `result_writer` writes jobs, schedule and traces under Batsim's names, `table_writer` the tables of an algorithm,
  `decision_spool` its decisions; their rows wait on disk until the run has ended.
* `run_description` describes what was run: inputs with their hashes, options, settings, versions.

Invariants: a file is written whole or not at all; inputs are hashed before the run, which may be long.
"""
