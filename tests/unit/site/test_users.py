"""The file of a site's users: what it keeps, and what it refuses."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.main import run
from batsched_py.errors import OptionError
from batsched_py.site.users import SiteUsers, add_user, list_users, remove_user

HASH, OTHER = sha256(b"a").hexdigest(), sha256(b"b").hexdigest()


def written(path: Path, content: Any) -> Path:
    """Write a file of users that only its owner may read."""
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    path.chmod(0o600)
    return path


def test_a_token_finds_its_user_and_is_not_kept(tmp_path: Path) -> None:
    """The file has its hash, and access for the owner only, whatever the mask of the process."""
    file, mask = tmp_path / "users.json", os.umask(0)
    try:
        ann, eve = add_user(file, "ann", "red", "user"), add_user(file, "eve", "", "operator")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    users = SiteUsers(file)
    found = [users.find(token) for token in (ann, eve, ann.lower() + "x", "")]
    assert [one and (one.name, one.group, one.role) for one in found] == [
        ("ann", "red", "user"), ("eve", "", "operator"), None, None,
    ]  # fmt: skip
    assert ann not in file.read_text()
    assert len(ann) >= 43


def test_a_user_who_was_removed_is_not_found_after_a_refresh(tmp_path: Path) -> None:
    """The others are, with the same tokens."""
    file = tmp_path / "users.json"
    ann, eve = add_user(file, "ann", "", "user"), add_user(file, "eve", "", "user")
    users = SiteUsers(file)
    remove_user(file, "ann")
    users.refresh()
    assert users.find(ann) is None
    assert users.find(eve) is not None


def test_nobody_is_found_while_the_file_cannot_be_used(tmp_path: Path) -> None:
    """A removed user must not stay because the file is wrong elsewhere."""
    file = tmp_path / "users.json"
    ann = add_user(file, "ann", "", "user")
    users, content = SiteUsers(file), file.read_text()
    for spoil in (lambda: written(file, "{"), lambda: file.chmod(0o640), file.unlink):
        spoil()
        with pytest.raises(OptionError):
            users.refresh()
        assert users.find(ann) is None
        written(file, content)
        users.refresh()
        assert users.find(ann) is not None


def test_commands_at_the_same_moment_lose_no_user(tmp_path: Path) -> None:
    """Each waits for the file that it changes."""
    file = tmp_path / "users.json"
    with ThreadPoolExecutor(4) as pool:
        tokens = list(pool.map(lambda number: add_user(file, f"user {number}", "", "user"), range(20)))
    users = SiteUsers(file)
    assert [one and one.name for one in map(users.find, tokens)] == [f"user {number}" for number in range(20)]


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        ("[]", "Expected `object`, got `array`"),
        ("{", "truncated"),
        ({"users": [{"name": "a"}]}, "missing required field `sha256`"),
        ({"users": [{"name": "a", "sha256": HASH, "rights": 1}]}, "unknown field `rights`"),
        ({"users": [{"name": "a", "sha256": HASH, "role": "root"}]}, "Invalid enum value 'root'"),
        ({"users": [{"name": "a", "sha256": HASH.upper()}]}, "users[0].sha256: must be 64 hexadecimal digits"),
        ({"users": [{"name": "a", "sha256": "0"}]}, "users[0].sha256: must be 64 hexadecimal digits"),
        ({"users": [{"name": "local", "sha256": HASH}]}, "users[0].name: must not be local, which is reserved"),
        ({"users": [{"name": "a\nb", "sha256": HASH}]}, "users[0].name: must be printable text"),
        ({"users": [{"name": " a", "sha256": HASH}]}, "users[0].name: must not begin or end with a blank"),
        ({"users": [{"name": "", "sha256": HASH}]}, "users[0].name: must not be empty"),
        ({"users": [{"name": "a", "sha256": HASH, "group": "r,s"}]}, "users[0].group: must be printable text"),
        ({"users": [{"name": "a", "sha256": HASH}, {"name": "a", "sha256": OTHER}]}, "users[1].name: a appears twice"),
        ({"users": [{"name": "a", "sha256": HASH}, {"name": "b", "sha256": HASH}]}, "two users have the same token"),
    ],
)
def test_a_file_with_a_fault_is_refused_in_one_line(tmp_path: Path, content: Any, rule: str) -> None:
    """The line names the file and the fault."""
    file = written(tmp_path / "users.json", content)
    with pytest.raises(OptionError) as caught:
        list_users(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert rule in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_pipe_and_a_file_that_others_may_read_are_refused(tmp_path: Path) -> None:
    """Without waiting for a writer."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    with pytest.raises(OptionError, match="must be a regular file"):
        SiteUsers(pipe)
    with pytest.raises(OptionError, match="must be a regular file"):
        add_user(pipe, "ann", "", "user")
    file = written(tmp_path / "users.json", {"users": []})
    file.chmod(0o604)
    with pytest.raises(OptionError, match="only its owner may have access"):
        add_user(file, "ann", "", "user")


def test_the_commands_add_list_and_remove(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A token is printed once; what cannot be done is one line."""
    file = str(tmp_path / "users.json")
    assert run(["site", "users", "add", "ann", "--group", "red", "--file", file]) == 0
    token = capsys.readouterr().out.strip()
    assert len(token) == 43
    assert run(["site", "users", "list", "--file", file]) == 0
    listed = capsys.readouterr().out
    assert "ann" in listed
    assert token not in listed
    assert run(["site", "users", "add", "ann", "--file", file]) == 2
    again = capsys.readouterr()
    assert again.out == ""
    assert "user 'ann' exists already" in again.err
    assert [run(["site", "users", "remove", "ann", "--file", file]) for _ in range(2)] == [0, 2]
    assert run(["site", "-p", "p.xml", "--users", file, "--token-file", file]) == 2
