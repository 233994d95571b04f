"""Every API, operation and kind of resource, allowed and denied: the same errors as Apache Kafka's.

The expectation is never written down here: it is what Kafka answers to the same request of a user with the same
rights. By default each request is sent in its highest version; MOLDAU_ACCESS_VERSIONS=all sends all of them.
"""

from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from access_cases import CASES, TOKEN_CASES
from access_requests import CODES, Case
from compat.access.sides import GRANTS, Side, doomed_name, versions_of
from compat.server_process import wait_until
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.security.describe_delegation_token import DescribeDelegationTokenRequest

pytestmark = pytest.mark.java

NAMES = ("name", "topic", "topic_name", "group_id", "transactional_id", "resource_name", "key")
SHOWN = (*NAMES, "partition_index", "partition_id", "index", "partition", "resource_type")


def shown(part: Any, known: frozenset[str]) -> Any:
    """Error codes, authorized operations and names of an answer. Items with a name that is not known are left out:
    topics and groups of other tests, settings, internal topics."""
    if isinstance(part, list | tuple):
        items = [shown(each, known) for each in part if is_known(each, known)]
        return sorted(items, key=repr)
    if not is_dataclass(part):
        return None
    values = {}
    for field in fields(part):
        value = getattr(part, field.name)
        if field.name.endswith(("error_code", "authorized_operations")) or field.name in SHOWN:
            values[field.name] = value
        elif isinstance(value, list | tuple):
            values[field.name] = shown(value, known)
    return values


def is_known(item: Any, known: frozenset[str]) -> bool:
    return all(getattr(item, name, None) in (None, "", *known) for name in NAMES)


def outcome(side: Side, case: Case, version: int, user: str) -> Any:
    world = side.world(user, doomed_name(case, version, user))
    answer = side.users[user].outcome(case.made(world, version), version)
    if isinstance(answer, str):
        return answer
    names = {world.topic, world.doomed, world.fresh, world.group, world.transactional_id, "metrics", "1"}
    return without_known_differences(case, shown(answer, frozenset(names)))


def tokens(side: Side) -> int:
    return len(side.admin.call(DescribeDelegationTokenRequest(owners=None), 3).tokens)


def without_known_differences(case: Case, answer: Any) -> Any:
    """Differences that have nothing to do with access."""
    if case.name == "Fetch as a follower":
        # Kafka leads with replicas or not at all; our broker that stands alone has none.
        return _replaced(answer, ErrorCode.UNKNOWN_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if case.name == "Metadata that creates":
        # We create the topic before we answer.
        for topic in answer["topics"]:
            topic.pop("partitions")
        return _replaced(answer, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NONE)
    return answer


def _replaced(part: Any, code: ErrorCode, by: ErrorCode) -> Any:
    if isinstance(part, list):
        return [_replaced(each, code, by) for each in part]
    if isinstance(part, dict):
        return {
            key: by if key == "error_code" and value == code else _replaced(value, code, by)
            for key, value in part.items()
        }
    return part


@pytest.mark.parametrize("case", (*CASES, *TOKEN_CASES), ids=lambda case: case.name.replace(" ", "-"))
def test_same_answers(case: Case, sides: tuple[Side, Side]) -> None:
    ours, theirs = sides
    if case.api == "DescribeDelegationToken":
        wait_until(lambda: tokens(ours) == tokens(theirs), "Kafka knows the tokens that it has made")
    different = {}
    for version in versions_of(case):
        for user in GRANTS:
            found, wanted = (outcome(side, case, version, user) for side in (ours, theirs))
            if found != wanted:
                different[f"v{version} {user}"] = (found, wanted)
        if case.needs:
            refusal = outcome(theirs, case, version, "nothing")
            assert f"error_code': {int(CODES[case.needs[0][1]])}" in repr(refusal), (
                "the request shows nothing"
            )
    assert different == {}
