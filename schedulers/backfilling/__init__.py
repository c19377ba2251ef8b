"""Backfilling: one loop for all algorithms that promise starts, and the rules by which they differ.

Start with `loop` (who is looked at when), then `rules` (what an algorithm decides by itself), then `options` (what
users choose). `repairs` expects failed hosts back. Who is promised what is in a promise book of `planning.future`.

`easy.py`, `conservative.py` and `backfill.py` beside this package are the loop with a depth; `easy_plus_plus.py`,
`ar_preempt.py` and those in `energy/` hand it rules of their own. None of them overrides the loop.

Invariants: at most `depth` jobs are blocked; they are in the book in the order of serving; whoever starts breaks no
promise, unless the rules predict how long jobs run.
"""
