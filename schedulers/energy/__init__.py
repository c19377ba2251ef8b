"""Algorithms that save or limit energy, and what they share: power states, estimates, ledgers."""
