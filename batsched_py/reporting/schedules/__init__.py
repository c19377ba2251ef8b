"""Runs as schedules, and their readers: result files and logs as a `Schedule`.

Start with `run_reader.read_schedule`, which assembles the files of a run that `run_location` finds. `jobs_file` reads
`_jobs.csv`, `run_files` the others, both through `tabular`; `log_schedule` takes a schedule from a log in SWF.
`members` adds members of jobs that only the workload has: users, deadlines and reservations. `lease_tables` has the
leases of a run with the algorithm `leases`, `lease_schedule` converts them to jobs if there is no jobs file.
`timeline_tables` has the timelines of a run with `timelines`, `placement_tables` the placements of a run with `placer`.

Invariants: readers never guess silently, all assumptions become `notes`; host numbers from `hosts` on are storage and
are not counted; memory is proportional to the size of the files, regardless of the host numbers in them.
"""
