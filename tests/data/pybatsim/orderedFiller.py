from itertools import islice

from batsim.batsim import BatsimScheduler
from procset import ProcSet


class OrderedFiller(BatsimScheduler):
    def onSimulationBegins(self):
        self.waiting = []
        self.free = ProcSet((0, self.bs.nb_compute_resources - 1))
        self.delay = float(self.options.get("delay", 0.005))

    def start_what_fits(self):
        started = []
        for job in list(self.waiting):
            if job.requested_resources <= len(self.free):
                job.allocation = ProcSet(*islice(self.free, job.requested_resources))
                self.free -= job.allocation
                self.waiting.remove(job)
                started.append(job)
        self.bs.consume_time(self.delay)
        if started:
            self.bs.execute_jobs(started)

    def onJobSubmission(self, job):
        if job.requested_resources > self.bs.nb_compute_resources:
            self.bs.reject_jobs([job])
        else:
            self.waiting.append(job)
            self.start_what_fits()

    def onJobCompletion(self, job):
        self.free |= job.allocation
        self.start_what_fits()
