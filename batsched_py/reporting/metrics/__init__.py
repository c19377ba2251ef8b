"""The metrics of schedules, and their tables. docs/metrics.md defines each of them.

Start with `run_metrics`: a field of `RunMetrics` has its title and unit beside it, and is a column of all outputs.
`job_metrics` measures single jobs, `summary` the ten metrics that `simulate` shows (for which the numbers of the ended
jobs suffice), `batsim_metrics` those of Batsim's `_schedule.csv` by Batsim's own definitions. `over_time` has
quantities as step functions, on the arithmetic of `steps`; `host_times` sums the states of hosts, in a `run_map` for
many; `statistics` has mean, quantile and fairness. `same_jobs` decides whether two runs can be compared, `tables` shows
runs side by side. `lease_metrics` measures leases,
`placement_metrics` what it took to place jobs.

Invariants: sums are exact (`math.fsum`), so that the order of jobs does not matter to the last bit; a metric without a
meaning is None, never 0; a rejected job is counted and in no mean, but for Batsim's own.
"""
