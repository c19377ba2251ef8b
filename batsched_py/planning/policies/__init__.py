"""Choices by name: orders of jobs, selections of hosts, constraints."""
