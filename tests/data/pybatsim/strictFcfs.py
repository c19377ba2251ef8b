"""First come, first served, on the lowest free hosts: hooks, ProcSet, reject_jobs, execute_jobs."""

from itertools import islice

from batsim.batsim import BatsimScheduler
from procset import ProcSet


class StrictFcfs(BatsimScheduler):
    def onAfterBatsimInit(self):
        self.ready = True

    def onSimulationBegins(self):
        self.queue = []
        self.free = ProcSet((0, self.bs.nb_compute_resources - 1))

    def onJobSubmission(self, job):
        if job.requested_resources > self.bs.nb_compute_resources:
            self.bs.reject_jobs_by_id([job.id])
        else:
            self.queue.append(job)

    def onJobCompletion(self, job):
        self.free |= job.allocation

    def onNoMoreEvents(self):
        while self.queue and self.queue[0].requested_resources <= len(self.free):
            job = self.queue.pop(0)
            job.allocation = ProcSet(*islice(self.free, job.requested_resources))
            self.free -= job.allocation
            self.bs.execute_jobs([job])
