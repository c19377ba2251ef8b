"""Runs of timelines as tables and as JSON."""
