"""Contention: parallel tasks and messages that share processors and links, as SimGrid 3.32 shares them.

Start with `fluid_model`: activities begin, advance at rates that change whenever another one begins or ends, and end. A
`demand` describes the resources that an activity needs; `transfers` computes the load of links from the `exchanges`
between executors. `activities` contains the state of running activities; `fair_bottleneck` computes the rates, without
knowledge of hosts, links or the clock.
"""
