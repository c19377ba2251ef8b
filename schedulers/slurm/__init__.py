"""The algorithm `slurm`: its options, and what its decisions become in Batsim."""
