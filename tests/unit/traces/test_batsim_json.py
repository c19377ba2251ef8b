"""Batsim's workload files, read and written."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.campaigns import simulate
from batsched_py.errors import WorkloadError
from batsched_py.model.job import Job
from batsched_py.model.profile import Delay, parse_profile
from batsched_py.model.workload import Workload
from batsched_py.reading.limits import LATEST, SHORTEST
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.batsim_json_writer import write_workload
from tests.platforms import plain_platform

DELAY = {"type": "delay", "delay": 5}


def job(name: int | str = "1", **members: Any) -> dict[str, Any]:
    """A job of a workload file; a member of None is left out."""
    whole = {"id": name, "subtime": 0, "res": 1, "profile": "d", **members}
    return {key: value for key, value in whole.items() if value is not None}


def read(tmp_path: Path, *jobs: object, profiles: object = None, **rest: Any) -> Workload:
    """The workload of these jobs, with the delay profile "d" unless others are given."""
    document = {"nb_res": 4, "jobs": list(jobs), "profiles": {"d": DELAY} if profiles is None else profiles}
    return read_text(tmp_path, json.dumps({**document, **rest}))


def read_text(tmp_path: Path, text: str) -> Workload:
    """The workload of this text."""
    path = tmp_path / "w.json"
    path.write_text(text)
    return read_workload(path)


def test_job(tmp_path: Path) -> None:
    """A job has its members as attributes."""
    (only,) = read(tmp_path, job("a", subtime=1.5, res=3, walltime=10)).jobs
    assert (only.id, only.submit_time, only.size, only.walltime, only.profile) == ("a", 1.5, 3, 10, "d")


def test_profiles_are_typed(tmp_path: Path) -> None:
    """A profile that no job uses is read too."""
    profile = read(tmp_path).profiles["d"]
    assert isinstance(profile, Delay)
    assert profile.delay == 5.0


def test_host_count(tmp_path: Path) -> None:
    """`nb_res` is the machine's size."""
    assert read(tmp_path).host_count == 4


def test_host_count_is_optional(tmp_path: Path) -> None:
    """A file that does not say `nb_res` is of unknown size."""
    assert read_text(tmp_path, '{"jobs": [], "profiles": {}}').host_count == 0


def test_integer_id(tmp_path: Path) -> None:
    """A job number becomes a name, and stays a number in what is forwarded."""
    (only,) = read(tmp_path, job(12)).jobs
    assert only.id == "12"
    assert only.members["id"] == 12


def test_members_are_kept(tmp_path: Path) -> None:
    """Members of the author's own are kept, and integers stay integers."""
    members = job(subtime=3, walltime=7, note={"k": [0, "x"]})
    (only,) = read(tmp_path, members).jobs
    assert only.members == members
    assert [type(only.members[key]) for key in ("subtime", "walltime")] == [int, int]


def test_order_of_submission(tmp_path: Path) -> None:
    """Jobs come by submission time, and jobs of one time by id as text."""
    jobs = [job(name, subtime=time) for name, time in (("2", 5), ("1001", 5), ("10", 5), ("9", 1), ("1", 5))]
    assert [read.id for read in read(tmp_path, *jobs).jobs] == ["9", "1", "10", "1001", "2"]


