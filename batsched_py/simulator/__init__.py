"""The embedded simulator: it plays Batsim's role in the protocol, without Batsim.

Start with `simulation`, the sequence of a run, then `assembly`, which creates the parts, and `context`, their shared
state. The input is `model.settings`, the output is in `results`. The packages, from the bottom up:

* `time`: the clock with its event queue, the mailbox of Batsim's server, sources, and four loops.
* `contention`: parallel tasks and messages that share processors and links.
* `machines`: states of hosts, power states, energy, failures.
* `jobs`: profiles, submission, durations of work, ends of jobs.
* `referee`: application of commands, or refusal by Batsim's rules; deadlock and livelock.
* `wire`: messages to and from the scheduler, and the store of jobs.
* `generation`: differences between versions of Batsim. No other module asks which version is simulated.

Invariants: only `time.event_queue` advances time, and never backwards. The same input gives the same bytes; the order
of actions at one instant is by rank, then by the order of requests. No module here imports `state`, `planning` or
`scheduling`: otherwise one error could hide in both parts; import-linter enforces this.
"""
