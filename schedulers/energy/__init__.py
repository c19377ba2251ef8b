"""Algorithms that save or limit energy, and their common parts.

* `sleeper` is the simplest: idle hosts sleep. Start here.
* `easy_sleeper` is EASY on hosts that sleep; `easy_idle_sleeper`, `easy_subpart_sleeper` and `energy_budget` choose the
  hosts and the instants. `power_manager` manages sleep, pending switches and their durations.
* `energy_budget` limits watts (`power_estimate`) and joules (`token_bucket`); `inertia` follows the load's trend.
* `easy_dvfs` chooses the power state in which each job computes; `power_ledger` estimates the power of that.

The watts of hosts are read from their properties by `planning.power`. Estimates are upper bounds: promises of power or
energy hold for any behaviour of the jobs.
"""
