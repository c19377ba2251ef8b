"""Study files: what they mean, and what is wrong with them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from batsched_py.campaigns.plan.campaign import FileWorkloads, LogWorkloads, ModelWorkloads
from batsched_py.errors import ConfigurationError
from tests.studies import STUDY, read

WHOLE = """
title = "all of it"
platforms = ["p.xml", { file = "platforms/energy16.xml", name = "green" }]
seeds = [1, 2]

[[workloads]]
files = ["w*.json", "workloads/first.json"]

[[workloads]]
log = "KTH.swf.gz"
every = "7d"
from = 2024-05-31
to = "2024-06-30T08:00"
hosts = 100
max_jobs = 5

[[workloads]]
name = "busy"
model = "lublin"
jobs = 100
load = { from = 0.7, to = 0.9, step = 0.1 }
seeds = "1-2,7"

[[algorithms]]
algorithm = "easy"
name = "EASY"
options = { order = ["fcfs", "sjf"], reserve = "counts" }

[settings]
energy = true
clock = ["zero", "fixed:1"]
roles = { n0 = "storage" }

[results]
metrics = ["mean_wait"]
jobs = true
skip = "1d"
"""

#: Many values of one setting.
CLOCKS = [f"fixed:{seconds}" for seconds in range(1, 200)]


def test_a_whole_study_file_is_read(tmp_path: Path) -> None:
    """Each table, in its order; files are found from the folder of the study, or are examples."""
    for name in ("w2.json", "w1.json"):
        (tmp_path / name).touch()
    campaign = read(tmp_path, WHOLE)
    assert [(one.name, one.path.name) for one in campaign.platforms] == [("p", "p.xml"), ("green", "energy16.xml")]
    files, log, model = campaign.workloads
    assert isinstance(files, FileWorkloads)
    assert [path.name for path in files.paths] == ["w1.json", "w2.json", "first.json"]
    assert isinstance(log, LogWorkloads)
    assert (log.name, log.every, log.rules.hosts, log.rules.max_jobs) == ("KTH", 604800, 100, 5)
    assert (log.window.begin, log.window.until) == (datetime(2024, 5, 31), datetime(2024, 6, 30, 8))
    assert isinstance(model, ModelWorkloads)
    assert (model.name, model.seeds) == ("busy", (1, 2, 7))
    assert model.parameters == {"jobs": (100,), "load": (0.7, 0.8, 0.9)}
    (easy,) = campaign.algorithms
    assert (easy.name, easy.options) == ("EASY", {"order": ("fcfs", "sjf"), "reserve": ("counts",)})
    assert [(one.clock, one.settings.energy, dict(one.settings.roles)) for one in campaign.settings] == [
        ("zero", True, {"n0": "storage"}),
        ("fixed:1", True, {"n0": "storage"}),
    ]
    assert (campaign.title, campaign.seeds, campaign.metrics) == ("all of it", (1, 2), ("mean_wait",))
    assert (campaign.jobs, campaign.window.skip) == (True, 86400)


@pytest.mark.parametrize(
    ("old", "new", "field", "rule"),
    [
        ('platforms = "p.xml"', "platforms = 3", "platforms", "must be a text or a list, not 3"),
        ('platforms = "p.xml"', "platforms = []", "platforms", "must have at least one"),
        ('platforms = "p.xml"', 'platforms = ["p.xml", "a/p.xml"]', "platforms", "two are called 'p'"),
        ('platforms = "p.xml"', 'platform = "p.xml"', "platform", "unknown; did you mean platforms?"),
        ('platforms = "p.xml"', 'platforms = [{file = "p.xml", size = 8}]', "platforms[0].size", "unknown; there are"),
        ("jobs = 20", 'jobs = "many"', "workloads[0].jobs", "must be a whole number, not 'many'"),
        ("jobs = 20", "job = 20", "workloads[0].job", "unknown; did you mean jobs?"),
        ("jobs = 20", "", "workloads[0].jobs", "is missing"),
        ("jobs = 20", "jobs = 20\nload = [0.7, 0.7]", "workloads[0].load", "has the value 0.7 twice"),
        (
            'model = "lublin"',
            'model = "lublin"\nlog = "a.swf"',
            "workloads[0]",
            "must have one of files, log and model",
        ),
        ('model = "lublin"', 'model = "dublin"', "workloads[0].model", "invalid enum value 'dublin'"),
        ('seeds = "1-3"', 'seeds = "3-1"', "workloads[0].seeds", "must be like 1-20 or 1,2,5-9, not '3-1'"),
        ('seeds = "1-3"', "seeds = 0", "workloads[0].seeds", "must be at least 1 seed, or 0-0 for the seed 0"),
        ("[1, 4]", "{ from = 1 }", "algorithms[0].options.depth.to", "is missing"),
        ("[1, 4]", f"{{ from = 1, to = {'9' * 400} }}", "algorithms[0].options.depth.to", "must be a number, not 999"),
        ('platforms = "p.xml"', 'platforms = "p\\u0000.xml"', "platforms[0]", "must be a path, not 'p\\x00.xml'"),
        ("[[alg", '[settings]\nevents = "\\u0000"\n[[alg', "settings.events", "must be a path"),
        ('algorithm = "fcfs"', "options = {}", "algorithms[1].algorithm", "is missing"),
        ("[[alg", "[settings]\nspeed = 2\n[[alg", "settings.speed", "unknown"),
        ("[[alg", "[settings]\nenergy = 2\n[[alg", "settings.energy", "must be true or false, not 2"),
        ("[[alg", "[settings]\nclock = 'slow'\n[[alg", "settings.clock", "must be zero, measured or fixed:SECONDS"),
        ("[[alg", "[settings]\nprotocol = 'v3'\n[[alg", "settings.protocol", "must be v4 or v"),
        ("[[alg", "[settings]\nmachines = 0\n[[alg", "settings.machines", "must be 1 or more, not 0"),
        ("[[alg", "[settings]\nroles = {a = 'x'}\n[[alg", "settings.roles", "invalid enum value 'x'"),
        ("[[alg", "[results]\nmetrics = ['weight']\n[[alg", "results.metrics", "metric weight: unknown"),
        ("[[alg", "[results]\nfrom = 'soon'\n[[alg", "results.from", "must be seconds, a time like 90min"),
        ("[[alg", "[results]\nfrom = 1\nskip = 2\n[[alg", "results.skip", "cannot be combined with from"),
        ("[[alg", "[results]\nskip = 1\nwarm_up = 2\n[[alg", "results.warm_up", "cannot be combined with from, to"),
        (
            "[[alg",
            "[results]\nwarm_up = 'some'\n[[alg",
            "results.warm_up",
            "must be auto, a number of jobs",
        ),
        ("[[alg", "[results]\nwarm_up = 'auto'\n[[alg", "results.warm_up", "compare --warm-up auto finds one"),
    ],
)
def test_each_error_names_file_field_and_rule(tmp_path: Path, old: str, new: str, field: str, rule: str) -> None:
    """In one line."""
    assert old in STUDY
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path, STUDY.replace(old, new, 1))
    assert caught.value.file == str(tmp_path / "study.toml")
    assert caught.value.field == field
    assert rule in caught.value.rule
    assert "\n" not in str(caught.value)


def test_all_faults_are_in_one_error(tmp_path: Path) -> None:
    """It has those of all tables; those of combinations of settings when the settings themselves are right."""
    wrong = STUDY.replace('platforms = "p.xml"', "platforms = []").replace("jobs = 20", 'jobs = "many"')
    wrong = wrong.replace("[[alg", "[settings]\nspeed = 2\nenergy = 2\n[[alg", 1).replace(
        'algorithm = "fcfs"', "name = 3"
    )
    with pytest.raises(
        ConfigurationError, match=r"platforms: must have at least one \(and 5 other errors\)$"
    ) as caught:
        read(tmp_path, wrong)
    assert [fault.path for fault in caught.value.others] == [
        "workloads[0].jobs",
        "algorithms[1].name",
        "algorithms[1].algorithm",
        "settings.speed",
        "settings.energy",
    ]


def test_each_platform_has_its_fault(tmp_path: Path) -> None:
    """As each table of workloads has."""
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path, STUDY.replace('"p.xml"', '[{size = 8, file = "p.xml"}, "p.xml", {name = "q"}]', 1))
    assert [fault.path for fault in caught.value.faults] == ["platforms[0].size", "platforms[2].file"]


@pytest.mark.parametrize(
    ("seeds", "found"), [("[0]", (0,)), ('"0-2"', (0, 1, 2)), ("3", (1, 2, 3)), ('"3"', (1, 2, 3))]
)
def test_zero_is_a_seed_and_a_number_alone_counts_them(tmp_path: Path, seeds: str, found: tuple[int, ...]) -> None:
    """However it is written."""
    assert read(tmp_path, f"seeds = {seeds}\n{STUDY}").seeds == found


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("platforms = \n", "is not TOML: .*line 1"),
        (f"platforms = {'[' * 2000}{']' * 2000}", r"must be at most 100 levels deep"),
        (f"platforms = {'[' * 150}{']' * 150}", r"must be at most 100 levels deep"),
        (f"platforms = {'9' * 5000}", "is not TOML: Exceeds the limit"),
    ],
)
def test_what_is_no_toml_is_refused(tmp_path: Path, text: str, rule: str) -> None:
    """With the place of the mistake, if the parser tells it."""
    with pytest.raises(ConfigurationError, match=rf"study\.toml: {rule}"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("[1, 4]", "{ from = 1, to = 9000, step = 1 }, slack = { from = 1, to = 9000, step = 1 }", ""),
        ('seeds = "1-3"', 'seeds = "1-9000"\nload = { from = 0.1, to = 0.9, count = 9000 }', ""),
        ("[[alg", f"[settings]\nmachines = {{ from = 1, to = 9000, step = 1 }}\nclock = {CLOCKS}\n[[alg", "settings"),
    ],
)
def test_a_campaign_has_a_limited_number_of_runs(tmp_path: Path, old: str, new: str, place: str) -> None:
    """A few lists make more combinations than anybody can run, or hold in memory."""
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path, STUDY.replace(old, new, 1))
    assert caught.value.field == place
    assert "must be at most 1000000 runs (--limit runs=N allows more)" in caught.value.rule


@pytest.mark.parametrize("files", ['"w*.json"', "[]"])
def test_a_pattern_that_matches_nothing_is_an_error(tmp_path: Path, files: str) -> None:
    """As is no file at all."""
    with pytest.raises(ConfigurationError, match=r"workloads\[0\]\.files: (no file matches|must name a file)"):
        read(tmp_path, f'platforms = "p.xml"\nalgorithms = [{{algorithm = "fcfs"}}]\nworkloads = [{{files = {files}}}]')
