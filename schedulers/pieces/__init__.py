"""What algorithms are made of, and no algorithm itself: shared by several of those beside this package.

`backfilling` (the loop of all that promise) with `backfill_options`, `easy_sleeper` (EASY on hosts that sleep),
`in_order` (starting in order of arrival, for those that are for something else), `power_manager` (who sleeps, who is on
the way), `power_estimate` (what the hosts draw) and `power_ledger` (the same where jobs choose pstates).
"""
