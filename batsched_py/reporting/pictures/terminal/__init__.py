"""Pictures made of text: the Gantt chart of `gantt`, and the live view of `live`.

Both use the lines and bars of `canvas`; `looks` has the letters, shades and colours of jobs, `lease_looks` the signs of
leases.
"""
