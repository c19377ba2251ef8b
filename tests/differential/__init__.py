"""Recorded exchanges of real Batsim, fed to the embedded simulator (its replies) and to our session (its requests).

`python -m tests.differential FOLDER [NAME...]` reports on each recording below FOLDER; the recordings in tests/data are
checked by the tests beside this file.
"""
