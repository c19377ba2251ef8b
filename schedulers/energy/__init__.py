"""Algorithms that save or limit energy, and what they share.

* `sleeper` is the simplest: idle hosts sleep. Start here.
* `easy_sleeper` is EASY on hosts that sleep; `easy_idle_sleeper`, `easy_subpart_sleeper` and `energy_budget` choose the
  hosts and the instants. `power_manager` keeps sleep, switches under way and how long they take.
* `energy_budget` keeps to watts (`power_estimate`) and joules (`token_bucket`); `inertia` follows the load's trend.
* `easy_dvfs` chooses the power state in which each job computes; `power_ledger` is what that may draw.

The watts of hosts are read from their properties by `planning.power`. Estimates are upper bounds: promises of power or
energy hold whatever the jobs do.
"""
