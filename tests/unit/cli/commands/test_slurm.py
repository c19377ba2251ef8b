"""`batsched-py slurm`: checks of configurations, and platforms of their nodes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from batsched_py.cli.main import run
from batsched_py.model.host_capacities import machine_licences, read_capacity
from batsched_py.traces.simgrid_xml import read_platform

CONF = "SelectType=select/cons_tres\nNodeName=n[1-2] CPUs=4 RealMemory=1000\nPartitionName=p Nodes=ALL\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


def conf(text: str = CONF, name: str = "slurm.conf") -> str:
    """A file."""
    Path(name).write_text(text)
    return name


def test_a_check_counts_effects(capsys: pytest.CaptureFixture[str]) -> None:
    """Parameters that need attention come first."""
    assert run(["slurm", "check", conf(f"ClusterName=c\nKillWait=1\n{CONF}")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "6 obeyed, 1 approximated, 1 ignored, 0 refused"
    assert [line.split()[1] for line in lines[3:5]] == ["KillWait", "SelectType"]
    assert "ClusterName" in lines[-3]


def test_a_check_ends_with_2_if_a_parameter_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """All of them are shown; nothing of the file controls the terminal."""
    assert run(["slurm", "check", conf(f"{CONF}Foo\x1b[2J=1\nBar=2\n")]) == 2
    out, err = capsys.readouterr()
    assert "0 approximated, 0 ignored, 2 refused" in out
    assert r"Foo\x1b[2J" in out
    assert "\x1b" not in out + err
    rule = "is an unknown or unsupported parameter; 1 other is refused, too"
    assert err == f"batsched-py: error: slurm.conf: line 4: Foo\\x1b[2J: {rule}\n"


def test_a_check_of_several_files_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    """Topology.conf is read if the configuration asks for it."""
    wrong = conf("SwitchName=s Nodes=n[1-3]\n", "t.conf")
    assert run(["slurm", "check", conf(f"{CONF}TopologyPlugin=topology/tree\n"), "--topology", wrong]) == 2
    assert "t.conf:1" in capsys.readouterr().out


def test_a_check_reads_included_files(capsys: pytest.CaptureFixture[str]) -> None:
    """Names are relative to the file that has them; a file outside the folder is not opened."""
    Path("etc/conf.d").mkdir(parents=True)
    main = conf("Include conf.d/nodes.conf\nPartitionName=p Nodes=ALL\n", "etc/slurm.conf")
    conf("NodeName=n[1-2]\nInclude more.conf\n", "etc/conf.d/nodes.conf")
    conf("KillWait=1\n", "etc/conf.d/more.conf")
    assert run(["slurm", "check", main]) == 0
    out = capsys.readouterr().out
    assert "more.conf:1" in out
    assert out.endswith("5 obeyed, 1 approximated, 0 ignored, 0 refused\n")
    assert run(["slurm", "platform", main, "-o", "p.xml"]) == 0
    assert capsys.readouterr().out == "wrote p.xml: 2 hosts\n"
    assert run(["slurm", "platform", main, "-o", "etc/conf.d/more.conf"]) == 2
    assert "name the same file" in capsys.readouterr().err
    conf("Foo=1\n", "etc/conf.d/more.conf")
    conf("NodeName=n3\nInclude ../../secret\n", "etc/conf.d/nodes.conf")
    conf("Foo=1\n", "secret")
    assert run(["slurm", "check", main]) == 2
    assert "error: etc/conf.d/nodes.conf: line 2: Include: must be a file in the same folder" in capsys.readouterr().err


def test_a_check_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Objects with six members."""
    assert run(["slurm", "check", "--json", conf("KillWait=1\n" + CONF)]) == 0
    assert json.loads(capsys.readouterr().out)[0] == {
        "file": "slurm.conf", "line": 1, "name": "KillWait", "value": "1",
        "effect": "approximated", "reason": "a job ends at once at its limit",
    }  # fmt: skip


def test_a_platform_has_the_resources_of_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    """Names are those of the nodes; licences are those of the machine."""
    text = (
        "Licenses=matlab:2,ansys\nNodeName=b10 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=9G\n"
        "NodeName=a[08-09] CPUs=4 Gres=gpu:a100:2,fpga:1,fpga:2\nPartitionName=p Nodes=ALL\n"
    )
    assert run(["slurm", "platform", conf(text), "-o", "out/p.xml"]) == 0
    assert capsys.readouterr().out == "wrote out/p.xml: 3 hosts\n"
    platform = read_platform(Path("out/p.xml"))
    hosts = {host.name: host for host in platform.hosts if host.name != "master_host"}
    assert list(hosts) == ["a08", "a09", "b10"]
    found = {name: read_capacity(host.properties) for name, host in hosts.items()}
    assert (found["b10"].cores, found["b10"].memory, found["b10"].gpus) == (16000, 9216, 0)
    assert (found["a08"].cores, found["a08"].gpus, found["a08"].model) == (4000, 2, "a100")
    assert found["a09"].others == (("fpga", 3),)
    described = [(host.properties, host.zone_properties) for host in hosts.values()]
    assert machine_licences(described) == {"matlab": 2, "ansys": 1}


