"""Hosts in the simulator: states, switching, failures, power and energy."""
