"""Invented files in the published schemas of public data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any, Final

import pyarrow
from pyarrow import parquet

DAY: Final = datetime(2021, 4, 1, tzinfo=UTC)


def in_parquet(columns: Mapping[str, Sequence[Any] | pyarrow.Array], rows: int = 2) -> bytes:
    """A file in Parquet, with so many rows in each group."""
    made = BytesIO()
    parquet.write_table(pyarrow.table(dict(columns)), made, row_group_size=rows)
    return made.getvalue()


def _minutes(*after: float) -> list[datetime]:
    return [DAY + timedelta(minutes=one) for one in after]


def _naive(*after: float) -> list[datetime]:
    return [one.replace(tzinfo=None) for one in _minutes(*after)]


def _durations(*hours: float) -> pyarrow.Array:
    return pyarrow.array([timedelta(hours=one) for one in hours], pyarrow.duration("ns"))


def pm100() -> bytes:
    """Two jobs that ended, and one that waits."""
    return in_parquet({
        "job_id": [11, 12, 13],
        "user_id": [5, 5, 6],
        "group_id": [7, 7, 7],
        "submit_time": _minutes(0, 10, 20),
        "start_time": _minutes(10, 10, 20),
        "end_time": _minutes(60, 70, 20),
        "run_time": [3000, 3600, 0],
        "time_limit": [60, 60, 60],
        "num_nodes_req": [2, 1, 1],
        "num_nodes_alloc": [2, 1, 0],
        "num_gpus_req": [8, 1, 4],
        "partition": ["1", "1", "1"],
        "qos": ["0", "0", "0"],
        "job_state": ["COMPLETED", "TIMEOUT", "PENDING"],
        "power_consumption": [[1.0, 2.0], [], []],
    })  # fmt: skip


def f_data() -> bytes:
    """Dates as texts, an end state, and a column of vectors."""
    return in_parquet({
        "jid": ["jid_0", "jid_1", "jid_2"],
        "usr": ["usr_0", "usr_0", "usr_1"],
        "adt": ["2021-04-01 00:00:00", "2021-04-01 00:01:00", "2021-04-01 00:02:00"],
        "sdt": ["2021-04-01 00:10:00", "2021-04-01 00:01:00", "2021-04-01 00:03:00"],
        "edt": ["2021-04-01 01:10:00", "2021-04-01 00:02:00", "2021-04-01 00:04:00"],
        "duration": [3600.0, 60.5, 60.0],
        "nnumr": [384, 1, 2],
        "nnuma": [384, 1, 2],
        "elpl": [7200.0, 600.0, 600.0],
        "exit state": ["completed", "failed", "completed"],
        "embedding": [[0.5], [0.25], [0.125]],
    })  # fmt: skip


def kestrel() -> bytes:
    """Times with an offset, and durations as Arrow has them."""
    return in_parquet({
        "id": ["1", "2_1"],
        "user_hash": ["u1", "u2"],
        "account_hash": ["a1", "a1"],
        "partition": ["short", "gpu-h100"],
        "qos": ["normal", "high"],
        "state_simple": ["TIMEOUT", "CANCELLED"],
        "submit_time": pyarrow.array(_minutes(0, 5), pyarrow.timestamp("ns", "-07:00")),
        "start_time": pyarrow.array([_minutes(1)[0], None], pyarrow.timestamp("ns", "-07:00")),
        "end_time": pyarrow.array(_minutes(61, 6), pyarrow.timestamp("ns", "-07:00")),
        "wallclock_req": _durations(1, 2),
        "wallclock_used": pyarrow.array([timedelta(hours=1), None], pyarrow.duration("ns")),
        "nodes_req": [2, 1],
        "nodes_used": [2, 0],
        "gpus_requested": [0, 4],
    })  # fmt: skip


def eagle() -> bytes:
    """Dates without an offset, and seconds; a job without a run has none."""
    return in_parquet({
        "job_id": [1, 2, 3],
        "user": ["user0001", "user0001", "user0002"],
        "account": ["account0001", "account0001", "account0002"],
        "partition": ["gpu", "gpu", "standard"],
        "qos": ["normal", "normal", "high"],
        "state": ["TIMEOUT", "CANCELLED", "RUNNING"],
        "submit_time": _naive(0, 1, 2),
        "start_time": [*_naive(10), None, *_naive(3)],
        "end_time": [*_naive(20), *_naive(5), None],
        "wallclock_req": [600.0, 300.0, 600.0],
        "run_time": [600.0, None, None],
        "processors_req": [72, 1, 4],
        "nodes_req": [2, 1, 1],
        "gpus_req": [4, 0, 0],
        "mem_req": [0.0, 0.0, 0.0],
    })  # fmt: skip


ALCF: Final = (
    "COBALT_JOBID,QUEUED_TIMESTAMP,START_TIMESTAMP,END_TIMESTAMP,USERNAME_GENID,PROJECT_NAME_GENID,QUEUE_NAME,"
    "WALLTIME_SECONDS,RUNTIME_SECONDS,NODES_USED,NODES_REQUESTED\n"
    "7,2019-01-01 00:00:08,2019-01-01 00:10:11,2019-01-01 01:10:12,12,34,default,7200.0,3601.0,128.0,128.0\n"
)
EAGLE_CSV: Final = (
    "job_id,user,account,partition,qos,wallclock_req,nodes_req,processors_req,submit_time,start_time,end_time,"
    "run_time,state\n"
    "7,u1,a1,standard,normal,02:00:00,2,72,2020-01-01 00:00:08,"
    "2020-01-01 00:10:11,2020-01-01 01:10:12,01:00:01,COMPLETED\n"
)
HELIOS: Final = (
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
    "1425511,uXBbc,vcJkd,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-10 04:55:09,36848,0\n"
    "1425512,uVMrF,vchbv,16,32,2,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:27,2020-06-09 18:45:36,249,0\n"
)
ALIBABA_GPU_2023: Final = (
    ",name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time\n0,openb-pod-0017,88000,327680,8,1000,,Burstable,Succeeded,9437497,10769854,9437497\n"
)
#: Without a line of names, as published.
ALIBABA_GPU_2020: Final = (
    "4f057009a5d481acec67b088,tensorflow,1.0,Terminated,1739162.0,1739200.0,600.0,29.296875,50.0,MISC\n"
    "4f057009a5d481acec67b089,worker,2.0,Failed,1739163.0,1739263.0,400.0,16.0,200.0,V100\n"
    "4f057009a5d481acec67b089,ps,1.0,Waiting,,,400.0,16.0,,MISC\n"
)
#: The third task began before the period; the last one has not ended.
ALIBABA_2018: Final = (
    "M1,4,j_1,1,Terminated,86400,86460,100,0.59\n"
    "R2_1,1,j_1,1,Terminated,86460,86470,50,0.3\n"
    "M1,1,j_2,1,Terminated,0,86470,100,0.3\n"
    "task_Nzg3,1,j_3,2,Running,86480,0,100,0.3\n"
)
WORKFLOW: Final = (
    '{"schemaVersion": "1.5", "workflow": {"specification": {"tasks": [{"id": "a", "name": "a"}]}, '
    '"execution": {"tasks": [{"id": "a", "runtimeInSeconds": 3}], "machines": [{"cpu": {"coreCount": 4}}]}}}'
)
SWF: Final = "; MaxProcs: 8\n1 0 5 100 4 -1 -1 4 200 -1 1 3 1 -1 1 -1 -1 -1\n"
FRONTIER: Final = SWF.replace("-1 -1 -1\n", "-1 -1 -1 8 100 frontier:excl:1x112\n")
#: A job that ran twice, one that was killed in the queue, one that still runs, and one with several servers.
PHILLY: Final[list[dict[str, Any]]] = [
    {
        "status": "Pass",
        "vc": "ee9e8c",
        "jobid": "application_1506638472019_14199",
        "attempts": [
            {
                "start_time": "2017-10-07 01:12:09",
                "end_time": "2017-10-07 01:13:23",
                "detail": [{"ip": "m47", "gpus": ["gpu0", "gpu1"]}],
            },
            {
                "start_time": "2017-10-07 01:13:30",
                "end_time": "2017-10-09 06:53:12",
                "detail": [{"ip": "m412", "gpus": ["gpu0", "gpu1", "gpu2"]}],
            },
        ],
        "submitted_time": "2017-10-07 01:11:39",
        "user": "ce2f4c",
    },
    {
        "status": "Killed",
        "vc": "ee9e8c",
        "jobid": "a2",
        "attempts": [],
        "submitted_time": "2017-10-07 02:11:39",
        "user": "c",
    },
    {
        "status": "Killed",
        "vc": "e13805",
        "jobid": "a3",
        "attempts": [{"start_time": "2017-10-07 03:00:00", "end_time": None, "detail": []}],
        "submitted_time": "2017-10-07 02:30:00",
        "user": "c",
    },
    {
        "status": "Failed",
        "vc": "e13805",
        "jobid": "a4",
        "attempts": [
            {
                "start_time": "2017-10-07 03:00:00",
                "end_time": "2017-10-07 03:10:00",
                "detail": [{"ip": "m1", "gpus": ["gpu0"]}, {"ip": "m2", "gpus": ["gpu0", "gpu7"]}],
            }
        ],
        "submitted_time": "2017-10-07 02:50:00",
        "user": "c",
    },
]


def _event(time: int, kind: object, collection: int, index: int = 0, **others: Any) -> dict[str, Any]:
    named = {"time": str(time), "type": kind, "collection_id": str(collection), "instance_index": index}
    return {**named, "priority": 200, **others}


#: A task that was evicted and run again, one that began before the trace, one of a reservation, one that still runs.
GOOGLE: Final[list[dict[str, Any]]] = [
    _event(600_000_000, "0", 7),
    _event(605_000_000, "3", 7, machine_id="9"),
    _event(0, "3", 8),
    _event(700_000_000, "4", 7),
    _event(701_000_000, "0", 7),
    _event(650_000_000, 0, 7, 1),
    _event(650_000_000, 0, 5, collection_type=1),
    _event(710_000_000, "3", 7),
    _event(810_500_000, "FINISH", 7),
    _event(660_000_000, 3, 7, 1, resource_request={"cpus": 0.1, "memory": 0.2}),
    _event(900_000_000, 6, 8),
]
#: Name of data in `datasets` -> a file; other data are logs like SWF.
SAMPLES: Final[Mapping[str, bytes]] = {
    "alcf": ALCF.encode(),
    "eagle": EAGLE_CSV.encode(),
    "kestrel": kestrel(),
    "pm100": pm100(),
    "f-data": f_data(),
    "frontier": FRONTIER.encode(),
    "helios": HELIOS.encode(),
    "alibaba-gpu-2020": ALIBABA_GPU_2020.encode(),
    "alibaba-gpu-2023": ALIBABA_GPU_2023.encode(),
    "alibaba-2018": ALIBABA_2018.encode(),
    "philly": json.dumps(PHILLY, indent=4).encode(),
    "google-2019": b"".join(json.dumps(one).encode() + b"\n" for one in GOOGLE),
    "wfinstances": WORKFLOW.encode(),
}
