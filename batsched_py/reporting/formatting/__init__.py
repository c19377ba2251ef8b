"""Durations and final states as people read them."""
