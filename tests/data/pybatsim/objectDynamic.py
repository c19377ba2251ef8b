"""Rejects large jobs and submits a small one for each, without the helpers: jobs, resources, dynamic workloads."""

from batsim.sched import Profiles, Scheduler


class ObjectDynamic(Scheduler):
    def on_init(self):
        self.finished = False
        self.replaced = 0

    def on_job_submission(self, job):
        if job.requested_resources > 16 and not job.is_dynamic_job:
            job.reject("it is too large")
            self.replaced += 1
            self.register_dynamic_job(res=2, walltime=100, profile=Profiles.Delay(40 + self.replaced % 2))

    def schedule(self):
        for job in self.jobs.runnable:
            hosts = self.resources.compute.find_sufficient_resources_for_job(job)
            if hosts:
                job.schedule(hosts)
                assert job.running and len(self.resources.free) <= len(self.resources.compute)
        over = self._batsim.no_more_static_jobs and not self._batsim.nb_jobs_in_submission
        if over and not self.finished:
            self.finished = True
            self.notify_registration_finished()
