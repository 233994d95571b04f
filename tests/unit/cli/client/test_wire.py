"""Our own requests, against peers that answer wrongly, late or not at all."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import KafkaError

from moldau.cli.client.wire import Address, Wire
from moldau.cli.client.wire_security import Security
from moldau.cli.failures import Failure
from moldau.protocol.codec import encode
from moldau.protocol.headers import decode_request_header, encode_response_header
from moldau.protocol.messages.cluster.api_versions import ApiVersion, ApiVersionsResponse
from moldau.protocol.messages.groups.list_groups import ListGroupsRequest, ListGroupsResponse
from moldau.protocol.messages.topics.metadata import MetadataResponse, MetadataResponseBroker
from moldau.protocol.private.explain import ExplainRequest, ExplainResponse

TLS_HANDSHAKE = b"\x16\x03"
"""A peer that is no broker may be asked whether it speaks TLS."""
Answers = Callable[[int, int, int], bytes | None]
"""The answer to a request's key, version and number; None hangs up."""


@contextmanager
def peer(answers: Answers) -> Iterator[Address]:
    """One connection after the other, until the listener is closed."""

    def serve(listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                while (head := connection.recv(4)) and not head.startswith(TLS_HANDSHAKE):
                    frame = connection.recv(struct.unpack(">i", head)[0], socket.MSG_WAITALL)
                    header, _ = decode_request_header(frame)
                    answer = answers(header.api_key, header.api_version, header.correlation_id)
                    if answer is None:
                        break
                    connection.sendall(struct.pack(">i", len(answer)) + answer)

    listener = socket.create_server(("127.0.0.1", 0))
    server = threading.Thread(target=serve, args=[listener], daemon=True)
    server.start()
    try:
        yield Address(*listener.getsockname())
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        server.join(5)


def versions(spoken: dict[int, tuple[int, int]], correlation_id: int) -> bytes:
    keys = [ApiVersion(api_key=key, min_version=low, max_version=high) for key, (low, high) in spoken.items()]
    return encode_response_header(18, 0, correlation_id) + encode(ApiVersionsResponse(api_keys=keys), 0)


def list_groups(address: Address, timeout_s: float = 5) -> ListGroupsResponse:
    wire = Wire(str(address), Security({}), timeout_s)
    try:
        return wire.ask(address, ListGroupsRequest(), ListGroupsResponse, "list groups")
    finally:
        wire.close()


def test_the_newest_version_of_both_sides_is_spoken() -> None:
    asked = []

    def answers(key: int, version: int, correlation_id: int) -> bytes:
        asked.append((key, version))
        if key == 18:
            return versions({16: (0, 4)}, correlation_id)
        body = encode(ListGroupsResponse(groups=[]), version)
        return encode_response_header(key, version, correlation_id) + body

    with peer(answers) as address:
        assert list_groups(address).groups == []
    assert asked == [(18, 0), (16, 4)]


@pytest.mark.parametrize("spoken", [{}, {16: (9, 12)}, {3: (0, 13)}])
def test_a_broker_that_does_not_speak_it(spoken: dict[int, tuple[int, int]]) -> None:
    with (
        peer(lambda key, version, correlation_id: versions(spoken, correlation_id)) as address,
        pytest.raises(Failure, match="cannot list groups: the broker does not support ListGroups") as raised,
    ):
        list_groups(address)
    assert raised.value.code == KafkaError.UNSUPPORTED_VERSION


def test_an_answer_to_another_question() -> None:
    with (
        peer(lambda key, version, correlation_id: versions({}, correlation_id + 1)) as address,
        pytest.raises(
            Failure, match="does not answer like a Kafka broker: an answer to request 1 instead of 0"
        ),
    ):
        list_groups(address)


def test_a_peer_that_hangs_up() -> None:
    with (
        peer(lambda *_: None) as address,
        pytest.raises(Failure, match=f"{address} does not answer like a Kafka"),
    ):
        list_groups(address)


def test_a_peer_that_says_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = Address(*silent.getsockname())
        with pytest.raises(Failure, match=f"no answer from {address} .timed out."):
            list_groups(address, timeout_s=0.2)


def test_an_api_of_our_own_that_nobody_knows() -> None:
    def answers(key: int, version: int, correlation_id: int) -> bytes | None:
        return versions({}, correlation_id) if key == 18 else None

    with peer(answers) as address:
        wire = Wire(str(address), Security({}), 5)
        assert wire.ask_privately(address, ExplainRequest(group_id="g"), ExplainResponse) is None
        wire.close()


def test_errors_that_pass_are_waited_for_and_others_raised() -> None:
    wire = Wire("nobody", Security({}), timeout_s=5)
    codes = iter([14, 16, 0])
    assert wire.settled(lambda: (next(codes), "done"), "wait") == "done"
    with pytest.raises(Failure, match="cannot wait: ") as raised:
        wire.settled(lambda: (30, None), "wait")
    assert raised.value.code == KafkaError.GROUP_AUTHORIZATION_FAILED


def test_a_broker_that_has_just_died_is_passed_by() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        nobody = Address(*gone.getsockname())
    told = [nobody]

    def answers(key: int, version: int, correlation_id: int) -> bytes:
        if key == 18:
            return versions({3: (0, 9)}, correlation_id)
        brokers = [
            MetadataResponseBroker(node_id=number, host=address.host, port=address.port)
            for number, address in enumerate(told)
        ]
        head = encode_response_header(key, version, correlation_id)
        return head + encode(MetadataResponse(brokers=brokers, topics=[]), version)

    with peer(answers) as alive:
        told.append(alive)
        wire = Wire(str(alive), Security({}), 5)
        try:
            assert list(wire.brokers.values()) == [nobody, alive]
            assert wire.any_broker() == alive
        finally:
            wire.close()
