"""Public data whose columns are known: each preset has the names that its tables have, and their meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from batsched_py.named import by_name
from batsched_py.traces.table_columns import DELIMITERS, TableColumns, column_names, read_columns


class TablePreset(Struct, frozen=True):
    """The columns of public data.

    Attributes:
        name: name in options.
        description: the data, and where their columns are described.
        columns: their meaning.
    """

    name: str
    description: str
    columns: TableColumns

    @property
    def names(self) -> frozenset[str]:
        """The names of the columns that are read."""
        return frozenset(column.name for column in self.columns.columns.values())


def _preset(name: str, description: str, columns: str, zone: str = "UTC") -> TablePreset:
    return TablePreset(name, description, TableColumns(read_columns([columns]), zone, name))


_PRESETS: Final = (
    _preset(
        "alcf",
        "jobs of Argonne's machines (ALCF Public Data, DIM_JOB_COMPOSITE), in nodes",
        "id=COBALT_JOBID,submit=QUEUED_TIMESTAMP,start=START_TIMESTAMP,end=END_TIMESTAMP,request=WALLTIME_SECONDS,"
        "run=RUNTIME_SECONDS,size=NODES_REQUESTED,used=NODES_USED,user=USERNAME_GENID,account=PROJECT_NAME_GENID,"
        "queue=QUEUE_NAME",
    ),
    _preset(
        "eagle",
        "jobs of NREL's Eagle, in nodes",
        "id=job_id,submit=submit_time,start=start_time,end=end_time,request=wallclock_req,run=run_time,size=nodes_req,"
        "user=user,account=account,partition=partition,qos=qos,state=state",
    ),
    _preset(
        "pm100",
        "jobs of CINECA's Marconi100 (PM100, documentation/job_features.md of its repository), in nodes",
        "id=job_id,submit=submit_time,start=start_time,end=end_time,run=run_time,request=time_limit:min,"
        "size=num_nodes_req,used=num_nodes_alloc,user=user_id,group=group_id,partition=partition,qos=qos,"
        "state=job_state",
    ),
    _preset(
        "alibaba-gpu-2023",
        "pods of Alibaba's GPU cluster (clusterdata, cluster-trace-gpu-v2023, openb_pod_list), in GPUs",
        "id=name,submit=creation_time,start=scheduled_time,end=deletion_time,size=num_gpu,qos=qos",
    ),
)

#: Name -> preset.
PRESETS: Final[Mapping[str, TablePreset]] = by_name("_PRESETS", _PRESETS)


def preset_of(header: str) -> TableColumns | None:
    """Return the columns of the preset whose names are all in the first line of a table; None for other tables."""
    for delimiter in DELIMITERS:
        names = set(column_names(header, delimiter))
        for preset in _PRESETS:
            if preset.names <= names:
                return preset.columns
    return None
