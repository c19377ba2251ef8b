"""Tuning: the options of an algorithm, chosen trial after trial by what former trials gave.

`search_space` says what may be chosen, `tuner` chooses with Optuna and has the runs made.
"""
