"""Plans of campaigns: which runs there are, and when two of them have the same key."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.campaigns.plan.campaign_plan import CampaignPlan
from batsched_py.campaigns.plan.planner import plan_campaign
from batsched_py.errors import BatschedError, ConfigurationError, InputError, PlatformError, WorkloadError
from batsched_py.model.workload import Workload
from batsched_py.reading.limits import Limits
from tests.studies import STUDY, planned, read

MINE = """
from batsched_py.api import NoOptions, Plan, Scheduler, View


class Mine(Scheduler[NoOptions]):
    name = "mine"

    def decide(self, view: View, plan: Plan) -> None:
        pass
"""
LOG = """; MaxProcs: 8
; UnixStartTime: 0
1 0 -1 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1
2 50 -1 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1
3 250 -1 10 1 -1 -1 1 20 -1 1 7 -1 -1 -1 -1 -1 -1
"""


def keys(plan: CampaignPlan) -> set[str]:
    return {run.key for run in plan.runs}


def test_each_combination_is_a_run(tmp_path: Path) -> None:
    """Workload by workload, algorithm by algorithm, under the names of `compare`."""
    plan = planned(tmp_path)
    variants = ["backfill(depth=1)", "backfill(depth=4)", "fcfs"]
    assert [(run.workload, run.variant.name) for run in plan.runs] == [
        (f"lublin seed={seed}", name) for seed in (1, 2, 3) for name in variants
    ]
    assert len(keys(plan)) == 9
    assert {run.options["depth"] for run in plan.runs if run.variant.name.startswith("backfill")} == {1, 4}


def test_parameters_of_the_model_make_groups(tmp_path: Path) -> None:
    """Parameters that vary are in their names; the machine has the hosts of the platform."""
    plan = planned(tmp_path, STUDY.replace("jobs = 20", "jobs = 20\nload = [0.5, 0.9]"))
    assert list(dict.fromkeys(run.source.group for run in plan.runs)) == ["lublin load=0.5", "lublin load=0.9"]
    assert plan.runs[0].source.origin.generator["hosts"] == 8


def test_a_log_is_cut_into_parts(tmp_path: Path) -> None:
    """Each part that has a job is an observation; a part keeps its key while the log grows."""
    workloads = "[[workloads]]\nlog = 'log.swf'\nevery = 100\n"
    text = STUDY.replace('[[workloads]]\nmodel = "lublin"\njobs = 20\nseeds = "1-3"\n', workloads)
    (tmp_path / "log.swf").write_text(LOG)
    plan = planned(tmp_path, text)
    assert list(dict.fromkeys(run.workload for run in plan.runs)) == ["log-1", "log-3"]
    assert {run.source.group for run in plan.runs} == {"log"}
    (tmp_path / "log.swf").write_text(LOG + LOG.splitlines()[-1].replace("3 250", "4 950") + "\n")
    assert len(keys(planned(tmp_path, text)) - keys(plan)) == 3


def test_jobs_of_a_log_compute_at_a_speed(tmp_path: Path) -> None:
    """For as long as they ran; under other keys."""
    workloads = "[[workloads]]\nlog = 'log.swf'\n"
    text = STUDY.replace('[[workloads]]\nmodel = "lublin"\njobs = 20\nseeds = "1-3"\n', workloads)
    (tmp_path / "log.swf").write_text(LOG)
    computing = text.replace("'log.swf'", "'log.swf'\nspeed = 2e9")
    assert not keys(planned(tmp_path, text)) & keys(planned(tmp_path, computing))
    workload = planned(tmp_path, computing).runs[0].source.workload
    assert isinstance(workload, Workload)
    assert {profile.type for profile in workload.profiles.values()} == {"parallel_homogeneous"}


def test_names_do_not_change_a_key(tmp_path: Path) -> None:
    """Neither of the study, nor of platforms, workloads and algorithms, nor their order."""
    (tmp_path / "other").mkdir()
    text = STUDY.replace('algorithm = "fcfs"', 'algorithm = "fcfs"\nname = "first"').replace(
        'platforms = "p.xml"', 'title = "t"\nplatforms = [{file = "p.xml", name = "q"}]'
    )
    assert keys(planned(tmp_path)) == keys(
        planned(tmp_path / "other", text.replace('seeds = "1-3"', 'seeds = "3,2,1"'))
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("jobs = 20", "jobs = 21"),
        ("jobs = 20", "jobs = 20\noverestimate = 1.0"),
        ("jobs = 20", "jobs = 20\nspeed = 1e9"),
        ("[[alg", "[settings]\nallow_oversized = true\n[[alg"),
        ("[[alg", '[settings]\nclock = "fixed:1"\n[[alg'),
        ("[[alg", '[results]\nskip = "1h"\n[[alg'),
    ],
)
def test_what_determines_a_result_changes_its_key(tmp_path: Path, old: str, new: str) -> None:
    """The key of each run changes."""
    assert not keys(planned(tmp_path)) & keys(planned(tmp_path, STUDY.replace(old, new, 1)))


def test_a_default_that_is_given_changes_no_key(tmp_path: Path) -> None:
    """The options count with their defaults."""
    text = STUDY.replace("depth = [1, 4]", 'depth = [1, 4], order = "fcfs"')
    assert keys(planned(tmp_path)) == keys(planned(tmp_path, text))


def test_the_content_of_an_algorithms_file_counts(tmp_path: Path) -> None:
    """It is found from the folder of the study, wherever the program runs."""
    (tmp_path / "mine.py").write_text(MINE)
    text = STUDY.replace('algorithm = "fcfs"', 'algorithm = "mine.py:Mine"')
    before = keys(planned(tmp_path, text))
    assert keys(planned(tmp_path, text)) == before
    (tmp_path / "mine.py").write_text(MINE + "\n# the same, and yet\n")
    assert len(before & keys(planned(tmp_path, text))) == 6


@pytest.mark.parametrize("changed", ["helper.py", "pkg/deep.py", "pkg/__init__.py", "dynamic.py"])
def test_the_content_of_what_an_algorithms_file_imports_counts(changed: str, tmp_path: Path) -> None:
    """From its folder, directly or not, and for another change again; a module that nobody imports does not."""
    (tmp_path / "pkg").mkdir()
    imports = "import importlib\nimport helper\nimportlib.import_module('dynamic')\n"
    for name, content in {
        "mine.py": imports + MINE,
        "helper.py": "from pkg.deep import value\n",
        "pkg/deep.py": "value = 1\n",
        "pkg/__init__.py": "",
        "dynamic.py": "",
        "unused.py": "",
    }.items():
        (tmp_path / name).write_text(content)
    study = STUDY.replace('"fcfs"', '"mine.py:Mine"')
    before = planned(tmp_path, study)
    (tmp_path / "unused.py").write_text("other = 2\n")
    assert keys(planned(tmp_path, study)) == keys(before)
    found = [before]
    for number in (2, 3):
        with (tmp_path / changed).open("a") as file:
            file.write(f"other{number} = {number}\n")
        found.append(planned(tmp_path, study))
    mine = [{run.key for run in plan.runs if run.variant.name == "mine"} for plan in found]
    assert len(set.union(*mine)) == 9
    others = [{run.key for run in plan.runs if run.variant.name != "mine"} for plan in found]
    assert others[0] == others[1] == others[2]


@pytest.mark.parametrize("algorithm", ["slurm", "own.py:Mine", "batsched_py.schedulers.slurm.scheduler:Slurm"])
def test_the_content_of_included_files_counts(algorithm: str, tmp_path: Path) -> None:
    """For each class that reads them, whatever its name."""
    own = 'from batsched_py.schedulers.slurm.scheduler import Slurm\nclass Mine(Slurm):\n    name = "mine"\n'
    (tmp_path / "own.py").write_text(own)
    (tmp_path / "slurm.conf").write_text("Include nodes.conf\nPartitionName=p Nodes=ALL\n")
    (tmp_path / "nodes.conf").write_text("NodeName=n[1-64]\n")
    study = STUDY.replace('algorithm = "fcfs"', f'algorithm = "{algorithm}"\noptions = {{ conf = "slurm.conf" }}')
    before = keys(planned(tmp_path, study))
    assert keys(planned(tmp_path, study)) == before
    (tmp_path / "nodes.conf").write_text("NodeName=n[1-64] Weight=2\n")
    assert len(before & keys(planned(tmp_path, study))) == 6


def test_a_seed_that_changes_nothing_is_the_same_run(tmp_path: Path) -> None:
    """Algorithms without an option `seed` are run once, those with one once for each."""
    text = 'seeds = "1-4"\n' + STUDY.replace('algorithm = "fcfs"', 'algorithm = "random"')
    plan = planned(tmp_path, text)
    assert len(plan.runs) == 3 * 3 * 4
    assert len(keys(plan)) == 3 * (2 + 4)
    assert [run.options.get("seed") for run in plan.runs if run.variant.name == "random"][:4] == [1, 2, 3, 4]


def test_several_settings_are_told_apart_by_what_varies(tmp_path: Path) -> None:
    """In tables."""
    settings = '[settings]\nclock = ["zero", "fixed:1"]\ndynamic_jobs = true\n'
    plan = planned(tmp_path, STUDY + settings)
    assert [setting.name for setting in plan.settings] == ["p, clock=zero", "p, clock=fixed:1"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"fcfs"', '"fcsf"', "study.toml: algorithms[1]: algorithm fcsf: unknown; did you mean fcfs?"),
        ('"fcfs"', '"backfill"\noptions = {depth = 4}', "algorithms: two are called backfill(depth=4)"),
        ("depth", "width", "algorithms[0]: option width: backfill has no such option"),
        ("[1, 4]", "[1, -4]", "algorithms[0]: option depth of backfill: must be at least"),
        ("jobs = 20", "jobs = 0", "workloads[0]: jobs: must be from 1 to"),
        ("[[alg", '[results]\nbaseline = "hard"\n[[alg', "results.baseline: baseline hard: unknown"),
        ("[[alg", '[settings]\nmaster_host = "n9"\n[[alg', "settings.master_host: "),
        ("[[workloads]]", 'seeds = "1-2"\n[[workloads]]', "seeds: no algorithm has an option seed"),
    ],
)
def test_what_is_wrong_with_a_plan_is_told_with_its_place(tmp_path: Path, old: str, new: str, told: str) -> None:
    """Before anything runs."""
    with pytest.raises(ConfigurationError) as caught:
        planned(tmp_path, STUDY.replace(old, new, 1))
    assert told in str(caught.value)


@pytest.mark.parametrize(("old", "new"), [('"p.xml"', '"none.xml"'), ("jobs = 20", "jobs = 20\nhosts = 512")])
def test_files_and_workloads_that_cannot_be_simulated_are_refused(tmp_path: Path, old: str, new: str) -> None:
    """A platform that is not there, jobs that are too large."""
    with pytest.raises(BatschedError) as caught:
        planned(tmp_path, STUDY.replace(old, new, 1))
    assert isinstance(caught.value, (PlatformError, WorkloadError))


@pytest.mark.parametrize("rule", ["hosts = 4", 'processors = "used"', 'walltime = "run"', "max_jobs = 1"])
def test_a_workload_in_place_of_a_log_refuses_the_rules_of_cleaning(tmp_path: Path, rule: str) -> None:
    """As `convert` does: a study with all jobs would be taken for one with the first."""
    text = STUDY.replace('model = "lublin"\njobs = 20\nseeds = "1-3"', 'log = "workloads/first.json"\nRULE')
    assert [run.workload for run in planned(tmp_path, text.replace("RULE", "skip = 0")).runs] == ["first"] * 3
    with pytest.raises(InputError, match=r"first\.json: is a workload, not a log: hosts, .* do not apply"):
        planned(tmp_path, text.replace("RULE", rule))


def test_the_parts_of_a_log_count_as_runs(tmp_path: Path) -> None:
    """They are known only when the log is read."""
    (tmp_path / "l.swf").write_text(LOG)
    text = STUDY.replace('model = "lublin"\njobs = 20\nseeds = "1-3"', 'log = "l.swf"\nevery = "40s"')
    campaign = read(tmp_path, text)
    assert len(plan_campaign(campaign, Limits(runs=9)).runs) == 9
    with pytest.raises(ConfigurationError, match=r"study\.toml: must be at most 8 runs"):
        plan_campaign(campaign, Limits(runs=8))
