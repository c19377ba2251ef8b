"""The things that simulations are about, immutable: jobs, profiles, workloads, platforms.

Start with job.py: a request for hosts during a time. Then

* profile.py: what a job does when it runs, typed where the type is known; new_profile.py makes one for a job that an
  algorithm submits;
* workload.py: jobs in order of submission with their profiles; packed_jobs.py and name_set.py keep a million jobs, and
  the names of as many, in little memory;
* platform.py: hosts, links and the routes between hosts; zone.py: how zones compute them;
* limits.py: how much is read before a reader refuses to go on, and what names and times may be.

Invariants:

* Nothing changes after it was made, and nothing here reads a file: `traces` does.
* Members that nobody describes stay in `members`, and are written back as they came.
* A number that is kept is finite; the error for another names the field and the rule.
"""
