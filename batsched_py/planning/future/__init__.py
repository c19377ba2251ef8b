"""Which hosts are free when: the availability, promises to waiting jobs, reservations."""
