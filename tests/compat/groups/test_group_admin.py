"""Groups seen and changed from outside: ListGroups, DescribeGroups, DeleteGroups, OffsetCommit, OffsetDelete."""

from collections.abc import Callable

import pytest

from compat.client import ClientFailure
from compat.groups.confluent_admin import ConfluentAdmin
from compat.groups.conftest import OpenMember
from compat.groups.java_admin import JavaAdmin
from compat.groups.member import wait_for_assignments
from compat.groups.waiting import wait_until

Admin = ConfluentAdmin | JavaAdmin


def test_a_group_through_its_life(
    new_topic: Callable[..., str], open_member: OpenMember, admin: Admin, group: str
) -> None:
    topic = new_topic(2)
    assert group not in admin.list_groups()
    member = open_member("c1")
    wait_for_assignments({member: [(topic, 0), (topic, 1)]})
    wait_until(lambda: admin.list_groups()[group] == "Stable", "the group is stable")
    described = admin.describe_group(group)
    assert (described["state"], described["type"], described["assignor"]) == ("Stable", "Classic", "range")
    assert described["members"].keys() == {"c1"}
    seen = described["members"]["c1"]
    wait_until(lambda: bool(member.member_id), "the member has told its id")
    assert (seen["id"], seen["instance"]) == (member.member_id, None)
    assert seen["host"].lstrip("/") == "127.0.0.1"
    assert seen["assignment"] == {(topic, 0), (topic, 1)}
    with pytest.raises(ClientFailure) as refused:
        admin.delete_group(group)
    assert refused.value.code == "NON_EMPTY_GROUP"
    member.commit({(topic, 0): (3, "")})
    member.leave()
    wait_until(lambda: admin.list_groups()[group] == "Empty", "the group is empty")
    assert admin.describe_group(group)["members"] == {}
    admin.delete_group(group)
    assert group not in admin.list_groups()
    assert admin.group_offsets(group) == {}


def test_a_group_that_is_not_there(admin: Admin, group: str) -> None:
    with pytest.raises(ClientFailure) as refused:
        admin.delete_group(group)
    assert refused.value.code == "GROUP_ID_NOT_FOUND"
    assert admin.group_offsets(group) == {}
    assert group not in admin.list_groups()


def test_offsets_are_altered_only_while_nobody_reads(
    new_topic: Callable[..., str], open_member: OpenMember, admin: Admin, group: str
) -> None:
    topic = new_topic(2)
    admin.alter_group_offsets(group, {(topic, 0): (3, ""), (topic, 1): (4, "")})
    assert admin.list_groups()[group] == "Empty"
    member = open_member("c1")
    wait_for_assignments({member: [(topic, 0), (topic, 1)]})
    assert member.committed([(topic, 0)]) == {(topic, 0): (3, "")}
    with pytest.raises(ClientFailure) as refused:
        admin.alter_group_offsets(group, {(topic, 0): (9, "")})
    assert refused.value.code == "UNKNOWN_MEMBER_ID"
    member.leave()
    admin.alter_group_offsets(group, {(topic, 0): (9, "")})
    assert admin.group_offsets(group) == {(topic, 0): (9, ""), (topic, 1): (4, "")}


@pytest.mark.java
def test_offsets_are_deleted_of_topics_nobody_reads(
    new_topic: Callable[..., str], open_member: OpenMember, java_admin: JavaAdmin, group: str
) -> None:
    topic = new_topic(2)
    java_admin.call("create_topic", topic=f"{topic}.other", partitions=1, replicas=1, configs={})
    offsets = {(topic, 0): (3, ""), (topic, 1): (4, ""), (f"{topic}.other", 0): (5, "")}
    java_admin.alter_group_offsets(group, offsets)
    member = open_member("c1")
    wait_for_assignments({member: [(topic, 0), (topic, 1)]})
    with pytest.raises(ClientFailure) as refused:
        java_admin.delete_group_offsets(group, [(topic, 0)])
    assert refused.value.code == "GROUP_SUBSCRIBED_TO_TOPIC"
    java_admin.delete_group_offsets(group, [(f"{topic}.other", 0)])
    assert java_admin.group_offsets(group) == {(topic, 0): (3, ""), (topic, 1): (4, "")}
    member.leave()
    java_admin.delete_group_offsets(group, [(topic, 0)])
    assert java_admin.group_offsets(group) == {(topic, 1): (4, "")}
    with pytest.raises(ClientFailure) as refused:
        java_admin.delete_group_offsets(f"{group}.none", [(topic, 0)])
    assert refused.value.code == "GROUP_ID_NOT_FOUND"
