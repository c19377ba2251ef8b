"""Study files for tests, and workers that execute them in the process of the test."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from pathlib import Path

from batsched_py.builds import code_digest
from batsched_py.campaigns.execution.batch_run import run_batch
from batsched_py.campaigns.execution.batches import Batch, FinishedRun
from batsched_py.campaigns.plan.campaign import Campaign
from batsched_py.campaigns.plan.campaign_plan import CampaignPlan
from batsched_py.campaigns.plan.planner import plan_campaign
from batsched_py.campaigns.plan.study_file import read_study
from batsched_py.traces.platform_writer import write_homogeneous

#: A study of 3 workloads and 3 variants.
STUDY = """
platforms = "p.xml"

[[workloads]]
model = "lublin"
jobs = 20
seeds = "1-3"

[[algorithms]]
algorithm = "backfill"
options = { depth = [1, 4] }

[[algorithms]]
algorithm = "fcfs"
"""


def written(folder: Path, text: str = STUDY) -> Path:
    """Write a study file, and a platform of 8 hosts beside it."""
    write_homogeneous(folder / "p.xml", 8)
    (folder / "study.toml").write_text(text)
    return folder / "study.toml"


def read(folder: Path, text: str = STUDY) -> Campaign:
    """The campaign of a study file."""
    return read_study(written(folder, text))


def planned(folder: Path, text: str = STUDY) -> CampaignPlan:
    """The plan of a study file."""
    return plan_campaign(read(folder, text))


class HereWorkers:
    """Workers that are this process: each batch runs when it is asked for."""

    count = 1

    def run(self, batches: Iterable[Batch]) -> Generator[tuple[Batch, list[FinishedRun]], None, None]:
        """One batch after the other."""
        for batch in batches:
            inputs = batch.environment, batch.workload, batch.specs
            yield batch, run_batch(*inputs, jobs=batch.jobs, code=code_digest(), limits=batch.limits)
