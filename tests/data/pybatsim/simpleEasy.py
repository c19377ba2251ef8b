"""EASY backfilling with walltimes: the order of jobs and hosts is that of arrival and numbers."""

from itertools import islice

from batsim.batsim import BatsimScheduler
from procset import ProcSet
from sortedcontainers import SortedSet


class SimpleEasy(BatsimScheduler):
    def onSimulationBegins(self):
        self.queue = []
        self.running = SortedSet(key=lambda job: (job.expected_end, job.id))
        self.free = ProcSet((0, self.bs.nb_compute_resources - 1))

    def onJobSubmission(self, job):
        if job.requested_resources > self.bs.nb_compute_resources or job.requested_time <= 0:
            self.bs.reject_jobs([job])
        else:
            self.queue.append(job)

    def onJobCompletion(self, job):
        self.running.remove(job)
        self.free |= job.allocation

    def onNoMoreEvents(self):
        while self.queue and self.fits(self.queue[0]):
            self.launch(self.queue.pop(0))
        if self.queue:
            self.backfill()

    def fits(self, job):
        return job.requested_resources <= len(self.free)

    def backfill(self):
        head, available, shadow = self.queue[0], len(self.free), None
        for job in self.running:
            available += job.requested_resources
            if available >= head.requested_resources:
                shadow, extra = job.expected_end, available - head.requested_resources
                break
        for job in self.queue[1:]:
            if not self.fits(job):
                continue
            if self.bs.time() + job.requested_time <= shadow:
                self.queue.remove(job)
                self.launch(job)
            elif job.requested_resources <= extra:
                extra -= job.requested_resources
                self.queue.remove(job)
                self.launch(job)

    def launch(self, job):
        job.allocation = ProcSet(*islice(self.free, job.requested_resources))
        job.expected_end = self.bs.time() + job.requested_time
        self.free -= job.allocation
        self.running.add(job)
        self.bs.execute_jobs([job])
