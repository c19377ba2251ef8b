"""Runs of timelines as tables and as JSON: what happened in which VM, and when."""
