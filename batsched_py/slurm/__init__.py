"""The decisions of the workload manager Slurm, as a kernel without clock and files, in parts named as Slurm names them.

The rules are those that the manual pages of Slurm 22.05 describe and that recordings of a real one show. A
`Controller` is given submissions, ends of jobs and commands with their instants, and returns decisions.
"""
