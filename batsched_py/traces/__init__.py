"""Workloads and platforms as files: readers, writers, and a generator.

Start with `batsim_json` (workloads) and `simgrid_xml` (platforms). `batsim_json` reads jobs, `profile_table` profiles,
`json_document` finds the place of an error. `simgrid_xml` reads zones and hosts, `xml_cluster` groups of hosts alike,
`xml_network` links and routes, all through `xml_element`; `quantity` reads units. `swf`, `swf_headers` and
`swf_remarks` read logs, `sacct`, `sacct_rows` and `sacct_fields` Slurm's accounting, which `log_format` tells by their
content; `cleaning` makes workloads of them, and `workload_members` knows what is not obeyed in workloads. `lublin`
draws synthetic ones; `delay_workload` is the form of both. `failures` draws those of hosts.
`atomic_file` writes. `lwf` reads and writes the lease workloads of Haizea as `lease_request`s, through `lwf_element`
and `lwf_time`. `run_file` reads and writes what was run.

Invariants: nothing is corrected silently, what is dropped is counted; each error is one line with file, field and rule;
files are read within limits and replaced whole; the same input gives the same bytes. All randomness is passed in.
"""
