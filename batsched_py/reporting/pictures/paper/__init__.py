"""Figures for papers, drawn by matplotlib (the extra `plot`); these modules are imported only when needed.

Start with `style`: figures are made and saved within its context, which makes them independent of the user's settings.
`gantt_figure` stacks a `gantt_chart` and `panels` for each schedule, `curves` compares runs in one pair of axes.
`lease_layer` has the patterns of leases. `timeline_figure` draws the timelines of VMs.
"""
