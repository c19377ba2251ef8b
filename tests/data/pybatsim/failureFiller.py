"""Fills the hosts that have not failed: events of machines, generic events, the end of events."""

from itertools import islice

from batsim.batsim import BatsimScheduler
from procset import ProcSet


class FailureFiller(BatsimScheduler):
    def onSimulationBegins(self):
        self.queue = []
        self.busy = ProcSet()
        self.failed = ProcSet()
        self.every = ProcSet((0, self.bs.nb_compute_resources - 1))
        self.texts = []

    def onJobSubmission(self, job):
        self.queue.append(job)

    def onJobCompletion(self, job):
        self.busy -= job.allocation

    def onNotifyEventMachineUnavailable(self, machines):
        self.failed |= machines

    def onNotifyEventMachineAvailable(self, machines):
        self.failed -= machines

    def onNotifyGenericEvent(self, event_data):
        self.texts.append(event_data["type"])

    def onNoMoreExternalEvents(self):
        hosts = len(self.every) - len(self.failed)
        lost = [job for job in self.queue if job.requested_resources > hosts]
        if lost:
            self.bs.reject_jobs(lost)
            self.queue = [job for job in self.queue if job not in lost]

    def onNoMoreEvents(self):
        for job in list(self.queue):
            free = self.every - self.failed - self.busy
            if job.requested_resources <= len(free):
                self.queue.remove(job)
                job.allocation = ProcSet(*islice(free, job.requested_resources))
                self.busy |= job.allocation
                self.bs.execute_jobs([job])
