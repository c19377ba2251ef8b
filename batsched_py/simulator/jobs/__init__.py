"""Jobs in the simulator: submission, profiles, execution, end.

Start with `lifecycle`, which executes commands about jobs, and the table of states in `live_jobs`. A running job is a
`planned_jobs.PlannedJob`, whose end is known at its start, or a `talking_jobs.TalkingJob`, simulated task by task.
`execution` converts a profile into `work`, using the platform's `transfers`. `profiles` stores existing and removed
profiles. `submissions` submits the jobs of the workload files, `registration` those that a scheduler adds.
"""
