"""The search of the first edge of backfill's table from which a job can start."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from math import inf

from batsched_py.slurm.forecast import JobForecast, SimpleJobEnds
from batsched_py.slurm.pass_tests import JobTest
from batsched_py.slurm.plan_table import PlanTable

# A pass makes some hundred thousand tries for a few thousand jobs, so this is one loop on the lists of the table. A job
# that fits if nodes and tasks suffice starts no earlier on fewer nodes, and until the first end of what is reserved
# during its time later edges leave it no more nodes: they are skipped if it cannot start before that end.


def search_edges(
    table: PlanTable,
    ends: SimpleJobEnds,
    nodes: int,
    *,
    seconds: float,
    since: float,
    last: float,
    now: float,
    is_free: Callable[[JobForecast], bool],
    test: JobTest,
) -> JobForecast | None:
    """Return the first start of a job on some of these nodes at or after an edge of the table; None if there is none.

    The job is planned with so many seconds, edges are tried from `since` and before `last`, and `now` is the whole
    second of the pass. `is_free` says whether what would be reserved for a start is free. Tries without success are
    noted in the test.
    """
    best = ends.fit_on(nodes & ends.allowed)
    if best is None:
        return None
    edges, reserved, reservations = table.edges, table.reserved_nodes, table.ends
    base, count, least = nodes & ends.allowed, ends.nodes_wanted, ends.first_end(best)
    at = bisect_left(edges, since)
    while at < len(edges) and edges[at] < last:
        edge = edges[at]
        end, free, is_room = edge + seconds, base, True
        for later in range(at, bisect_right(edges, end, at)):
            free ^= free & reserved[later]
            if free.bit_count() < count:
                is_room = False
                if (base ^ (base & reserved[later])).bit_count() < count:
                    at = later  # nor is there room for any interval with this edge
                break
        if not is_room:
            at += 1
            continue
        number = bisect_right(reservations, (edge, inf))
        while number < len(reservations) and reservations[number][1] > end:
            number += 1
        until = reservations[number][0] if number < len(reservations) else inf
        found = None if least > until else ends.earliest(free, after=edge, now=now)
        if found is None or found.start > until:
            test.note_late(least if found is None else found.end)
        elif is_free(found):
            test.found, test.after = found, edge
            return found
        at = bisect_left(edges, until) if found is None or found.least > until else at + 1
    return None
