"""`placer`: classes of jobs, vaults, shared hosts, and rules of hosts that come from options."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.main import run
from batsched_py.schedulers.placer import PlacerScheduler
from batsched_py.testing import Bench
from tests.integration.test_placer import PLATFORM, Simulated, job

#: The records of the specification.
H0_TO_H3: list[dict[str, Any]] = [
    {"arch": "sparc", "mem": 512},
    {"arch": "x86", "mem": 256},
    {"arch": "x86", "mem": 1024},
    {"arch": "alpha", "mem": 2048},
]
STORES = "".join(
    f'<host id="{name}" speed="1Gf"><prop id="role" value="storage"/><prop id="size" value="100"/></host>'
    for name in ("va", "vb")
)


def classes(folder: Path, **members: Any) -> str:
    """Return the option that names a file with a class `Foo`."""
    path = folder / "classes.json"
    path.write_text(json.dumps({"Foo": members}))
    return f"classes={path}"


def foo(job_id: str, subtime: float = 0, res: int = 1, seconds: int = 10, **members: Any) -> dict[str, Any]:
    """A job of the class."""
    return job(job_id, subtime, res, seconds, **{"class": "Foo"}, **members)


def test_la_35_a_job_and_its_class_both_constrain(tmp_path: Path) -> None:
    """LA-35: only h2 is x86 and has more than 500."""
    option = classes(tmp_path, constraint='$arch == "x86"')
    ended = Simulated(tmp_path, H0_TO_H3, [foo("1", constraint="$mem > 500")], option)
    assert ended.started("1") == (0, "2")
    assert ended.took("1") == (1, 1, 0, 0)


def test_la_36_a_class_names_its_hosts(tmp_path: Path) -> None:
    """LA-36: only n0 and n3 are asked; a third job of the class waits, though others are free."""
    option = classes(tmp_path, hosts=["n0", "n3"])
    ended = Simulated(tmp_path, H0_TO_H3, [foo("1"), foo("2"), foo("3"), foo("4", res=3)], option)
    assert [ended.started(name) for name in "123"] == [(0, "0"), (0, "3"), (10, "0")]
    assert ended.jobs["4"]["final_state"] == "REJECTED"


def test_la_37_a_class_that_refuses_leads_to_the_next_alternative(tmp_path: Path) -> None:
    """LA-37: its veto is asked when its object would be created."""
    option = classes(tmp_path, veto="$mem < 600")
    ended = Simulated(tmp_path, H0_TO_H3, [foo("1")], option)
    assert ended.started("1") == (0, "2")
    assert ended.took("1") == (1, 3, 2, 2)


def test_a_class_runs_after_the_jobs_that_it_names(tmp_path: Path) -> None:
    """Rejected ones have ended, too; without them it is rejected when nothing will change."""
    option = classes(tmp_path, after=["2", "w0!3"])
    jobs = [foo("1"), job("2", 0, 1, 100), job("3", 5, 1, constraint="false")]
    assert Simulated(tmp_path, [{}, {}], jobs, option).started("1") == (100, "0")
    ended = Simulated(tmp_path, [{}, {}], [foo("1"), job("2", 0, 1)], option)
    assert ended.jobs["1"]["final_state"] == "REJECTED"


@pytest.mark.parametrize(
    ("members", "rule"),
    [
        ({"constraint": "$a >"}, "Foo.constraint: at offset 4: the query ends too early"),
        ({"constraint": 5}, "Foo.constraint: must be a text, not 5"),
        ({"hosts": "h0"}, "Foo.hosts: must be a list of names, not 'h0'"),
        ({"duration": -1}, "Foo.duration: must be a number of seconds greater than 0, not -1"),
        ({"placer": "my.py:own"}, "Foo.placer: must be best | random | round-robin, not 'my.py:own'"),
        ({"vetto": "true"}, "Foo.vetto: unknown; did you mean veto?"),
    ],
)
def test_wrong_classes_are_told(
    tmp_path: Path, members: dict[str, Any], rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line with file, place and rule; no code is loaded for what a file says."""
    assert Simulated(tmp_path, [{}], [foo("1")], classes(tmp_path, **members)).code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert rule in line
    assert "classes.json" in line


