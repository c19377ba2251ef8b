"""Backfills the shortest jobs first, as a class of the object layer."""

from batsim.sched import Scheduler
from batsim.sched.algorithms.backfilling import backfilling_sched


class ObjectEasy(Scheduler):
    def on_init(self):
        self.ended = []

    def on_job_completion(self, job):
        assert job.completed and not job.running
        self.ended.append(job)

    def schedule(self):
        assert len(self.jobs.open) >= len(self.jobs.runnable)
        depth = self.options.get("depth", 1)
        backfilling_sched(self, reservation_depth=depth, backfilling_sort=lambda job: job.requested_time)
