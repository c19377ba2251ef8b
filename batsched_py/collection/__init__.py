"""Collection: records of hosts, and queries for them, as in Legion.

* `collection`: records that join, leave and are updated; collections that poll others and may be out of date.
  `platform`: the hosts of a platform. The language of queries is a package of its own, `queries`.
* `alternatives`: schedules in order of preference, perhaps as differences. `placers`: propose them, using `proposals`
  for the results of a query in some order (`arrangements`).
* `enactor`: reserves one of them, all or nothing. `resources`: hosts and vaults that decide for themselves, by their
  `policies`; `tokens`: their grants; `codes`: their answers; `attempts`: the cost of placing a job.
* `demands`: requirements of jobs for hosts and vaults; `classes`: requirements that all jobs of a kind share.
  `waiting_index`: waiting jobs; `rests`: back-off for jobs that hosts have refused.

Nothing here does I/O. Times are seconds.
"""
