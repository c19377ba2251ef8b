"""Explanations of the differences between simulator and recordings, comparison by comparison."""

from __future__ import annotations

from typing import Final

MESSAGES: Final = "messages"
FACTS: Final = "facts"
OUR_SIDE: Final = "our side"
REFUSAL: Final = "refusal"

#: (recording, comparison) -> why it differs.
EXPLAINED: Final = {
    ("o25_sharing_random", MESSAGES): (
        "two jobs end 1 ns apart, which is SimGrid's precision: its rounding makes them one instant or two"
    ),
    ("o07_easy_bf_mixed_cluster", FACTS): (
        "a job that takes as long as its walltime started 0.1 ns after another one; at the end of that one SimGrid"
        " stopped it, because its walltime was less than 1 ns away; with messages that take time it is stopped here too"
    ),
    ("walltime_tie", FACTS): (
        "two jobs alike, slowed by each other, end exactly at their walltimes, the second of which began 0.1 ns later:"
        " SimGrid takes a walltime that is less than 1 ns away as over"
    ),
    ("loopback_lat", FACTS): "each message takes 0.25 s, by network/loopback-lat: Batsim submits and starts jobs late",
    ("master_route_kill", FACTS): (
        "a job that its walltime has cut slows another one down until its message has arrived, 0.2 s later"
    ),
    ("14_energy_watcher_query", FACTS): (
        "the questions for energy took 0.6 ms each to reach Batsim, in which its hosts consumed 7.3 J;"
        " with messages that take time the answers are the same"
    ),
    ("force_stop", FACTS): (
        "it was stopped 0.2 ns after the last submission, before that was announced; an instant is one message here"
    ),
    ("numbers", MESSAGES): "its walltimes are longer than the clock of the simulator goes",
    ("numbers", FACTS): "its walltimes are longer than the clock of the simulator goes",
    ("err_alloc_ptask_too_few", OUR_SIDE): "it needs 2 hosts, not 1; Batsim 5 does not count them, the Plan does",
    ("err_alloc_too_few", OUR_SIDE): "it needs 2 hosts, not 1; Batsim 5 does not count them, the Plan does",
    ("err_alloc_too_many", OUR_SIDE): "it needs 1 host, not 4; Batsim 5 does not count them, the Plan does",
    ("err_register_walltime_0", OUR_SIDE): (
        "walltime: must be greater than 0 s, or -1 for none, not 0.0; Batsim 5 ends such a job at once"
    ),
    ("mapping_multicore", OUR_SIDE): "it needs 2 hosts, not 3; Batsim 5 does not count them, the Plan does",
    ("reply_no_event_object", OUR_SIDE): (
        "finish registration: Batsim was not asked for dynamic jobs; Batsim 5 passes over their end"
    ),
}
