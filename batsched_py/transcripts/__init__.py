"""Recorded conversations: written while a run lasts, read back, replayed and compared decision by decision."""
