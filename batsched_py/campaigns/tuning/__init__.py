"""Tuning of the options of an algorithm: each trial is chosen from the results of the previous ones.

`search_space` defines the possible values, `tuner` chooses among them with Optuna and executes the runs.
"""
