"""Contention: parallel tasks and messages that share processors and links, as SimGrid 3.32 shares them.

Start with `fluid_model`: activities begin, advance at rates that change whenever another one begins or ends, and end. A
`demand` tells what an activity needs; of links, `transfers` adds it up from what executors send each other, their
`exchanges`. `activities` has what is known of one that runs; `fair_bottleneck` computes the rates, and knows no hosts,
links or clock.
"""
