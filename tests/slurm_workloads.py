"""Recorded cases of a real Slurm as files for `simulate`: a platform, a workload, a configuration and accounts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from batsched_py.slurm.conf_reader import read_configuration
from batsched_py.slurm.configuration import GresCount, SlurmConfiguration, SlurmNode
from batsched_py.slurm.submission import BatchRequest, read_request


def write_case(case: Mapping[str, Any], folder: Path) -> list[str]:
    """Write the files of a case into a folder; return the options of `simulate`, which runs there."""
    configuration = read_configuration(case["files"])
    (folder / "platform.xml").write_text(_platform(configuration))
    jobs = [one for job in case["jobs"] for one in _jobs(job, configuration)]
    profiles = {
        f"{job['run_s']}-{job.get('exit_code') or 0}": {
            "type": "delay",
            "delay": job["run_s"],
            "ret": job.get("exit_code") or 0,
        }
        for job in case["jobs"]
    }
    workload = {"nb_res": len(configuration.nodes), "jobs": jobs, "profiles": profiles}
    (folder / "workload.json").write_text(json.dumps(workload))
    (folder / "slurm.conf").write_text(case["files"]["slurm.conf"])
    arguments = ["-p", "platform.xml", "-w", "workload.json", "-s", "slurm"]
    arguments += ["-o", "conf=slurm.conf"]
    if "topology.conf" in case["files"] and case["files"]["topology.conf"]:
        (folder / "topology.conf").write_text(case["files"]["topology.conf"])
        arguments += ["-o", "topology=topology.conf"]
    if case["sacctmgr"]:
        (folder / "accounts").write_text("".join(f"sacctmgr -i {line}\n" for line in case["sacctmgr"]))
        arguments += ["-o", "dump=accounts"]
    if case.get("actions"):
        lines = [f"{one['t']} {one['command']}\n" for one in case["actions"]]
        (folder / "commands").write_text("".join(sorted(lines, key=lambda line: float(line.split()[0]))))
        arguments += ["-o", "commands=commands"]
    return [*arguments, "-o", "strangers=refuse"]


def _platform(configuration: SlurmConfiguration) -> str:
    licences = " ".join(f"{name}:{count}" for name, count in configuration.licences)
    zone = f'<prop id="licences" value="{licences}"/>' if licences else ""
    hosts = "".join(_host(node) for node in configuration.nodes)
    return (
        '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        f'<platform version="4.1"><zone id="cluster" routing="Full">{zone}<host id="master_host" speed="1Gf"/>'
        f"{hosts}</zone></platform>\n"
    )


def _host(node: SlurmNode) -> str:
    gpus = sum(one.count for one in node.gres if one.name == "gpu")
    properties = {"cpu": 100 * node.cpus, "mem": node.memory, **({"gpus": gpus} if gpus else {})}
    inner = "".join(f'<prop id="{name}" value="{value}"/>' for name, value in properties.items())
    return f'<host id="{node.name}" speed="1Gf">{inner}</host>'


def _jobs(job: Mapping[str, Any], configuration: SlurmConfiguration) -> list[dict[str, Any]]:
    arguments = [re.sub(r"\{(\w+)\}", r"\1", word) for word in job["sbatch"]]
    request = read_request(arguments, job["user"])
    made: dict[str, Any] = {
        "id": job["name"],
        "subtime": job["submit_s"],
        "profile": f"{job['run_s']}-{job.get('exit_code') or 0}",
        "user": request.user,
    }
    slurm: dict[str, Any] = {
        "partition": ",".join(request.partitions),
        "gres": ",".join(_gres(one) for one in request.gres),
        "licences": dict(request.licences),
        "begin": None if request.begin is None else f"+{request.begin}",
        "deadline": None if request.deadline is None else f"+{request.deadline}",
        "time_limit": None if request.time_limit is None else 60 * request.time_limit,
        "time_min": None if request.time_min is None else 60 * request.time_min,
        "mem": request.mem_per_node,
        "kill_on_invalid_dep": request.kill_on_invalid_dependency,
        "job_name": job["name"] if "singleton" in request.dependency else None,
        "ntasks_per_node": request.tasks_per_node,
        "nice": request.nice or None,
        "hold": request.hold or None,
        "hint": "nomultithread" if request.whole_cores else None,
        "requeue": None if request.requeue else False,
        **{
            name: getattr(request, name)
            for name in (
                "account",
                "qos",
                "constraint",
                "dependency",
                "reservation",
                "exclusive",
                "switches",
                "switches_wait",
                "gpus",
                "mem_per_cpu",
            )
        },
    }
    slurm |= _sizes(request, configuration, made)
    made["slurm"] = {name: value for name, value in slurm.items() if value not in (None, "", {})}
    if not request.array:
        return [made]
    array = {"id": job["name"], **({"limit": request.array_limit} if request.array_limit else {})}
    return [
        {**made, "id": f"{job['name']}_{task}", "array": array, "slurm": {**made["slurm"], "array_task": task}}
        for task in request.array
    ]


def _sizes(request: BatchRequest, configuration: SlurmConfiguration, made: dict[str, Any]) -> dict[str, Any]:
    """Set the size of a job, and its demand if it has parts of nodes; return the options of sbatch that remain."""
    least, most, each = request.min_nodes, request.max_nodes, request.tasks_per_node
    if (configuration.linear or request.exclusive == "node") and least is not None and least == most:
        made["res"] = least
        return {"ntasks": request.tasks, "cpus_per_task": request.cpus_per_task, "exclusive": None}
    nodes = least or (-(-request.tasks // each) if request.tasks and each else 1)
    made["res"] = request.tasks or nodes * (each or 1)
    made["demand"] = {"cores": request.cpus_per_task}
    if request.gpus_per_task:
        made["demand"]["gpus"] = request.gpus_per_task
    return {"nodes": None if least is None else f"{least}-{most}"}


def _gres(one: GresCount) -> str:
    return f"{one.name}:{one.type}:{one.count}" if one.type else f"{one.name}:{one.count}"
