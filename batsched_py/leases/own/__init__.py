"""Policies and probes of users' own, with the interfaces of Haizea (H54, H91, H92).

`views` has what they see of a lease and of the slot table, `times` the times and the clock, `bases` the classes that
they derive from. `modules` lets a file import all that under Haizea's names while it is loaded.
"""
