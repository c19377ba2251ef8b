"""Why jobs waited: a reason for each second from submission to start, from the schedule and from what was decided.

Start with `explanation.explain`. `history.RunHistory` finds who ran and who waited at a time, `walk` goes through the
wait of one job step by step, `reasons` is the closed table of reasons, `wording` says them to people.
"""
