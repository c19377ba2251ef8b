"""The execution of planned runs: one run and its results, workers for many runs, and the store of results.

`planned` executes a `RunSpec` in a `RunEnvironment`.
"""
