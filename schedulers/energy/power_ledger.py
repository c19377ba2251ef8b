"""A ledger of the watts of all hosts while jobs choose their pstates: an upper bound."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from batsched_py.planning.power import HostPower


class Share(Struct, frozen=True):
    """The watts that a job's hosts draw in addition to their idle power, and its latest end."""

    watts: float
    until: float


class PowerLedger:
    """The watts of all hosts, job by job.

    An idle host counts with its idle watts in the last requested pstate, a busy one with its full watts. A host with a
    request for another pstate for a job counts at once with the larger of its old and its new watts. Failed hosts count
    as idle. `pstates` has the pstate in which each host is.
    """

    def __init__(self, powers: Mapping[int, HostPower], pstates: Mapping[int, int]) -> None:
        self._powers = powers
        #: Host -> the last requested pstate.
        self._pstates = dict(pstates)
        #: Watts of all hosts if none worked.
        self.idle = sum(self._idle(host, pstate) for host, pstate in pstates.items())
        #: Job id -> its share; only running and prepared jobs.
        self.shares: dict[str, Share] = {}

    def rise(self, pstates: Mapping[int, int], before: Mapping[int, int] | None = None) -> float:
        """Return the watts that a job adds if it begins on hosts that are idle now, in these pstates.

        `before` are pstates to which some hosts will have been switched until then.
        """
        first = before or {}
        total = 0.0
        for host, pstate in pstates.items():
            idle = self._idle(host, first.get(host, self._pstates[host]))
            total += max(0.0, self._powers[host].draws[pstate].full - idle)
        return total

    def drift(self, pstates: Mapping[int, int]) -> float:
        """Return the change of idle watts after a switch to these pstates."""
        return sum(self._idle(host, pstate) - self._idle(host, self._pstates[host]) for host, pstate in pstates.items())

    def at(self, time: float, now: float) -> float:
        """Return the watts at an instant, if jobs end when they must and nothing else changes."""
        if time <= now:
            return self.idle + sum(share.watts for share in self.shares.values())
        return self.idle + sum(share.watts for share in self.shares.values() if share.until > time)

    def begin(self, job_id: str, pstates: Mapping[int, int], until: float) -> None:
        """Count a job that begins, or whose hosts are switched to their pstates for it."""
        drift = self.drift(pstates)
        self.shares[job_id] = Share(self.rise(pstates) - drift, until)
        self._pstates.update(pstates)
        self.idle += drift

    def keep(self, job_ids: Iterable[str]) -> None:
        """Forget all jobs but these."""
        left = set(job_ids)
        self.shares = {job_id: share for job_id, share in self.shares.items() if job_id in left}

    def most_alone(self, size: int, pstates: Mapping[int, int]) -> float:
        """Return the most watts if a job of this size has the machine to itself, its hosts in these pstates.

        For any choice of its hosts, and any computing pstates of the others.
        """
        idles = {
            host: max(power.draws[pstate].idle for pstate in power.computing) for host, power in self._powers.items()
        }
        rises = (max(0.0, self._powers[host].draws[pstate].full - idles[host]) for host, pstate in pstates.items())
        return sum(idles.values()) + sum(sorted(rises, reverse=True)[:size])

    def _idle(self, host: int, pstate: int) -> float:
        return self._powers[host].draws[pstate].idle
