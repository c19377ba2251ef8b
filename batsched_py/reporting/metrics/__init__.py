"""The metrics of schedules, and their tables. docs/metrics.md defines each of them.

Start with `catalogue`: each field of `RunMetrics` is annotated with its title and unit, and is a column of all outputs;
`run_metrics` measures them, group by group, with `job_groups`, `machine_groups`, `lease_metrics` and
`placement_metrics`. `job_metrics` measures single jobs, `summary` the metrics that `simulate` shows (which need
only counts and times of ended jobs), `batsim_metrics` those of Batsim's `_schedule.csv` by Batsim's definitions.
`over_time` has quantities as step functions, based on `steps`; `host_times` sums the states of hosts, with a `run_map`
for large machines; `statistics` has mean, quantile and fairness. `same_jobs` decides whether two runs can be compared,
`tables` shows runs side by side.

Invariants: sums are exact (`math.fsum`), so that the order of jobs does not affect any bit; an undefined metric is
None, never 0; rejected jobs are counted, but not included in means, except in Batsim's own.
"""
