"""Recorded runs of the algorithm `slurm`, as Slurm's commands show a cluster: squeue, sprio and sshare.

A recording has no state of the controller. `instant.controller_at` answers its requests again up to an instant; the
other modules read what an operator would see then.
"""
