"""Explanations of waits: a reason for each second from submission to start, from the schedule and the decisions.

Start with `walk.explain`, which analyses the wait of one job step by step; `run_explanation.explain_run` sums up the
waits of all jobs, which `run_sweep` analyses in one pass. `history.RunHistory` finds the running and waiting jobs at a
time, `explanation` and `blockers` are the result, `reasons` is the closed set of reasons, `wording` formats
explanations as text.
"""
