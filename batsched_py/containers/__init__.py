"""Batsim in a container: started, followed and removed through an engine with Docker's interface.

Start with `launch`, which is pure: files and arguments become the description of a container. `engine` finds the
engine, gets images, creates and removes containers; `container` follows one that runs. Only these two need the extra
`docker`.

Invariants: nothing is left of a container, however a run ends; a container sees no more of this machine than the
folders of its inputs and of its results; every failure is an EngineError of one line.
"""
