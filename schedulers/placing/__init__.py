"""The rooms of the algorithm `placer`.

`options`: the choices of users. `members`: hosts and vaults, what they report and what is known of them. `admission`:
jobs that wait, for hosts or for other jobs. `placer.py` beside this package composes them with a placer and an enactor
of `batsched_py.collection`.
"""
