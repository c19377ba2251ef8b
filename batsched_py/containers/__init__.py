"""Batsim in a container: what is run, the engine that runs it, and what becomes of it."""
