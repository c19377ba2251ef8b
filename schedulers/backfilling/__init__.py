"""Backfilling: one loop for all algorithms that promise starts, and the rules by which they differ.

Start with `loop` (the passes over the waiting jobs), then `rules` (the decisions of one algorithm), then `options` (the
choices of users). `algorithms` has the classes that algorithms inherit, `repairs` expects failed hosts back. Promises
are in a promise book of `planning.future`.

`easy.py`, `conservative.py` and `backfill.py` next to this package are the loop with a depth; `easy_plus_plus.py`,
`ar_preempt.py` and those in `energy/` give it rules of their own. None of them overrides the loop.

Invariants: at most `depth` jobs are blocked; they are in the book in the order of service; no started job breaks a
promise, unless the rules predict run times.
"""
