"""Runs each job as jobs of one host, which it registers: register_profiles, register_job, metadata."""

from batsim.batsim import BatsimScheduler, Job
from procset import ProcSet


class JobSplitter(BatsimScheduler):
    def onSimulationBegins(self):
        assert self.bs.dynamic_job_registration_enabled
        self.queue, self.parts = [], 0
        self.free = ProcSet((0, self.bs.nb_compute_resources - 1))
        self.finished = False
        self.bs.register_profiles("parts", {"short": {"type": "delay", "delay": 7}})

    def onJobSubmission(self, job):
        if job.workload == "parts":
            assert job.metadata["parent"]
            assert job.profile_dict == {"type": "delay", "delay": 7}
            self.queue.append(job)
            return
        self.bs.reject_jobs([job])
        for part in range(job.requested_resources):
            self.parts += 1
            mine = self.bs.register_job(f"parts!{self.parts}", 1, 30, "short")
            assert mine.job_state == Job.State.IN_SUBMISSON
            self.bs.set_job_metadata(mine.id, {"parent": job.id, "part": part})
            if not self.bs.ack_of_dynamic_jobs:
                self.queue.append(mine)

    def onJobCompletion(self, job):
        assert job.job_state == Job.State.COMPLETED_SUCCESSFULLY
        self.free |= job.allocation

    def onNoMoreEvents(self):
        while self.queue and len(self.free):
            job = self.queue.pop(0)
            job.allocation = ProcSet(self.free[0])
            self.free -= job.allocation
            self.bs.execute_jobs([job])
        if self.bs.no_more_static_jobs and not self.finished:
            self.finished = True
            self.bs.notify_registration_finished()
