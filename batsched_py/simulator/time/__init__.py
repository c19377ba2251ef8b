"""Time in the simulator: the clock, future actions, and the times of messages.

Start with `event_queue`. `mailbox` determines when the server receives events: immediately, or over the network.
`timed_source` sends submissions and external events to it. One of four loops advances time and asks the scheduler:
`instant_loop` (one message per instant), `live_loop` (with live events), `latency_loop` (messages take time),
`batsim1_loop` (Batsim 1.4).

Actions of one instant are ordered by rank, as in recorded runs of real Batsim, then by the order of requests.
"""
