"""SIMULATION_BEGINS and its configuration, in both spellings."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.bits import MAX_HOST
from batsched_py.protocol.begins import (
    read_flat_config,
    read_nested_config,
    read_v4,
    read_v14,
    write_nested_config,
    write_v4,
    write_v14,
)
from batsched_py.protocol.events import Config, DescribedHost
from batsched_py.reading.faults import FieldError
from tests.unit.protocol.messages import BEGINS_V4, BEGINS_V14

HOST: dict[str, Any] = {"id": 0, "name": "n0", "state": "idle", "properties": {}}


def v4(**changes: Any) -> dict[str, Any]:
    """The least that a v4 beginning says; a change to None leaves the member out."""
    data = {"config": {}, "compute_resources": [HOST], **changes}
    return {key: value for key, value in data.items() if value is not None}


def v14(**changes: Any) -> dict[str, Any]:
    """The same in v1.4."""
    data = {"nb_resources": 1, "config": {}, "resources_data": [HOST], **changes}
    return {key: value for key, value in data.items() if value is not None}


def test_a_v4_beginning_is_written_back_whole() -> None:
    """Members in Batsim's order, those that nobody describes at the end."""
    assert repr(write_v4(read_v4(0, BEGINS_V4))) == repr(BEGINS_V4)


def test_a_v14_beginning_is_written_back_whole() -> None:
    """Its configuration nested, as it came."""
    assert repr(write_v14(read_v14(0, BEGINS_V14))) == repr(BEGINS_V14)


def test_the_two_spellings_give_equal_facts() -> None:
    """BA-2: but for what v1.4 does not carry."""
    facts = read_v4(0, BEGINS_V4)
    common = replace(
        facts,
        resources=tuple(replace(host, zone_properties=None, extra={}) for host in facts.resources),
        storages=(),
        workloads={},
        profiles={},
        extra={},
        config=replace(
            facts.config, profile_reuse=False, forward_unknown_events=False, scheduler_config="", members={}
        ),
    )
    seed = read_v14(0, BEGINS_V14)
    assert replace(seed, extra={}, config=replace(seed.config, members={})) == common


def test_hosts_of_v4_tell_their_zone() -> None:
    """Storage stands apart, numbered after the hosts."""
    facts = read_v4(0, BEGINS_V4)
    assert facts.resources[0] == DescribedHost(0, "n0", "idle", {"role": ""}, {"rack": "r0"}, {"mine": 1})
    assert [storage.id for storage in facts.storages] == [2]


