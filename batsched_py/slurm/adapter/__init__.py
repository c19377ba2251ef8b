"""Between the controller and Batsim: hosts as nodes, jobs as requests of sbatch, and files that options name."""
