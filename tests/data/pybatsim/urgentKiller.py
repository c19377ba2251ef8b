"""Kills the last job for a smaller one, and runs it again later: kill_jobs, onJobsKilled, resubmit_job."""

from itertools import islice

from batsim.batsim import BatsimScheduler
from procset import ProcSet


class UrgentKiller(BatsimScheduler):
    def onSimulationBegins(self):
        self.queue, self.running, self.killing = [], [], []
        self.free = ProcSet((0, self.bs.nb_compute_resources - 1))
        self.finished = False

    def onJobSubmission(self, job):
        self.queue.append(job)
        self.queue.sort(key=lambda one: one.requested_resources)

    def onJobCompletion(self, job):
        self.free |= job.allocation
        self.running.remove(job)

    def onJobsKilled(self, jobs):
        for job in jobs:
            assert job.progress is not None
            self.killing.remove(job)
            self.bs.resubmit_job(job)

    def onNoMoreEvents(self):
        while self.queue and self.queue[0].requested_resources <= len(self.free):
            job = self.queue.pop(0)
            job.allocation = ProcSet(*islice(self.free, job.requested_resources))
            self.free -= job.allocation
            self.running.append(job)
            self.bs.execute_jobs([job])
        if self.queue and self.running and not self.killing:
            last = self.running[-1]
            if last.requested_resources > self.queue[0].requested_resources and "#2" not in last.id:
                self.killing.append(last)
                self.bs.kill_jobs([last])
        over = self.bs.nb_jobs_completed == self.bs.nb_jobs_submitted and not self.bs.nb_jobs_in_submission
        if self.bs.no_more_static_jobs and over and not self.finished:
            self.finished = True
            self.bs.notify_registration_finished()
