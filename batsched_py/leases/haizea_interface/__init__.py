"""Users' own policies and probes, with Haizea's interfaces (H54, H91, H92).

`views` has read-only views of leases and of the slot table, `times` the times and the clock, `bases` the base classes.
`modules` makes them importable under Haizea's names while a user's file is loaded.
"""