def test_a_beginning_without_counts_storage_workloads_and_profiles_is_read() -> None:
    """Older versions say less."""
    assert read_v4(0, v4()).resources == (DescribedHost(0, "n0", "idle", {}),)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"config": None}, "config"),
        ({"config": []}, "config"),
        ({"compute_resources": None}, "compute_resources"),
        ({"compute_resources": {}}, "compute_resources"),
        ({"compute_resources": [5]}, "compute_resources[0].id"),
        ({"compute_resources": [HOST, HOST]}, "compute_resources[1].id"),
        ({"compute_resources": [{**HOST, "id": -1}]}, "compute_resources[0].id"),
        ({"compute_resources": [{**HOST, "id": MAX_HOST + 1}]}, "compute_resources[0].id"),
        ({"compute_resources": [{**HOST, "id": "0"}]}, "compute_resources[0].id"),
        ({"compute_resources": [{**HOST, "id": 0.0}]}, "compute_resources[0].id"),
        ({"compute_resources": [{**HOST, "name": 0}]}, "compute_resources[0].name"),
        ({"compute_resources": [{**HOST, "state": None}]}, "compute_resources[0].state"),
        ({"compute_resources": [{**HOST, "properties": []}]}, "compute_resources[0].properties"),
        ({"compute_resources": [{**HOST, "zone_properties": []}]}, "compute_resources[0].zone_properties"),
        ({"storage_resources": [HOST]}, "storage_resources"),
        ({"storage_resources": [{}]}, "storage_resources[0].id"),
        ({"nb_resources": 2}, "nb_resources"),
        ({"nb_compute_resources": 2}, "nb_compute_resources"),
        ({"nb_storage_resources": 1}, "nb_storage_resources"),
        ({"nb_resources": "1"}, "nb_resources"),
        ({"allow_compute_sharing": 1}, "allow_compute_sharing"),
        ({"allow_storage_sharing": "true"}, "allow_storage_sharing"),
        ({"workloads": {"w0": 5}}, "w0"),
        ({"workloads": []}, "workloads"),
        ({"profiles": {"w0": []}}, "w0"),
        ({"profiles": {"w0": {"p": "delay"}}}, "p"),
        ({"config": {"redis-enabled": "no"}}, "redis-enabled"),
        ({"config": {"redis-port": "6379"}}, "redis-port"),
        ({"config": {"redis-prefix": 5}}, "redis-prefix"),
        ({"config": {"dynamic-jobs-enabled": 1}}, "dynamic-jobs-enabled"),
        ({"config": {"sched-config": {}}}, "sched-config"),
    ],
)
def test_a_wrong_member_of_v4_is_named(changes: dict[str, Any], path: str) -> None:
    """With the place in the list, if it is in one."""
    with pytest.raises(FieldError) as caught:
        read_v4(0, v4(**changes))
    assert caught.value.path.endswith(path)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"config": None}, "config"),
        ({"resources_data": 1}, "resources_data"),
        ({"resources_data": [HOST, {**HOST, "id": None}]}, "resources_data[1].id"),
        ({"nb_resources": 4}, "nb_resources"),
        ({"allow_time_sharing": 0}, "allow_time_sharing"),
        ({"config": {"redis": True}}, "redis"),
        ({"config": {"redis": {"enabled": 1}}}, "enabled"),
        ({"config": {"job_submission": {"from_scheduler": []}}}, "from_scheduler"),
        ({"config": {"job_submission": {"from_scheduler": {"acknowledge": None}}}}, "acknowledge"),
    ],
)
def test_a_wrong_member_of_v14_is_named(changes: dict[str, Any], path: str) -> None:
    """As in v4."""
    with pytest.raises(FieldError) as caught:
        read_v14(0, v14(**changes))
    assert caught.value.path.endswith(path)


def test_an_empty_flat_configuration_has_batsims_defaults() -> None:
    """Nothing is switched on."""
    assert read_flat_config({}) == Config()


def test_an_empty_nested_configuration_acknowledges_jobs() -> None:
    """In v1.4 that is on unless switched off."""
    assert read_nested_config({}) == Config(dynamic_jobs_acknowledged=True)


@pytest.mark.parametrize(
    ("key", "value", "attribute"),
    [
        ("redis-enabled", True, "redis"),
        ("redis-hostname", "db", "redis_hostname"),
        ("redis-port", 1, "redis_port"),
        ("redis-prefix", "x", "redis_prefix"),
        ("profiles-forwarded-on-submission", True, "profiles_forwarded"),
        ("dynamic-jobs-enabled", True, "dynamic_jobs"),
        ("dynamic-jobs-acknowledged", True, "dynamic_jobs_acknowledged"),
        ("profile-reuse-enabled", True, "profile_reuse"),
        ("forward-unknown-events", True, "forward_unknown_events"),
        ("sched-config", "{}", "scheduler_config"),
    ],
)
def test_each_key_of_the_flat_configuration_has_its_attribute(key: str, value: Any, attribute: str) -> None:
    """It sets no other."""
    assert read_flat_config({key: value}) == replace(Config(members={key: value}), **{attribute: value})


def test_keys_of_a_users_own_stay_in_the_configuration() -> None:
    """v1.4 hands its whole configuration file on."""
    assert read_nested_config({"mine": [1]}).members["mine"] == [1]


def test_the_options_of_an_algorithm_are_written_in_v14_too() -> None:
    """As a key of the user's own."""
    config = Config(scheduler_config='{"depth": 3}')
    assert read_nested_config(write_nested_config(config)).scheduler_config == '{"depth": 3}'


def test_the_options_of_an_algorithm_may_be_an_object_in_v14() -> None:
    """Batsim 1 sends what stands in its --config-file, where a text with JSON in it is a nuisance."""
    options = {"depth": 3, "order": "fcfs"}
    assert json.loads(read_nested_config({"sched-config": options}).scheduler_config) == options
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"a": deep}
    for wrong in (["depth"], 3, deep):
        with pytest.raises(FieldError, match="sched-config"):
            read_nested_config({"sched-config": wrong})
