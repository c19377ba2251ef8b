"""Policies of leases: admission, preemption and host selection (H54 to H58)."""
