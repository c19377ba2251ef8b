"""Time in the simulator: the clock, what is due, and when messages leave.

Start with `event_queue`. `mailbox` decides when the server hears of what has happened: at once, or over the network.
`timed_source` feeds submissions and external events into it. One of four loops lets time pass and asks the scheduler:
`instant_loop` (one message an instant), `live_loop` (and others may speak meanwhile), `latency_loop` (messages take
time), `batsim1_loop` (Batsim 1.4).

Actions of one instant happen in order of rank, which recorded runs of real Batsim show, then in order of asking.
"""
