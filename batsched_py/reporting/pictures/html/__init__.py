"""The report page: one HTML file that makes no request.

Start with `document`, which has a function for each section. `content` packs the data for the scripts in `page/`,
`lease_content` the data of leases, with numbers shortened by `short_numbers`; `differences` compares runs job by job,
`metric_rows` prepares the summary, `timelines` draws the timelines of VMs, `markup` has HTML elements.

Invariants: text from outside is escaped in `markup` or `document`, and trusted nowhere; page, style and scripts are
files in `page/`, and these modules generate only what depends on the runs.
"""
