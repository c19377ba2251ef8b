"""Hosts in the simulator: states, switching, failures, power and energy.

Start with `machines`: which state each host is in. `switching` changes power states; their draw is in `power_model`,
which `power_properties` reads from platform files. `energy_meter` charges hosts as lazily as SimGrid, `energy_use`
loads them with one job's tasks. `external_events` makes hosts unavailable and available again.

Each host is in one state; being unavailable covers it. Hosts are bits of one integer, compute hosts first.
"""
