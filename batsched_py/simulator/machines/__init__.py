"""Hosts in the simulator: states, switching, failures, power and energy.

Start with `machines`, the state of each host. `switching` changes power states; `power_model` contains their draw,
which `power_properties` reads from platform files. `energy_meter` accumulates energy as lazily as SimGrid, `energy_use`
applies the load of one job's tasks. `external_events` makes hosts unavailable and available again.

Each host has one state; while it is unavailable, this hides that state. Hosts are bits of one integer, compute hosts
first.
"""