def test_gpus_of_several_types_have_no_model(capsys: pytest.CaptureFixture[str]) -> None:
    """A property names one model for all GPUs of a host."""
    text = "NodeName=n[1-2] CPUs=4 Gres=gpu:a100:2,gpu:t4:1\nPartitionName=p Nodes=ALL\n"
    assert run(["slurm", "platform", conf(text), "-o", "p.xml"]) == 0
    assert "warning: 2 nodes with GPUs of several types, such as n1: no gpu_model" in capsys.readouterr().err
    assert "gpu_model" not in Path("p.xml").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CONF + "Foo=1\n", "slurm.conf: line 4: Foo: is an unknown or unsupported parameter"),
        ("NodeName=master_host\nPartitionName=p Nodes=ALL\n", "p.xml: hosts: must have different names, not master_"),
        ("NodeName=n Gres=gpu:9999999\nPartitionName=p Nodes=ALL\n", "slurm.conf: gpus: must be a whole number"),
        ("", "slurm.conf: NodeName and PartitionName: are required"),
    ],
)
def test_a_wrong_configuration_makes_no_platform(text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line names the file, the place and the rule."""
    assert run(["slurm", "platform", conf(text), "-o", "p.xml"]) == 2
    assert message in capsys.readouterr().err
    assert not Path("p.xml").exists()


def test_a_file_that_cannot_be_read_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """It is the only line."""
    assert run(["slurm", "check", "none.conf"]) == 2
    assert capsys.readouterr().err == "batsched-py: error: none.conf: cannot be read: No such file or directory\n"


SACCT = (
    "JobID|User|Account|Constraints|State|Submit|Start|End|ReqCPUS|ReqNodes|ReqTRES\n"
    "7|ada|math|ib|COMPLETED|2024-05-31T08:00:00|2024-05-31T08:05:00|2024-05-31T09:05:00|16|2|cpu=16,mem=4G\n"
)


def test_accounting_keeps_what_the_algorithm_needs(capsys: pytest.CaptureFixture[str]) -> None:
    """Sizes are in nodes; without the option nothing changes, and a constraint is reported."""
    Path("s.txt").write_text(SACCT)
    assert run(["convert", "s.txt", "--hosts", "9", "--slurm-members", "--demands", "-o", "w.json"]) == 0
    assert "any host may run any job" not in capsys.readouterr().err
    job = json.loads(Path("w.json").read_text())["jobs"][0]
    assert (job["res"], job["demand"]["cores"]) == (2, 8)
    assert (job["account"], job["slurm"]) == ("math", {"account": "math", "constraint": "ib"})
    assert run(["convert", "s.txt", "--hosts", "99", "-o", "w.json"]) == 0
    assert "any host may run any job" in capsys.readouterr().err
    job = json.loads(Path("w.json").read_text())["jobs"][0]
    assert (job["res"], "slurm" in job) == (16, False)


def test_members_of_slurm_are_for_its_accounting(capsys: pytest.CaptureFixture[str]) -> None:
    """A log in another format, and sizes in CPUs, are refused."""
    Path("s.txt").write_text(SACCT)
    Path("l.swf").write_text("1 0 0 9 1 -1 -1 1 9 -1 1 1 -1 -1 -1 -1 -1 -1\n")
    assert run(["convert", "l.swf", "--slurm-members", "-o", "w.json"]) == 2
    assert "'--slurm-members' is for Slurm's accounting, and l.swf is none" in capsys.readouterr().err
    assert run(["convert", "s.txt", "--slurm-members", "--unit", "cpus", "-o", "w.json"]) == 2
    assert "'--slurm-members' needs '--unit nodes'" in capsys.readouterr().err


def test_a_check_of_accounts_counts_them(capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong line is an error that names it."""
    text = "add qos high priority=1\nParent - 'root'\nAccount - 'math':Fairshare=2\nParent - 'math'\nUser - 'ada'\n"
    assert run(["slurm", "check", conf(), "--dump", conf(text, "d.txt")]) == 0
    assert capsys.readouterr().out.endswith("d.txt: 2 accounts, 2 users and 2 QOS, with root and normal\n")
    assert run(["slurm", "check", conf(), "--dump", conf(text + "User - 'bob':Fairshare=x\n", "d.txt")]) == 2
    assert "error: d.txt: line 6: User - 'bob':Fairshare=x: must be" in capsys.readouterr().err


def test_accounts_are_read_as_a_run_reads_them(capsys: pytest.CaptureFixture[str]) -> None:
    """A run refuses text that is not UTF-8, so the check does as well, also with --json."""
    Path("d.txt").write_bytes(b"Cluster - 'c'\nParent - 'root'\nAccount - 'm\xe9'\n")
    assert run(["slurm", "check", conf(), "--dump", "d.txt", "--json"]) == 2
    assert "error: d.txt: must be text in UTF-8" in capsys.readouterr().err
