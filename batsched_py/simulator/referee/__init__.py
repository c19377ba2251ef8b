"""Checks on what the scheduler sends: rules of Batsim, deadlock, livelock."""
