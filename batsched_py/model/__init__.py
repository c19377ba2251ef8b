"""What things are: jobs, profiles, workloads, platforms. Immutable values, no behaviour over time."""