def test_a_class_that_is_unknown_rejects_its_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Others go on."""
    ended = Simulated(tmp_path, [{}], [foo("1"), job("2", 0, 1)])
    assert [ended.jobs[name]["final_state"] for name in "12"] == ["REJECTED", "COMPLETED_SUCCESSFULLY"]
    assert "w0!1 rejected: class: unknown; there are:" in capsys.readouterr().err


def placed(*hosts: str, vault: str | None = None) -> dict[str, Any]:
    """A schedule that a job brings along."""
    stores = {} if vault is None else {"vault": vault}
    return {"placements": [{"object": f"o{at}", "host": host, **stores} for at, host in enumerate(hosts)]}


def test_a_job_may_bring_its_alternatives(tmp_path: Path) -> None:
    """In order, as differences, too; those whose hosts do not suit, or are in use, are left out."""
    varied = {"difference": [{"object": "o1", "host": "n3"}]}
    jobs = [
        job("1", 0, 2, alternatives=[placed("n2", "n1"), varied]),
        job("2", 1, 2, alternatives=[placed("n1", "n0"), placed("n0", "n3"), placed("n3", "n0")]),
        job("3", 2, 1, 5, alternatives=[placed("n0"), placed("n1")], constraint="$mem < 300"),
    ]
    ended = Simulated(tmp_path, H0_TO_H3, jobs)
    assert [ended.started(name) for name in "123"] == [(0, "1-2"), (1, "0 3"), (10, "1")]
    assert [ended.took(name) for name in "123"] == [(1, 2, 0, 0), (1, 2, 0, 0), (1, 1, 0, 0)]
    hosts = [*H0_TO_H3[:1], {"refuse": 1}, *H0_TO_H3[2:]]
    ended = Simulated(tmp_path, hosts, jobs[:1])
    assert ended.started("1") == (0, "2-3")
    assert ended.took("1") == (1, 3, 0, 1)


@pytest.mark.parametrize(
    ("alternatives", "rule"),
    [
        ("n0", "alternatives: must be a list of schedules, not 'n0'"),
        ([placed("n0")], "alternatives[0]: must place as many objects as the job has hosts, 2, each on another one"),
        ([placed("n0", "n0")], "alternatives[0]: must place as many objects as the job has hosts, 2, each on another"),
        (
            [placed("n0", "n1"), {"difference": [{"object": "x", "host": "n1"}]}],
            "alternatives[1].difference: there is no object 'x' in the schedule that it varies",
        ),
        (
            [{"name": "a", "of": "b", "difference": []}, {"name": "b", "of": "a", "difference": []}],
            "alternatives[1].of: varies a schedule that varies it in turn",
        ),
        ([placed("n0", "n9")], "alternatives: there is no host 'n9'"),
        ([placed("n0", "n1", vault="n2")], "alternatives: there is no vault 'n2'"),
        ([placed("n0", "n1")] * 1001, "alternatives: must be at most 1000 schedules, not 1001"),
        ([placed("n0", "n1"), placed("n0", "n2", vault="v")], "alternatives[0]: names no vault, which the job needs"),
    ],
)
def test_wrong_alternatives_reject_their_job(
    tmp_path: Path, alternatives: Any, rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line with place and rule; nobody was asked for it, and others go on."""
    members = {"space": 1} if "no vault, which" in rule else {}
    jobs = [job("1", 0, 2, alternatives=alternatives, **members), job("2", 0, 4)]
    ended = Simulated(tmp_path, H0_TO_H3, jobs)
    assert ended.jobs["1"]["final_state"] == "REJECTED"
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "rejected" in line]
    assert f"w0!1 rejected: {rule}" in line
    assert "1" not in ended.placements
    assert ended.started("2") == (0, "0-3")


