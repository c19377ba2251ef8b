"""Pictures of text: the Gantt chart of `gantt`, and the live view of `live`.

Both are lines of a `canvas`, or bars from it; `looks` has the letters, shades and colours of jobs, `lease_looks` the
signs of leases.
"""
