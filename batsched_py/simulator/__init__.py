"""The embedded simulator: Batsim's part of a conversation, played without Batsim.

Start with `simulation`, the story of a run, then `assembly`, where its parts are made, and `context`, what they share.
The packages, from the bottom up:

* `settings`: the input; the output are `batsched_py.results`.
* `time`: the clock with its queue of future actions, the mailbox of Batsim's server, sources, and four loops.
* `contention`: parallel tasks and messages that share processors and links.
* `machines`: states of hosts, power states, energy, failures.
* `jobs`: profiles, submission, how long work takes, how jobs end.
* `referee`: applies each command, or refuses it by Batsim's rules; deadlock and livelock.
* `wire`: messages to and from the scheduler, and the store of jobs.
* `generation`: what differs between Batsim 1.4 and later ones. No other module asks which Batsim is played.

Invariants: time moves in `time.event_queue` alone, and never back. The same input gives the same bytes; what happens at
one instant is ordered by rank, then by order of asking. Nothing here knows `state`, `planning` or `scheduling`, so that
no error can hide in both parts; import-linter holds that wall.
"""