@pytest.mark.parametrize("walltime", [None, -1, -1.0])
def test_no_walltime(tmp_path: Path, walltime: float | None) -> None:
    """A walltime that is absent or -1 is none."""
    assert read(tmp_path, job(walltime=walltime)).jobs[0].walltime is None


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (job(walltime=0), r"jobs\[1\]\.walltime: must be a number of seconds greater than 0, or -1 for none, not 0"),
        (job(walltime=-5), r"jobs\[1\]\.walltime: .* not -5"),
        (job(walltime=1e-300), r"jobs\[1\]\.walltime: must be at least 1e-06 s, .* not 1e-300"),
        (job(walltime="9"), r"jobs\[1\]\.walltime: .* not '9'"),
        (job(walltime=True), r"jobs\[1\]\.walltime: .* not True"),
        (job(subtime=-1), r"jobs\[1\]\.subtime: must be a number of seconds from 0, not -1"),
        (
            job(walltime=6e10 + 1),
            r"jobs\[1\]\.walltime: must be at most 60000000000 s, .* not 60000000001\.0; -1 is none",
        ),
        (job(subtime=1e300), r"jobs\[1\]\.subtime: must be at most 100000000000 s, .* not 1e\+300"),
        (job(subtime=2**64), r"jobs\[1\]\.subtime: must be at most 100000000000 s"),
        (job(subtime=6e10 + 0.5), r"jobs\[1\]\.subtime: must be .*, and above 60000000000 s without a fraction, not 6"),
        (job(subtime=None), r"jobs\[1\]\.subtime: is missing"),
        (job(res=None), r"jobs\[1\]\.res: is missing"),
        (job(res=1.5), r"jobs\[1\]\.res: must be a whole number of hosts from 0, not 1\.5"),
        (job(res=-1), r"jobs\[1\]\.res: must be"),
        (job(res=True), r"jobs\[1\]\.res: must be"),
        (job(profile="x"), r"jobs\[1\]\.profile: must name one of the profiles, not 'x'"),
        (job(profile=["d"]), r"jobs\[1\]\.profile: must name"),
        (job(profile=None), r"jobs\[1\]\.profile: is missing"),
        (job("w0!1"), r"jobs\[1\]\.id: must be a whole number, or a text without '!', not 'w0!1'"),
        (job(""), r"jobs\[1\]\.id: must be a whole number"),
        (job("a,b"), r"jobs\[1\]\.id: must have no comma, double quote, line break .* not 'a,b'"),
        (job('a"b'), r"jobs\[1\]\.id: must have no comma"),
        (job("a\nb"), r"jobs\[1\]\.id: must have no comma.* not 'a\\nb'"),
        (job("a\x1bb"), r"jobs\[1\]\.id: must have no comma"),
        (job("a\x85b"), r"jobs\[1\]\.id: must have no comma"),
        (job("first"), r"jobs\[1\]\.id: is the id of two jobs: 'first'"),
        ("job", r"jobs\[1\]: must be an object, not 'job'"),
    ],
)
def test_broken_rules_of_jobs(tmp_path: Path, members: object, message: str) -> None:
    """A job that breaks a rule is named by its place in the file, with the member and the rule."""
    with pytest.raises(WorkloadError, match=rf"w\.json: {message}"):
        read(tmp_path, job("first"), members)


def test_size_of_parallel_profile(tmp_path: Path) -> None:
    """A job has as many hosts as its parallel profile says numbers of flops, as Batsim requires."""
    profiles = {"d": {"type": "parallel", "cpu": [1, 2], "com": [0, 0, 0, 0]}}
    assert read(tmp_path, job(res=2), profiles=profiles).jobs[0].size == 2
    with pytest.raises(WorkloadError, match=r"jobs\[0\]\.res: must be 2, as many as the hosts of profile 'd'"):
        read(tmp_path, job(res=3), profiles=profiles)


def test_number_and_text_are_one_id(tmp_path: Path) -> None:
    """The ids 1 and "1" are the same job."""
    with pytest.raises(WorkloadError, match=r"jobs\[1\]\.id: is the id of two jobs"):
        read(tmp_path, job(1), job("1"))


@pytest.mark.parametrize(
    ("profiles", "message"),
    [
        ({"p": 3}, r"profiles\.p: must be an object, not 3"),
        ({"p": {}}, r"profiles\.p\.type: is missing"),
        ({"p": {"type": "delay"}}, r"profiles\.p\.delay: is missing"),
        ({"p": {"type": "delay", "delay": 1e11}}, r"profiles\.p\.delay: must be at most 60000000000 s, .* not 1"),
        ({"p\n": DELAY}, r"profiles\.p\\n: must have no comma, .* not 'p\\n'"),
        ({"p": {"type": "delay", "delay": 0}}, r"profiles\.p\.delay: must be a number of seconds greater than 0"),
        (
            {"p": {"type": "dealy"}},
            r"profiles\.p\.type: 'dealy' is not a type of profile; the types simulated here are d",
        ),
        ({"p": {"type": "msg_par_hg"}}, r"profiles\.p\.cpu: is missing"),
        *(
            (
                {"p": {"type": kind}},
                rf"profiles\.p\.type: '{kind}' is executed by Batsim only: run the workload there, or",
            )
            for kind in ("trace", "msg_par_hg_pfs", "msg_par_hg_pfs_tiers")
        ),
        ({"p": {"type": "smpi"}}, r"profiles\.p\.trace: is missing"),
        ({"p": {"type": "usage_trace", "trace": 3}}, r"profiles\.p\.trace: must be the name of a file, not 3"),
        ({"p": {"type": "send", "msg": "x"}}, r"profiles\.p\.msg: must be an object, not 'x'"),
        ({"p": {"type": "recv", "timeout": "q"}}, r"profiles\.p\.timeout: names profile 'q', which does not exist"),
        (
            {"p": {"type": "send", "msg": {}, "sleeptime": 1e11}},
            r"profiles\.p\.sleeptime: must be at most 60000000000 s",
        ),
        ({"p": {"type": "composed", "seq": ["q"]}}, r"profiles\.p\.seq: names profile 'q', which does not exist"),
        ({"p": {"type": "composed", "seq": ["p"]}}, r"profiles\.p\.seq: must not contain itself: p > p"),
        ([], r"profiles: must be an object"),
    ],
)
def test_broken_rules_of_profiles(tmp_path: Path, profiles: object, message: str) -> None:
    """A profile that breaks a rule is named, with the member and the rule."""
    with pytest.raises(WorkloadError, match=rf"w\.json: {message}"):
        read(tmp_path, profiles=profiles)


