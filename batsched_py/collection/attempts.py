"""Attempts: the cost of placing a job, and the reasons why it waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from batsched_py.collection.codes import Code
from batsched_py.collection.enactor import Negotiation
from batsched_py.model.job import Job
from batsched_py.text.wording import counted


@dataclass(slots=True)
class PlacementCounts:
    """Counts of the work to place a job.

    They are proposals, requests to hosts, grants given back, hosts that refused, and placements that were lost.
    """

    proposals: int = 0
    requests: int = 0
    releases: int = 0
    refusals: int = 0
    losses: int = 0

    def count(self, talk: Negotiation) -> Mapping[str, Code]:
        """Add the counts of a negotiation; return the hosts and vaults that refused, with their codes."""
        self.proposals += 1
        self.requests += talk.requests
        self.releases += talk.releases
        refused = talk.refusals
        self.refusals += len(refused)
        return refused


def why_not(job: Job, refused: Mapping[str, Code]) -> str:
    """Return the reason why a job waits: the refusals of hosts by code."""
    if not refused:
        return f"needs {counted(job.size, 'host')}; fewer that suit it are known to be free"
    codes = Counter(refused.values())
    return "refused by hosts: " + ", ".join(f"{code} {count} times" for code, count in sorted(codes.items()))
