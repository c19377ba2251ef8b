"""Algorithms that save or limit energy, and what they share.

* `sleeper` is the simplest: idle hosts sleep. Start here.
* `easy_sleeper` is EASY on hosts that sleep; `easy_idle_sleeper`, `easy_subpart_sleeper` and `energy_budget` say who
  sleeps when. `power_manager` keeps who sleeps, who is on the way and how long that takes.
* `energy_budget` keeps to watts (`power_estimate`) and joules (`token_bucket`); `inertia` follows the load's trend.
* `easy_dvfs` chooses the power state in which each job computes; `power_ledger` is what that may draw.

What hosts draw is read from their properties by `planning.power`. Estimates are upper bounds: what is promised of power
or energy holds whatever the jobs do.
"""