def test_a_workload_of_batsim_1_is_read_and_written_as_it_stands(tmp_path: Path) -> None:
    """Its names of profile types, `nb`, ids that are numbers."""
    profiles = {
        "m": {"type": "msg_par", "cpu": [1, 2], "com": [0, 0, 0, 0]},
        "h": {"type": "msg_par_hg", "cpu": 1e6, "com": 0},
        "t": {"type": "msg_par_hg_tot", "cpu": 1e6, "com": 0},
        "c": {"type": "composed", "nb": 4, "seq": ["m", "h"]},
    }
    found = read(tmp_path, job(1, profile="m", res=2), job(2, profile="c"), profiles=profiles)
    assert [type(profile).__name__ for profile in found.profiles.values()] == [
        *("Parallel", "ParallelHomogeneous", "ParallelHomogeneousTotal", "Composed")
    ]
    again = tmp_path / "again.json"
    write_workload(again, found)
    assert json.loads(again.read_text())["profiles"] == profiles
    with pytest.raises(WorkloadError, match=r"jobs\[0\]\.res: must be 2, as many as the hosts of profile 'm'"):
        read(tmp_path, job(1, profile="m", res=3), profiles=profiles)


def test_cycle_of_profiles(tmp_path: Path) -> None:
    """A cycle through several composed profiles is shown in the order of containment."""
    profiles = {
        "a": {"type": "composed", "seq": ["d", "b"]},
        "b": {"type": "composed", "seq": ["c"]},
        "c": {"type": "composed", "seq": ["a"]},
        "d": DELAY,
    }
    with pytest.raises(WorkloadError, match=r"must not contain itself: (a > b > c > a|b > c > a > b|c > a > b > c)$"):
        read(tmp_path, profiles=profiles)


def test_a_long_cycle_is_cut_and_safe_to_show(tmp_path: Path) -> None:
    """Names of profiles may have any length, and characters that change the writing direction."""
    names = [f"\u202e{number}" for number in range(500)]
    profiles = {one: {"type": "composed", "seq": [names[number - 1]]} for number, one in enumerate(names)}
    with pytest.raises(WorkloadError) as caught:
        read(tmp_path, profiles=profiles)
    assert "\u202e" not in caught.value.rule
    assert len(caught.value.rule) < 300


def test_composed_profiles_may_share_parts(tmp_path: Path) -> None:
    """Containing a profile twice, by two ways, is no cycle."""
    profiles = {
        "a": {"type": "composed", "seq": ["b", "c", "d"]},
        "b": {"type": "composed", "seq": ["d"]},
        "c": {"type": "composed", "seq": ["b", "d"]},
        "d": DELAY,
    }
    assert set(read(tmp_path, profiles=profiles).profiles) == set("abcd")


def test_a_recv_may_go_on_with_itself(tmp_path: Path) -> None:
    """To wait again; also by way of a composed profile."""
    profiles = {"r": {"type": "recv", "failure": "r", "success": "c"}, "c": {"type": "composed", "seq": ["d", "r"]}}
    assert set(read(tmp_path, profiles={**profiles, "d": DELAY}).profiles) == set("rcd")


