"""Preparation: what must have happened on the hosts of a lease before it starts (H45 to H53)."""
