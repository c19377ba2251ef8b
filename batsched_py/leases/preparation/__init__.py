"""Preparation of a lease's hosts before its start: transfers of disk images (H45 to H53)."""