@pytest.mark.parametrize(
    ("members", "rule"),
    [
        ({"constraint": 5}, "constraint: must be a text, not 5"),
        ({"constraint": "foo(1) == 1"}, "constraint: at offset 0: there is no function 'foo'"),
        ({"constraint": "max(1) == 1"}, "constraint: at offset 0: max takes 2 arguments, not 1"),
        ({"constraint": 'match("[", $arch)'}, "constraint: at offset 6: no regular expression"),
        ({"constraint": "$arch > 3"}, "needs 1 host, its constraint allows 0"),
        ({"vault": "$kind =="}, "vault: at offset 8: the query ends too early"),
        ({"vault": ["va"]}, "vault: must be a text, not ['va']"),
        ({"space": -1}, "space: must be a number from 0, not -1"),
        ({"space": 1}, "needs a vault, $kind == "),
        ({"cpus": "two"}, "cpus: must be a number from 0, not 'two'"),
        ({"class": 7}, "class: must be null or a text, not 7"),
    ],
)
def test_a_wrong_demand_rejects_its_job(
    tmp_path: Path, members: dict[str, Any], rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line with member, place and rule; nobody was asked for it, and others go on at once."""
    ended = Simulated(tmp_path, H0_TO_H3, [job("1", 0, 1, **members), job("2", 0, 4)])
    assert ended.jobs["1"]["final_state"] == "REJECTED"
    (line,) = capsys.readouterr().err.splitlines()
    assert f"w0!1 rejected: {rule}" in line
    assert list(ended.placements) == ["2"]
    assert ended.started("2") == (0, "0-3")
    assert ended.took("2") == (1, 4, 0, 0)


OWN_PLACER = """
from batsched_py.collection.placers import Placer
class Last(Placer):
    def schedule(self, request):
        names = [name for name in self.collection.names(request.query, request.now) if name not in request.without]
        return [{"placements": [{"object": "0", "host": name}]} for name in names[::-1]]
class None_(Placer):
    def schedule(self, request):
        return [{"difference": []}]
"""


def test_a_placer_of_a_users_own_proposes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A class in a file; what it gets wrong ends the run in one line."""
    (tmp_path / "own.py").write_text(OWN_PLACER)
    ended = Simulated(tmp_path, H0_TO_H3, [job("1", 0, 1), job("2", 0, 1)], f"place={tmp_path}/own.py:Last")
    assert [ended.started(name) for name in "12"] == [(0, "3"), (0, "2")]
    assert Simulated(tmp_path, H0_TO_H3, [job("1", 0, 1)], f"place={tmp_path}/own.py:None_").code == 3
    assert "own.py:None_: its schedules[0].difference: varies no schedule: it is the first" in capsys.readouterr().err


def stored(folder: Path, jobs: list[dict[str, Any]], *options: str) -> dict[str, dict[str, str]]:
    """Run jobs on two hosts beside vaults va and vb of 100; return the rows of the jobs."""
    hosts = '<host id="n0" speed="1Gf"/><host id="n1" speed="1Gf"/>'
    links = "".join(
        f'<route src="{one}" dst="{other}"><link_ctn id="l"/></route>'
        for one, other in [("n0", "va"), ("n0", "vb"), ("n1", "va"), ("n1", "vb"), ("n0", "n1"), ("va", "vb")]
    )
    link = '<link id="l" bandwidth="100MBps" latency="0us"/>'
    (folder / "p.xml").write_text(PLATFORM.format(hosts + STORES + link + links))
    profiles = {
        **{str(seconds): {"type": "delay", "delay": seconds} for seconds in (10, 20, 100)},
        "pfs": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1e8, "bytes_to_write": 0, "storage": "home"},
    }
    (folder / "w.json").write_text(json.dumps({"nb_res": 2, "jobs": jobs, "profiles": profiles}))
    given = [each for option in options for each in ("-o", option)]
    transcript = str(folder / "t.jsonl")
    command = ["simulate", "-p", str(folder / "p.xml"), "-w", str(folder / "w.json"), "-s", "placer", *given]
    assert run([*command, "-e", str(folder / "run"), "--quiet", "--record", transcript]) == 0
    with (folder / "run_jobs.csv").open(newline="") as file:
        return {row["job_id"].rpartition("!")[2]: row for row in csv.DictReader(file)}


def test_la_82_a_vault_has_only_so_much_space(tmp_path: Path) -> None:
    """LA-82: 60 of 100 are taken in each vault: who wants 60 waits for one; who wants 40 does not."""
    jobs = [
        job("1", 0, 1, 100, space=60, vault='$name == "va"'),
        job("2", 10, 1, 10, space=60, vault='$name == "va"'),
        job("3", 11, 1, 10, space=40, vault='$name == "va"'),
        job("4", 12, 1, 10, space=101),
    ]
    rows = stored(tmp_path, jobs)
    asks = '$free_space >= 60 and $name == "{}"'
    more = [job(name, 30, 1, 10, space=1, vault=asks.format(vault)) for name, vault in (("5", "va"), ("6", "vb"))]
    late = stored(tmp_path, [jobs[0], *more])
    assert [float(late[name]["starting_time"]) for name in "56"] == [100, 30]
    assert [float(rows[name]["starting_time"]) for name in "123"] == [0, 100, 11]
    assert rows["4"]["final_state"] == "REJECTED"


