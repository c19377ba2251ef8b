"""A store in memory: Batsim's keys, and values that are JSON."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from batsched_py.errors import StoreError
from batsched_py.metadata.memory_store import MemoryStore

JOB = {"id": "w0!1", "res": 1, "profile": "p"}


def test_it_keeps_what_batsim_keeps() -> None:
    """Under the same keys, as the same text; any mapping is an object."""
    store = MemoryStore("lab")
    store.put_host_count(16)
    store.put({"w0!1": MappingProxyType(JOB)}, {("w0", "p"): {"type": "delay", "delay": 10.5}})
    assert store.values == {
        "lab:nb_res": b"16",
        "lab:job_w0!1": b'{"id":"w0!1","res":1,"profile":"p"}',
        "lab:profile_w0!p": b'{"type":"delay","delay":10.5}',
    }


def test_what_is_not_there_is_left_out() -> None:
    """The caller decides what that means."""
    store = MemoryStore()
    store.put({"w0!1": JOB}, {("w0", "p"): {"type": "delay"}})
    assert store.jobs(["w0!1", "w0!2"]) == {"w0!1": JOB}
    assert store.profiles([("w0", "p"), ("w1", "p")]) == {("w0", "p"): {"type": "delay"}}
    assert store.place("w0!2") == "memory: key default:job_w0!2"


@pytest.mark.parametrize(
    ("text", "rule"), [(b"{", "must be JSON: "), (b"", "must be JSON: "), (b"7", "must be a JSON object")]
)
def test_a_value_that_is_no_object_is_named(text: bytes, rule: str) -> None:
    """Its key, not that of another."""
    store = MemoryStore()
    store.put({"w0!1": JOB, "w0!3": JOB})
    store.values["default:job_w0!2"] = text
    with pytest.raises(StoreError, match=rf"^memory: key default:job_w0!2: {rule}"):
        store.jobs(["w0!1", "w0!2", "w0!3"])


def test_what_is_no_json_is_not_kept() -> None:
    """An object of one's own, say."""
    store = MemoryStore()
    with pytest.raises(TypeError):
        store.put({"w0!1": {"res": object()}})
    assert store.values == {}