def test_profiles_of_batsim_only(tmp_path: Path) -> None:
    """A workload for Batsim alone may use all that Batsim executes."""
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"jobs": [job(profile="s")], "profiles": {"s": {"type": "smpi", "trace": "t"}}}))
    assert read_workload(path, simulated_only=False).profiles["s"].type == "smpi"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"line 1, column \d+: is not JSON"),
        ("{", r"line 1, column \d+: is not JSON"),
        ("[]", r"must be an object"),
        ("{}", r"profiles: is missing"),
        ('{"profiles": {}}', r"jobs: is missing"),
        ('{"profiles": {}, "jobs": {}}', r"jobs: must be a list"),
        ('{"nb_res": -1}', r"nb_res: must be a whole number of hosts from 0, not -1"),
        ('{"nb_res": NaN, "jobs": []}', r"nb_res: must be a number, not NaN"),
        ('{"jobs": [], } // comment', r"line 1, column \d+: is not JSON"),
    ],
)
def test_not_a_workload(tmp_path: Path, text: str, message: str) -> None:
    """A file that is no workload at all is refused in one line."""
    with pytest.raises(WorkloadError, match=rf"w\.json: {message}") as caught:
        read_text(tmp_path, text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("member", "value"),
    [("id", '"2"'), ("subtime", "3"), ("res", "2"), ("walltime", "8"), ("profile", '"d"')],
)
def test_a_member_of_a_job_that_stands_twice(tmp_path: Path, member: str, value: str) -> None:
    """It is not clear which one is meant, whatever JSON readers do."""
    text = json.dumps({"jobs": [job(1, walltime=9), job(2)], "profiles": {"d": DELAY}})
    text = text.replace('{"id": 1', f'{{"{member}": {value}, "id": 1')
    if member == "walltime":
        text = text.replace('{"id": 2', '{"walltime": 5, "id": 2')
    with pytest.raises(WorkloadError, match=rf"w\.json: jobs\[0\]: has the member '{member}' twice$"):
        read_text(tmp_path, text)


def test_a_profile_that_stands_twice(tmp_path: Path) -> None:
    """Its jobs would do what the second one says."""
    text = '{"jobs": [], "profiles": {"d": {"type": "delay", "delay": 1}, "d": {"type": "delay", "delay": 2}}}'
    with pytest.raises(WorkloadError, match=r"w\.json: profiles: has the member 'd' twice$"):
        read_text(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"description": "a", "description": "b", "jobs": [], "profiles": {}}', "has the member 'description'"),
        ('{"jobs": [%s, "mine": 2}], "profiles": %s}', r"jobs\[0\]: has the member 'mine'"),
        ('{"jobs": [%s, "o": {"a": 1, "a": 2}}], "profiles": %s}', r"jobs\[0\]\.o: has the member 'a'"),
        (
            '{"jobs": [], "profiles": {"d": {"type": "delay", "delay": 1, "x": 1, "x": 1}}}',
            r"profiles\.d: has the member 'x'",
        ),
    ],
)
def test_any_other_member_that_stands_twice(tmp_path: Path, text: str, place: str) -> None:
    """Members of the authors' own, too: algorithms read one of them, and Batsim forwards another."""
    own = '{"id": 1, "subtime": 0, "res": 1, "profile": "d", "mine": 1'
    text = text % (own, json.dumps({"d": DELAY})) if "%" in text else text
    with pytest.raises(WorkloadError, match=rf"w\.json: {place} twice$"):
        read_text(tmp_path, text)


def test_colons_in_texts_and_odd_blanks_are_no_members(tmp_path: Path) -> None:
    """They change the number of texts before colons; nothing stands twice."""
    text = json.dumps({"jobs": [job(1, note='a":b":')], "profiles": {"d": DELAY}}, separators=(",", " : "))
    assert len(read_text(tmp_path, text).jobs) == 1
    assert len(read_text(tmp_path, text.replace(" : ", "\n:")).jobs) == 1


def test_members_of_the_authors_own_may_be_called_like_those_of_the_format(tmp_path: Path) -> None:
    """Nothing stands twice in one object."""
    assert len(read(tmp_path, job(1, note={"id": 3, "res": "id"}), job(2)).jobs) == 2


def test_a_name_with_spaces(tmp_path: Path) -> None:
    """Logs have such names, and a table can hold them."""
    assert read(tmp_path, job("my job 1")).jobs[0].id == "my job 1"


