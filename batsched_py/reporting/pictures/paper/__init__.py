"""Figures for papers, by matplotlib (the extra `plot`): nothing else imports these modules unless one is wanted.

Start with `style`: figures are made and saved within its context, which makes them independent of the user's settings.
`gantt_figure` stacks a `gantt_chart` and `panels` for each schedule, `curves` compares runs in one pair of axes.
`lease_layer` has the patterns of leases. `timeline_figure` draws what VMs do when.
"""
