"""The parts of the algorithm `placer`.

`options`: options of users. `members`: hosts and vaults, with their exact and their polled records. `admission`: jobs
that wait for hosts or for other jobs. `placer.py` next to this package composes them with a placer and an enactor of
`batsched_py.collection`.
"""
