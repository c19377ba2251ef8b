"""The report page: one HTML file that makes no request.

Start with `document`, which has a function for each section. `content` makes the data small that the scripts in `page/`
draw, `lease_content` that of leases, with the digits of `short_numbers`; `differences` compares runs job by job,
`metric_rows` prepares the summary, `timelines` what VMs do when, `markup` makes elements of HTML.

Invariants: text from outside is escaped in `markup` or `document`, and nowhere trusted; page, style and scripts are
files in `page/`, this package has only what depends on the runs.
"""