def test_the_longest_times(tmp_path: Path) -> None:
    """The bound itself is allowed, and 10 us still count there."""
    (only,) = read(tmp_path, job(subtime=60_000_000_000, walltime=6e10), profiles={"d": {**DELAY, "delay": 6e10}}).jobs
    assert only.submit_time + 1e-5 > only.submit_time


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there is named."""
    with pytest.raises(WorkloadError, match=r"none\.json: cannot be read: No such file"):
        read_workload(tmp_path / "none.json")


def test_one_job_a_line(tmp_path: Path) -> None:
    """A written workload can be read by a person and compared by lines."""
    path = tmp_path / "w.json"
    made = Workload(
        "test",
        2,
        (
            Job.create("1", size=1, profile="d", submit_time=0.0, walltime=9),
            Job.create("2", size=2, profile="d", submit_time=3),
        ),
        {"d": parse_profile("d", DELAY)},
    )
    write_workload(path, made, description="two jobs")
    assert path.read_text().splitlines() == [
        "{",
        '  "nb_res": 2,',
        '  "description": "two jobs",',
        '  "jobs": [',
        '    {"id":"1","subtime":0.0,"res":1,"profile":"d","walltime":9},',
        '    {"id":"2","subtime":3,"res":2,"profile":"d"}',
        "  ],",
        '  "profiles": {',
        '    "d": {"type":"delay","delay":5}',
        "  }",
        "}",
    ]


def test_unknown_machine_is_as_large_as_its_largest_job(tmp_path: Path) -> None:
    """Batsim wants `nb_res`, so a workload that does not know its machine says the least it may be."""
    path = tmp_path / "w.json"
    write_workload(path, Workload("test", 0, (Job.create("1", size=7, profile="d"),), {"d": parse_profile("d", DELAY)}))
    assert read_workload(path).host_count == 7


def test_changed_attributes_are_written(tmp_path: Path) -> None:
    """A job's attributes prevail over the members it was read with; a workload's name is left out."""
    path = tmp_path / "w.json"
    changed = Job(
        "w0!1", 8.0, 3, None, "d", {"id": 9, "subtime": 1, "res": 2, "walltime": 4, "profile": "e", "user": 1}
    )
    write_workload(path, Workload("test", 4, (changed,), {"d": parse_profile("d", DELAY)}))
    (only,) = read_workload(path).jobs
    assert only.members == {"id": "1", "subtime": 8.0, "res": 3, "walltime": -1, "profile": "d", "user": 1}


def test_failed_writing_leaves_the_old_file(tmp_path: Path) -> None:
    """A workload that is not JSON changes nothing on the disk."""
    path = tmp_path / "w.json"
    path.write_text("old")
    strange = Job.create("1", size=1, profile="d", extra={"what": object()})
    with pytest.raises(WorkloadError, match=r"w\.json: cannot be written as JSON"):
        write_workload(path, Workload("test", 1, (strange,), {"d": parse_profile("d", DELAY)}))
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("w.json", "old")]


def test_written_file_keeps_its_mode(tmp_path: Path) -> None:
    """Replacing a file leaves its permissions, although temporary files are private."""
    path = tmp_path / "w.json"
    path.write_text("old")
    path.chmod(0o640)
    write_workload(path, Workload("test", 1, (), {}))
    assert path.stat().st_mode & 0o777 == 0o640


TIMES = st.one_of(st.integers(0, 10**9), st.floats(0, 1e9))
JOBS = st.builds(
    lambda subtime, size, walltime, user: {
        "subtime": subtime, "res": size, "profile": "d", "walltime": walltime, "user": user
    },
    TIMES,
    st.integers(0, 10_000),
    st.one_of(st.just(-1), TIMES.filter(lambda time: time >= SHORTEST)),
    st.text(max_size=3),
)  # fmt: skip


@given(st.lists(JOBS, max_size=8))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, objects: list[dict[str, Any]]) -> None:
    """A workload that is written and read again is the same, and written again has the same bytes."""
    folder = tmp_path_factory.mktemp("round")
    first = read(folder, *({"id": index, **members} for index, members in enumerate(objects)))
    one, two = folder / "one.json", folder / "two.json"
    write_workload(one, first)
    second = read_workload(one)
    assert (second.jobs, second.profiles, second.host_count) == (first.jobs, first.profiles, first.host_count)
    write_workload(two, second)
    assert one.read_bytes() == two.read_bytes()


def test_the_date_of_a_log_stays(tmp_path: Path) -> None:
    """It is written with its offset, and read again."""
    start = datetime(1996, 9, 23, 12, tzinfo=timezone(timedelta(hours=2)))
    write_workload(tmp_path / "w.json", Workload("a test", 4, (), {}, log_start=start))
    assert b'"log_start": "1996-09-23T12:00:00+02:00",\n' in (tmp_path / "w.json").read_bytes()
    assert read_workload(tmp_path / "w.json").log_start == start


@pytest.mark.parametrize("text", ['"1996-09-23T12:00:00"', '"soon"', "7", "[]"])
def test_a_date_without_an_offset_is_none(tmp_path: Path, text: str) -> None:
    """Nobody would know which instant is meant."""
    (tmp_path / "w.json").write_text(f'{{"nb_res": 1, "log_start": {text}, "jobs": [], "profiles": {{}}}}')
    with pytest.raises(WorkloadError, match=r"w\.json: log_start: must be a date and a time with an offset, like 1996"):
        read_workload(tmp_path / "w.json")


def test_a_submission_may_be_later_if_it_has_no_fraction(tmp_path: Path) -> None:
    """As in a workload of Batsim's own tests; a job that takes no time still ends later than it begins."""
    late = read(tmp_path, job(subtime=1e11, walltime=1), profiles={"d": {**DELAY, "delay": 1e-9}})
    (record,) = simulate(plain_platform(4), late, "easy").result.jobs
    assert (record.start, late.jobs[0].submit_time) == (1e11, 1e11)
    assert record.finish > record.start


