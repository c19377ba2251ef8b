"""Policies of leases: who is admitted, who gives way to whom, which hosts are taken first (H54 to H58)."""
