"""The execution of planned runs: what one run is and leaves, where many are executed, and where results are kept.

`planned` executes a `RunSpec` in a `RunEnvironment`.
"""
