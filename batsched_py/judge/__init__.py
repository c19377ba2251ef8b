"""The judge of algorithms: plays fixed workloads against an algorithm, and names the rules that it breaks.

`judgement` is the entry: it runs `trials` (one for each workload and one for each check of a whole algorithm) in
processes with limits, and scores the algorithm against built-in ones (`scores`). `rules` is the table of rules,
`workloads` the fixed set, with its version. In its process a trial wraps the algorithm (`witnesses`), plays the
workload, and converts errors (`refusals`) and the finished run (`played_workload`) to `verdicts`.

Invariants: user code never runs in the process of the caller; findings are the same in each call, except those of the
limits, because cost is counted in lines of code and not in seconds.
"""
