"""Public data whose columns are known: each preset has the names that its tables have, and their meaning."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.named import by_name
from batsched_py.text.display import shown
from batsched_py.text.wording import unknown
from batsched_py.traces.table_columns import DELIMITERS, TableColumns, column_names, read_columns

# Units and names are those that the publishers document, in the sources that the descriptions name. Columns whose unit
# they do not state, such as memory in PM100, are not read.


class TablePreset(Struct, frozen=True):
    """The columns of public data.

    Attributes:
        description: the data, and where their columns are described.
        columns: their meaning.
    """

    description: str
    columns: TableColumns

    @property
    def name(self) -> str:
        """Its name in options."""
        return self.columns.preset


def _preset(name: str, description: str, columns: str, header: str = "", **others: Any) -> TablePreset:
    """Return a preset; `others` are attributes of its columns."""
    plain = TableColumns(read_columns([columns]), preset=name, header=tuple(header.split()))
    return TablePreset(description, replace(plain, **others))


_NO_SUBMISSIONS: Final = "the data have no submission times: tasks are submitted when they started"
#: Alibaba calls a task that was successful "Terminated".
_ALIBABA_ENDS: Final = {"terminated": 1}
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
        "jobs of NREL's Eagle (OEDI 5860), in nodes",
        "id=job_id,submit=submit_time,start=start_time,end=end_time,request=wallclock_req,run=run_time,size=nodes_req,"
        "user=user,account=account,partition=partition,qos=qos,state=state",
    ),
    _preset(
        "kestrel",
        "jobs of NREL's Kestrel (OEDI 8643; columns as two programs that read it name them), in nodes",
        "id=id,submit=submit_time,start=start_time,end=end_time,request=wallclock_req,run=wallclock_used,"
        "size=nodes_req,used=nodes_used,user=user_hash,account=account_hash,partition=partition,qos=qos,"
        "state=state_simple",
    ),
    _preset(
        "pm100",
        "jobs of CINECA's Marconi100 (PM100, documentation/job_features.md of its repository), in nodes",
        "id=job_id,submit=submit_time,start=start_time,end=end_time,run=run_time,request=time_limit:min,"
        "size=num_nodes_req,used=num_nodes_alloc,gpus=num_gpus_req:total,user=user_id,group=group_id,"
        "partition=partition,qos=qos,state=job_state",
    ),
    _preset(
        "f-data",
        "jobs of RIKEN's Fugaku (F-DATA, docs/feature_list.md of its repository), in nodes",
        "id=jid,submit=adt,start=sdt,end=edt,run=duration,size=nnumr,used=nnuma,state=exit state,user=usr",
        ignored=("requested times (elpl) are not read: their unit is not documented",),
    ),
    _preset(
        "helios",
        "jobs of SenseTime's clusters of GPUs (HeliosData, cluster_log.csv), in nodes",
        "id=job_id,submit=submit_time,start=start_time,end=end_time,run=duration,size=node_num,gpus=gpu_num:total,"
        "cores=cpu_num:total,user=user,queue=vc,state=state",
    ),
    _preset(
        "alibaba-gpu-2023",
        "pods of Alibaba's GPU cluster (clusterdata, cluster-trace-gpu-v2023, openb_pod_list), in GPUs",
        "id=name,submit=creation_time,start=scheduled_time,end=deletion_time,size=num_gpu,qos=qos",
    ),
    _preset(
        "alibaba-gpu-2020",
        "tasks of Alibaba's PAI (clusterdata, cluster-trace-gpu-v2020, pai_task_table), in instances",
        "id=task_name,submit=start_time,start=start_time,end=end_time,size=inst_num,cores=plan_cpu:percent,"
        "memory=plan_mem:GiB,gpus=plan_gpu:percent,state=status",
        header="job_name task_name inst_num status start_time end_time plan_cpu plan_mem plan_gpu gpu_type",
        parent="job_name",
        states=_ALIBABA_ENDS,
        assumed=(_NO_SUBMISSIONS,),
    ),
    _preset(
        "alibaba-2018",
        "batch tasks of Alibaba (clusterdata, cluster-trace-v2018, batch_task), in instances",
        "id=task_name,submit=start_time,start=start_time,end=end_time,size=inst_num,cores=plan_cpu:percent,"
        "state=status",
        header="task_name inst_num job_name task_type status start_time end_time plan_cpu plan_mem",
        parent="job_name",
        states=_ALIBABA_ENDS,
        zero_is_unknown=True,
        assumed=(_NO_SUBMISSIONS,),
        ignored=("dependencies in the names of tasks, like M2_1, are not obeyed",),
    ),
)

#: Name -> preset.
PRESETS: Final[Mapping[str, TablePreset]] = by_name("_PRESETS", _PRESETS)


def preset_of(header: str) -> TableColumns | None:
    """Return the columns of the preset whose names are all in the first line of a table; None for other tables."""
    return next(filter(None, (preset_of_names(column_names(header, one)) for one in DELIMITERS)), None)


def preset_of_names(names: Collection[str]) -> TableColumns | None:
    """Return the columns of the first preset whose names are all among these; None if there is none."""
    known = set(names)
    return next((preset.columns for preset in _PRESETS if preset.columns.names <= known), None)


def chosen_columns(texts: Iterable[str]) -> TableColumns | None:
    """Return the columns that options say, each like "submit=QUEUED,size=NODES"; None without an option.

    The name of a preset may come first: "eagle,size=nodes_used" is the preset with another column for a quantity.
    ValueError names the rule.
    """
    preset: TableColumns | None = None
    others = list[str]()
    for text in texts:
        name, comma, rest = text.partition(",")
        if "=" in name:
            others.append(text)
            continue
        if name not in PRESETS:
            raise ValueError(f"{shown(name)} is {unknown(name, PRESETS)}; or write QUANTITY=COLUMN")
        if preset is not None:
            raise ValueError(f"{shown(preset.preset)} and {shown(name)} are two presets")
        preset = PRESETS[name].columns
        others += [rest] if comma else []
    columns = read_columns(others)
    if preset is None:
        return TableColumns(columns) if columns else None
    return replace(preset, columns={**preset.columns, **columns})
