"""The immutable data of simulations: jobs, profiles, workloads, platforms.

Start with job.py: a request for hosts during a time. Then

* profile.py: the work of a job, typed if the type is known; new_profile.py creates profiles for jobs that an algorithm
  submits;
* workload.py: jobs in submission order with their profiles; packed_jobs.py and name_set.py store a million jobs, and
  a million names, in little memory;
* platform.py: hosts, links and the routes between hosts; zone.py: the computation of routes in zones;
* settings.py: the options of a simulation; features.py: those requested from Batsim 5; external_event.py: events at
  fixed times;
* lease_terms.py: the terms of a lease, in the member `lease` of a job; resources.py: resources of leases and hosts;
* limits.py: limits of input sizes, and rules for names and times.

Invariants:

* Objects do not change after their creation, and nothing here reads files: `traces` does.
* Unknown members remain in `members`, and are written back unchanged.
* All stored numbers are finite; the error for another number names the field and the rule.
"""
