"""Switches idle hosts off, and on for the first job: set_resource_state, onMachinePStateChanged, energy, calls."""

from itertools import islice

from batsim.batsim import BatsimScheduler
from procset import ProcSet


class IdleSleeper(BatsimScheduler):
    def __init__(self, options):
        super().__init__(options)
        self.period = options.get("period", 60)
        self.joules = []

    def onSimulationBegins(self):
        self.queue = []
        every = ProcSet((0, self.bs.nb_compute_resources - 1))
        self.free, self.asleep, self.switching = every, ProcSet(), ProcSet()
        self.bs.wake_me_up_at(self.period)

    def onRequestedCall(self):
        self.bs.request_consumed_energy()
        if not self.bs.no_more_static_jobs or self.bs.nb_jobs_completed < self.bs.nb_jobs_submitted:
            self.bs.wake_me_up_at(self.bs.time() + self.period)

    def onReportEnergyConsumed(self, consumed_energy):
        self.joules.append(consumed_energy)

    def onNoMoreJobsInWorkloads(self):
        self.static_jobs_over = True

    def onJobSubmission(self, job):
        self.queue.append(job)

    def onJobCompletion(self, job):
        self.free |= job.allocation

    def onMachinePStateChanged(self, nodes, pstate):
        hosts = ProcSet(nodes)
        self.switching -= hosts
        if int(pstate) == int(self.options["asleep"]):
            self.asleep |= hosts
        else:
            self.free |= hosts

    def onNoMoreEvents(self):
        while self.queue and self.queue[0].requested_resources <= len(self.free):
            job = self.queue.pop(0)
            job.allocation = ProcSet(*islice(self.free, job.requested_resources))
            self.free -= job.allocation
            self.bs.execute_jobs([job])
        if self.queue:
            lacking = self.queue[0].requested_resources - len(self.free) - len(self.switching)
            self.switch(ProcSet(*islice(self.asleep, max(0, lacking))), self.options["awake"])
        elif len(self.free) > 1:
            self.switch(ProcSet(*list(self.free)[1:]), self.options["asleep"])

    def switch(self, hosts, pstate):
        if len(hosts):
            self.free -= hosts
            self.asleep -= hosts
            self.switching |= hosts
            self.bs.set_resource_state(hosts, pstate)
