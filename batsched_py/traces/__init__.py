"""Workloads and platforms as files: readers, writers, and a generator.

Start with `batsim_json` (workloads) and `simgrid_xml` (platforms). `batsim_json` reads jobs, `batsim_json_writer`
writes them, `profile_table` reads profiles. `simgrid_xml` reads zones and hosts, `xml_cluster` groups of identical
hosts, `xml_network` links and routes, all through `xml_element`; `quantity` reads units. `swf`, `swf_headers` and
`swf_remarks` read logs; `sacct`, `sacct_rows` and `sacct_fields` read Slurm's accounting; `formats` is the table of the
formats of jobs, which are detected from the content. `cleaning` converts logs into workloads, and `workload_members`
lists the members of workloads that have no effect. `lublin` generates synthetic workloads; `delay_workload` builds both
kinds. `failures` generates failures of hosts. `lwf` reads and writes Haizea's lease workloads as `lease_request`s,
through `lwf_element` and `lwf_time`.

Invariants: nothing is corrected silently, and dropped items are counted; each error is one line with file, field and
rule; files are read within limits and replaced as a whole; the same input gives the same bytes. The caller passes in
all sources of randomness.
"""