def test_a_profile_with_a_storage_gets_the_emptiest_vault(tmp_path: Path) -> None:
    """As the storage mapping of its start, under the label that the profile has for it."""
    jobs = [job("1", 0, 1, 100, space=60), {**job("2", 1, 1), "profile": "pfs"}]
    rows = stored(tmp_path, jobs)
    assert rows["2"]["final_state"] == "COMPLETED_SUCCESSFULLY"
    assert float(rows["2"]["execution_time"]) == pytest.approx(1, rel=0.1)
    text = (tmp_path / "t.jsonl").read_text()
    assert "storage_mapping" in text
    assert '\\"home\\":3' in text or '"home":3' in text


def shared(folder: Path, hosts: list[dict[str, Any]], jobs: list[dict[str, Any]], *more: str) -> Simulated:
    """Run jobs where hosts may be shared."""
    return Simulated(folder, hosts, jobs, "share=time", flags=("--enable-compute-sharing", *more))


def test_shares_of_a_host_add_up_to_its_cpus(tmp_path: Path) -> None:
    """2 and 2 of 4: a third one waits; its load is what is taken."""
    jobs = [job(name, 0, 1, 10, cpus=2) for name in "123"] + [job("4", 1, 1, 5, cpus=1, constraint="$load < 0.6")]
    ended = shared(tmp_path, [{"cpus": 4}], jobs)
    assert [ended.started(name)[0] for name in "1234"] == [0, 0, 10, 10]


def test_hosts_report_when_they_will_be_free(tmp_path: Path) -> None:
    """By the walltimes of what runs there, also if they go down meanwhile."""
    jobs = [job("1", 0, 1, 100, cpus=2), job("2", 1, 1, 10, cpus=1), job("3", 2, 1, 5, constraint="$next_free < 50")]
    ended = shared(tmp_path, [{"cpus": 4}], jobs)
    assert [ended.started(name)[0] for name in "123"] == [0, 1, 100]
    bench = Bench("placer", hosts=2)
    bench.submit(walltime=30)
    bench.at(5).decide()
    placer = bench.session.scheduler
    assert isinstance(placer, PlacerScheduler)
    reported = [record.attributes["next_free"] for record in placer.members.reported.query()]
    assert reported == [35, 0]
    bench.fail("0")
    bench.decide()
    assert [record.attributes["next_free"] for record in placer.members.reported.query()] == [35, 0]


def test_sharing_needs_a_simulation_that_shares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Told before anything begins."""
    assert Simulated(tmp_path, [{}], [job("1", 0, 1)], "share=time").code == 2
    assert "time needs a simulation with --enable-compute-sharing" in capsys.readouterr().err


def test_options_give_rules_to_hosts_that_have_none(tmp_path: Path) -> None:
    """A host's own property counts where it has one."""
    hosts: list[dict[str, Any]] = [{"allowed_users": "ann"}, {}]
    jobs = [job("1", 0, 1, user="ann"), job("2", 0, 1, user="bob"), job("3", 0, 1, user="ann")]
    ended = Simulated(tmp_path, hosts, jobs, "allowed_users=bob", "foresight=false")
    assert [ended.started(name) for name in "123"] == [(0, "0"), (0, "1"), (10, "0")]
    assert Simulated(tmp_path, [{}], [job("1", 0, 1)], "allowed_hours=8-18").started("1")[0] == 8 * 3600
    jobs = [job(name, 0, 1, cpus=1) for name in "123"]
    ended = shared(tmp_path, [{"cpus": 4, "max_jobs": 2}], jobs)
    assert [ended.started(name)[0] for name in "123"] == [0, 0, 10]


OWN = """
class NightOwl:
    def __init__(self, properties, draw):
        self.lazy = "lazy" in properties
    def refuses(self, request, now, *, held, starts):
        return self.lazy and now < 50
class Broken(NightOwl):
    def refuses(self, request, now, *, held, starts):
        raise KeyError("no such rule")
"""


def test_hosts_may_have_a_rule_of_the_users_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A class in a file, made for each host; its errors are told as its own."""
    (tmp_path / "own.py").write_text(OWN)
    jobs = [job("1", 0, 1), job("2", 0, 1, 100), job("3", 60, 1)]
    ended = Simulated(tmp_path, [{"lazy": 1}, {}], jobs, f"policy={tmp_path}/own.py:NightOwl")
    assert [ended.started(name) for name in "123"] == [(0, "1"), (10, "1"), (60, "0")]
    assert Simulated(tmp_path, [{}], [job("1", 0, 1)], f"policy={tmp_path}/own.py:Broken").code != 0
    assert "it raised KeyError: 'no such rule'" in capsys.readouterr().err
