"""The changing state of the hosts of a run and the jobs on them."""

from __future__ import annotations

from batsched_py.results.records import JobRecord


class MachineState:
    """The changing state of the hosts and the jobs on them."""

    def __init__(self, hosts: int, count: int, *, known: bool) -> None:
        """Begin with `count` idle hosts, with these bits; `known` is True if the hosts of each job are known."""
        self._hosts, self._known, self._count = hosts, known, count
        #: Job id -> the job, in the order of starts.
        self.running: dict[str, JobRecord] = {}
        #: Bits of the hosts that cannot take jobs for another reason than work.
        self.down = 0
        self._busy = self._taken = 0
        #: True once two jobs have shared a host.
        self._shared = False

    def begin(self, record: JobRecord) -> None:
        """Start a job on its hosts."""
        hosts = record.hosts.bits
        self._shared = self._shared or bool(self._busy & hosts)
        self.running[record.job.id] = record
        self._busy |= hosts
        self._taken += record.size_on(self._count)

    def end(self, record: JobRecord) -> None:
        """End a job and free its hosts."""
        del self.running[record.job.id]
        self._taken -= record.size_on(self._count)
        if self._shared:
            self._busy = 0
            for other in self.running.values():
                self._busy |= other.hosts.bits
        else:
            self._busy ^= record.hosts.bits

    def idle(self) -> int:
        """Return the number of hosts without work."""
        return (self._hosts & ~self._busy).bit_count() if self._known else self._count - self._taken

    def free(self) -> int:
        """Return the number of hosts that can take a job."""
        return (self._hosts & ~self._busy & ~self.down).bit_count() if self._known else self.idle()

    def usable(self, record: JobRecord) -> int:
        """Return the number of a job's hosts that another job could use without it."""
        if not self._known:
            return record.size_on(self._count)
        return (record.hosts.bits & self._hosts & ~self.down).bit_count()
