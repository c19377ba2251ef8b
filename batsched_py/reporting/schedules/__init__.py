"""Readers of runs: result files and logs as a `Schedule`.

Start with `schedule.read_schedule`, which assembles the files of a run that `run_location` finds. `jobs_file` reads
`_jobs.csv`, `run_files` the others, both through `tabular`; `log_schedule` takes a schedule from a log in SWF.
`members` adds what only the workload has: users, deadlines and reservations. `lease_tables` has the leases of a run
with the algorithm `leases`, `lease_schedule` makes jobs of them where there is no jobs file. `timeline_tables` has what
VMs did in a run of `timelines`, `placement_tables` what it took to place jobs in one of `placer`.

Invariants: a reader never guesses silently, assumptions become `notes`; host numbers from `hosts` on are storage and
count for nothing; memory stays in proportion to the size of the files, whatever the hosts in them.
"""
