"""What the proxy asks by itself is what Kafka's messages say: the codec of the broker reads it, and answers it."""

from typing import Any

import pytest

from moldau.core.errors import PeerError
from moldau.protocol.codec import decode, encode
from moldau.protocol.messages.configs.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from moldau.protocol.messages.configs.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from moldau.protocol.messages.topics.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from moldau.protocol.spec import Request, Response
from moldau.proxies.rest.wire import questions
from moldau.proxies.rest.wire.primitives import Reader
from moldau.proxies.rest.wire.questions import Change, KafkaRefusal, Question, Reassignment, Setting

LONG = "n" * 200


def asked(question: Question[Any], request: type[Request]) -> Request:
    """The request as a broker reads it, to its last byte."""
    assert question.api_key == request.API_KEY
    found, end = decode(request, question.version, question.body)
    assert end == len(question.body)
    return found


def answered(question: Question[Any], answer: Response) -> Any:
    return question.read(Reader(encode(answer, question.version)))


def test_reassignments_are_asked_for_and_read() -> None:
    question = questions.reassignments({LONG: [0, 7]}, 5_000)
    wanted = ListPartitionReassignmentsTopics(name=LONG, partition_indexes=[0, 7])
    assert asked(question, ListPartitionReassignmentsRequest) == ListPartitionReassignmentsRequest(
        timeout_ms=5_000, topics=[wanted]
    )
    assert asked(questions.reassignments(None, 1), ListPartitionReassignmentsRequest) == (
        ListPartitionReassignmentsRequest(timeout_ms=1, topics=None)
    )
    moving = OngoingPartitionReassignment(
        partition_index=7, replicas=[1, 2, 3], adding_replicas=[3], removing_replicas=[1]
    )
    answer = ListPartitionReassignmentsResponse(
        topics=[OngoingTopicReassignment(name=LONG, partitions=[moving])]
    )
    assert answered(question, answer) == [Reassignment(LONG, 7, [1, 2, 3], [3], [1])]
    with pytest.raises(KafkaRefusal, match="ask the other one"):
        answered(
            question, ListPartitionReassignmentsResponse(error_code=41, error_message="ask the other one")
        )


def test_settings_of_all_brokers_are_asked_for_and_read() -> None:
    question = questions.broker_defaults()
    assert asked(question, DescribeConfigsRequest) == DescribeConfigsRequest(
        resources=[DescribeConfigsResource(resource_type=4, resource_name="", configuration_keys=None)],
        include_synonyms=True,
        include_documentation=False,
    )
    synonym = DescribeConfigsSynonym(name="log.cleaner.threads", value="1", source=5)
    config = DescribeConfigsResourceResult(
        name="log.cleaner.threads",
        value="3",
        read_only=False,
        config_source=3,
        is_sensitive=True,
        synonyms=[synonym],
    )
    result = DescribeConfigsResult(resource_type=4, resource_name="", configs=[config])
    found = answered(question, DescribeConfigsResponse(results=[result]))
    default = Setting("log.cleaner.threads", "1", False, False, 5, {})
    shown = Setting("log.cleaner.threads", "3", False, True, 3, {"log.cleaner.threads": default})
    assert found == {"log.cleaner.threads": shown}
    assert (shown.is_default, default.is_default) == (False, True)


def test_settings_of_all_brokers_are_changed() -> None:
    question = questions.alter_broker_defaults(
        [Change("a", 0, "1"), Change("b", 1, None)], validate_only=True
    )
    configs = [
        AlterableConfig(name="a", config_operation=0, value="1"),
        AlterableConfig(name="b", config_operation=1, value=None),
    ]
    resource = AlterConfigsResource(resource_type=4, resource_name="", configs=configs)
    assert asked(question, IncrementalAlterConfigsRequest) == IncrementalAlterConfigsRequest(
        resources=[resource], validate_only=True
    )
    done = AlterConfigsResourceResponse(resource_type=4, resource_name="")
    answered(question, IncrementalAlterConfigsResponse(responses=[done]))
    refused = AlterConfigsResourceResponse(
        error_code=40, error_message="a is wrong", resource_type=4, resource_name=""
    )
    with pytest.raises(KafkaRefusal, match="a is wrong") as refusal:
        answered(question, IncrementalAlterConfigsResponse(responses=[refused]))
    assert refusal.value.code == 40


@pytest.mark.parametrize("answer", [b"", b"\0" * 7, b"\xff" * 40, b"\0" * 7 + b"\xff\xff\xff\x7f"])
def test_a_broken_answer_is_an_error_of_the_peer(answer: bytes) -> None:
    with pytest.raises(PeerError):
        questions.reassignments(None, 1).read(Reader(answer))
