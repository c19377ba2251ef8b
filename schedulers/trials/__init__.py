"""Algorithms to try out workloads, outputs and Batsim itself; nobody would schedule with them."""
