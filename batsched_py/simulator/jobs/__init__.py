"""Jobs in the simulator: submission, profiles, execution, end.

Start with `lifecycle`, which obeys commands about jobs, and the table of states in `live_jobs`. A job that runs is a
`planned_jobs.PlannedJob`, whose end is known when it starts, or a `talking_jobs.TalkingJob`, played task after task.
`execution` turns a profile into `work`, by the platform's `transfers`. `profiles` knows which profiles there are and
which were forgotten. `submissions` has the jobs of the workload files, `registration` those that a scheduler adds.
"""
