"""Accounting of leases: counters, statistics, the probes that fill them, tables and data files (H76 to H82).

Nothing here is asked by the scheduler: an observer writes down what it sees, and changes no decision.
"""
