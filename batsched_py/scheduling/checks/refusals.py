"""Why a job cannot be started, or a host switched: the rules, in words, that verbs of the Plan would break."""

from __future__ import annotations

from collections.abc import Mapping

from batsched_py.hostset import HostSet, format_bits
from batsched_py.model.job import Job
from batsched_py.state.hosts import Hosts
from batsched_py.state.state import State


def not_waiting(state: State, job_id: str) -> str:
    """What became of a job that is not in the queue."""
    if job_id in state.running:
        return f"it runs already, on {state.running[job_id].hosts}"
    if job_id in state.control:
        return "it was set to RUNNING, in Batsim's books only"
    if job_id in state.registered:
        return "it was registered, and Batsim has not submitted it yet"
    return "it has ended" if job_id in state.known else "no such job was submitted"


def not_usable(hosts: Hosts, wrong: int) -> str:
    """Why the hosts of these bits can take no job; without any, that there must be one."""
    reasons = {
        "not in the platform": wrong & ~(hosts.all | hosts.stores),
        "unavailable": wrong & hosts.unavailable,
        "asleep": wrong & hosts.asleep,
        "switching": wrong & hosts.switching,
        "running a job": wrong & (hosts.busy | hosts.stores),
    }
    said = [f"{format_bits(bits)} {reason}" for reason, bits in reasons.items() if bits]
    return ", ".join(said) or "it needs at least one host"


def mapping_fault(job: Job, hosts: HostSet, mapping: Mapping[int, int]) -> str | None:
    """The rule that a mapping of the job's executors to positions among its hosts breaks, or None."""
    if len(mapping) != job.size or sorted(mapping) != list(range(job.size)):
        return f"the mapping must place executors 0 to {job.size - 1}"
    if any(type(position) is not int or not 0 <= position < len(hosts) for position in mapping.values()):
        return f"the mapping must name positions 0 to {len(hosts) - 1}"
    return None


def switch_fault(hosts: Hosts, chosen: HostSet, pstate: int) -> str | None:
    """The rule that a switch of these hosts to a pstate breaks, or None."""
    if not chosen.bits or chosen.bits & ~hosts.all:
        return "these are not hosts of the platform"
    if chosen.bits & hosts.switching:
        return f"{format_bits(chosen.bits & hosts.switching)} is switching"
    described = [hosts.by_id[number] for number in chosen]
    for host in described:
        if not 0 <= pstate < host.pstate_count:
            known = f"has pstates 0 to {host.pstate_count - 1}" if host.pstate_count else "describes no power states"
            return f"host {host.id} {known}"
        if str(pstate) in host.transition_pstates:
            return f"for host {host.id} this pstate only models switching off or on"
    sleeps = any(str(pstate) in host.sleep_pstates for host in described)
    if sleeps and chosen.bits & hosts.busy:
        return f"{format_bits(chosen.bits & hosts.busy)} runs a job"
    if sleeps and chosen.bits & hosts.asleep:
        return f"{format_bits(chosen.bits & hosts.asleep)} sleeps already"
    return None
