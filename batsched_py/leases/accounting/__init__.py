"""Accounting of leases: counters, statistics, the probes that fill them, tables and data files (H76 to H82).

The scheduler does not depend on it: an observer records events, and changes no decision.
"""