@pytest.mark.parametrize("instant", [2**36, 1e11, 2**37 - 1])
def test_ten_microseconds_are_seen_up_to_the_last_instant(instant: float) -> None:
    """The reason for the limit."""
    assert instant + 1e-5 > instant
    assert LATEST < 2**37
    assert 2.0**37 + 1e-5 == 2.0**37


def test_a_member_that_stands_twice_among_many_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are read in another way, and those with objects inside are counted once more."""
    monkeypatch.setattr("batsched_py.traces.batsim_json.MANY", 1)
    many = {"jobs": [job(number, lease={"start": 5}) for number in range(3)], "profiles": {"d": DELAY}}
    assert len(read_text(tmp_path, json.dumps(many)).jobs) == 3
    with pytest.raises(WorkloadError, match=r"jobs\[2\]\.lease: has the member 'start' twice$"):
        read_text(tmp_path, '{"start": 6, "start": 5}'.join(json.dumps(many).rsplit('{"start": 5}', 1)))


@pytest.mark.parametrize("many", [0, 50_000])
def test_all_faults_of_jobs_are_in_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    """However they are read; at most 100."""
    monkeypatch.setattr("batsched_py.traces.batsim_json.MANY", many)
    jobs = [job(1), job(2, res=-1), job(1), job(3, subtime=None), *(job(n, res="x") for n in range(10, 200))]
    with pytest.raises(
        WorkloadError, match=r"w\.json: jobs\[1\]\.res: must .* not -1 \(and 99 other errors\)$"
    ) as caught:
        read_text(tmp_path, json.dumps({"jobs": jobs, "profiles": {"d": DELAY}}))
    assert [str(fault) for fault in caught.value.others[:2]] == [
        "jobs[2].id: is the id of two jobs: '1'",
        "jobs[3].subtime: is missing",
    ]


def test_all_faults_of_profiles_are_in_one_error(tmp_path: Path) -> None:
    """It has those of their members; then those of their references."""
    profiles: dict[str, Any] = {"a": {"type": "delay"}, "b": {**DELAY, "delay": -1}, "c,": DELAY}
    with pytest.raises(WorkloadError) as caught:
        read_text(tmp_path, json.dumps({"jobs": [], "profiles": profiles}))
    assert [fault.path for fault in caught.value.faults] == ["profiles.a.delay", "profiles.b.delay", "profiles.c,"]
    profiles = {"a": {"type": "composed", "seq": ["x"]}, "r": {"type": "recv", "success": "y"}}
    with pytest.raises(WorkloadError) as caught:
        read_text(tmp_path, json.dumps({"jobs": [], "profiles": profiles}))
    assert [fault.path for fault in caught.value.faults] == ["profiles.a.seq", "profiles.r.success"]
