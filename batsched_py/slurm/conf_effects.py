"""Parameters of slurm.conf that do not decide anything here: without effect, with another effect, or at one value only.

The reasons are those that `batsched-py slurm check` shows. Source: slurm.conf(5).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def _grouped(groups: Mapping[str, str]) -> Mapping[str, str]:
    return {name.lower(): reason for reason, names in groups.items() for name in names.split()}


#: Parameters without effect on decisions -> the reason.
IGNORED: Final = _grouped(
    {
        "name and address of machines": """
            ClusterName SlurmctldHost ControlMachine ControlAddr BackupController BackupAddr SlurmctldAddr
            SlurmctldPort SlurmdPort SrunPortRange CommunicationParameters AuthAltTypes AuthAltParameters
            AccountingStorageHost AccountingStorageBackupHost AccountingStorageExternalHost AccountingStoragePort
            AccountingStoragePass AccountingStorageUser AccountingStorageParameters AccountingStorageLoc TreeWidth""",
        "users, credentials and permissions of the programs": """
            SlurmUser SlurmdUser AuthType CredType CryptoType PrivateData MCSParameters MCSPlugin UsePAM
            GroupUpdateForce GroupUpdateTime JobCredentialPrivateKey JobCredentialPublicCertificate""",
        "files of the programs": """
            PluginDir PlugStackConfig StateSaveLocation SlurmdSpoolDir SlurmctldPidFile SlurmdPidFile TmpFS""",
        "logging": """
            SlurmctldLogFile SlurmdLogFile SlurmctldDebug SlurmdDebug SlurmctldSyslogDebug SlurmdSyslogDebug
            SlurmSchedLogFile SlurmSchedLogLevel DebugFlags LogTimeFormat""",
        "how processes of a job are launched and watched": """
            ProctrackType TaskPlugin TaskPluginParam MpiDefault MpiParams SwitchType SwitchParameters LaunchParameters
            LaunchType PropagatePrioProcess PropagateResourceLimits PropagateResourceLimitsExcept JobContainerType
            InteractiveStepOptions GetEnvTimeout EioTimeout BcastParameters BcastExclude KillOnBadExit
            UnkillableStepProgram UnkillableStepTimeout WaitTime SrunProlog SrunEpilog TaskProlog TaskEpilog
            JobFileAppend CpuFreqDef CpuFreqGovernors GpuFreqDef MaxStepCount MaxTasksPerNode VSizeFactor
            CoreSpecPlugin AllowSpecResourcesUsage ScronParameters CliFilterPlugins PrologFlags""",
        "measurements of jobs and nodes": """
            JobAcctGatherType JobAcctGatherFrequency JobAcctGatherParams AcctGatherNodeFreq AcctGatherEnergyType
            AcctGatherInterconnectType AcctGatherInfinibandType AcctGatherFilesystemType AcctGatherProfileType
            AccountingStorageTRES AccountingStoreFlags AccountingStoreJobComment ExtSensorsFreq ExtSensorsType
            TrackWCKey""",
        "time-outs of the programs, which always answer here": """
            SlurmctldTimeout SlurmdTimeout MessageTimeout TCPTimeout BatchStartTimeout InactiveLimit
            PrologEpilogTimeout MaxDBDMsgs""",
        "health of nodes, which events of the simulation set": """
            HealthCheckInterval HealthCheckNodeState HealthCheckProgram RebootProgram ReturnToService""",
        "numbers and records of jobs": """
            MinJobAge MaxJobCount MaxJobId FirstJobId MaxArraySize
            JobCompHost JobCompLoc JobCompParams JobCompPass JobCompPort JobCompType JobCompUser""",
        "mail to users": "MailProg MailDomain",
        "names of generic resources; nodes have the amounts": "GresTypes",
        "other programs of the site": """
            SlurmctldParameters SlurmdParameters SlurmctldPlugstack SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg
            ReconfigFlags PrEpParameters PrEpPlugins ResvProlog ResvEpilog NodeFeaturesPlugins TopologyParam
            RoutePlugin""",
    }
)

#: Parameters with an effect that is left out or replaced -> the rule that holds here.
APPROXIMATED: Final = _grouped(
    {
        "scripts take no time": "Prolog Epilog PrologSlurmctld EpilogSlurmctld EpilogMsgTime",
        "a job ends at once at its limit": "KillWait",
        "nodes are free as soon as a job ends": "CompleteWait",
        "nodes are always on": """
            SuspendProgram SuspendTime SuspendTimeout SuspendRate SuspendExcNodes SuspendExcParts ResumeProgram
            ResumeFailProgram ResumeTimeout ResumeRate PowerParameters PowerPlugin""",
        "jobs are as submitted: scripts of submission change none": "JobSubmitPlugins",
        "jobs that exit with these codes are not requeued": "RequeueExit RequeueExitHold",
    }
)

#: Unsupported parameters -> values with which nothing is lost, in small letters.
NEUTRAL: Final[Mapping[str, tuple[str, ...]]] = {
    "burstbuffertype": ("", "none", "burst_buffer/none"),
    "defcpupergpu": ("0",),
    "defmempergpu": ("0", "unlimited"),
    "dependencyparameters": ("", "disable_remote_singleton"),
    "disablerootjobs": ("no",),
    "fairsharedampeningfactor": ("1",),
    "federationparameters": ("",),
    "jobrequeue": ("1",),
    "maxnodecount": (),
    "priorityparameters": ("",),
    "prioritysitefactorplugin": ("", "none", "site_factor/none"),
    "prioritysitefactorparameters": ("",),
    "priorityusageresetperiod": ("none",),
    "resvoverrun": ("0",),
}

#: Parts of SchedulerParameters without effect -> the reason.
SCHEDULER_IGNORED: Final = _grouped(
    {
        "a pass takes no time": """
            bf_yield_interval bf_yield_sleep bf_yield_rpc_cnt bf_max_time max_rpc_cnt max_sched_time
            build_queue_timeout bf_node_space_size""",
        "clients of the controller wait for it, not jobs": """
            salloc_wait_nodes sbatch_wait_nodes step_retry_count step_retry_time no_env_cache default_gbytes""",
        "limits of submissions, which are accepted": "max_script_size max_array_tasks max_depend_depth",
        "commands of users": "enable_user_top disable_job_shrink disable_hetjob_steps enable_hetjob_steps",
        "cores are not numbered by sockets": "ignore_numa spec_cores_first",
    }
)
#: Parts of SchedulerParameters that are read and change nothing -> the rule that holds here.
SCHEDULER_APPROXIMATED: Final[Mapping[str, str]] = {
    "defer": "a submission starts nothing by itself, with or without it",
    "bf_busy_nodes": "reservations choose nodes as without it",
    "bf_continue": "a pass takes no time, so that nothing changes during one",
}

#: Parameters of a node without effect -> the reason.
NODE_IGNORED: Final = _grouped(
    {
        "name and address of a machine": "NodeHostname NodeAddr BcastAddr Port",
        "a remark": "Reason",
        "decisions do not depend on it": "TmpDisk CpuBind",
    }
)
#: Unsupported parameters of a node -> values with which nothing is lost, in small letters.
NODE_NEUTRAL: Final[Mapping[str, tuple[str, ...]]] = {
    "corespeccount": ("0",),
    "cpuspeclist": ("",),
    "memspeclimit": ("0",),
}

#: Parameters of a partition without effect -> the reason.
PARTITION_IGNORED: Final = _grouped({"display and permissions": "Hidden AllocNodes CpuBind RootOnly"})
#: Parameters of a partition with an effect that is left out -> the rule that holds here.
PARTITION_APPROXIMATED: Final = _grouped(
    {
        "jobs of all users, accounts and QOS may use the partition": """
            AllowGroups AllowAccounts AllowQos AllowUsers DenyGroups DenyAccounts DenyQos DenyUsers""",
        "usage counts processors": "TRESBillingWeights",
        "nodes are always on": "SuspendTime SuspendTimeout ResumeTimeout",
    }
)
#: Unsupported parameters of a partition -> values with which nothing is lost, in small letters.
PARTITION_NEUTRAL: Final[Mapping[str, tuple[str, ...]]] = {
    "alternate": ("none",),
    "defcpupergpu": ("0",),
    "defmempergpu": ("0", "unlimited"),
    "disablerootjobs": ("no",),
    "lln": ("no",),
    "maxcpuspernode": ("unlimited",),
    "overtimelimit": (),
    "reqresv": ("no",),
    "selecttypeparameters": ("none",),
}
