"""Pictures made of text: the Gantt chart of `gantt`, and the live view of `live`.

Both use the lines and bars of `canvas`; `looks` has the letters, shades and colours of jobs, `signs` those of
leases and of unavailable hosts.
"""
