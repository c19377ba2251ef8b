"""Leases: jobs with terms, such as the instant at which they must start."""
