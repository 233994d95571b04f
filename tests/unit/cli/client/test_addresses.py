"""Bootstrap addresses, and what is said when nothing listens there."""

import socket

import click
import pytest

from moldau.cli.client import addresses
from moldau.cli.failures import Failure


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("localhost:9092", [("localhost", 9092)]),
        ("localhost", [("localhost", 9092)]),
        ("a:1, b:2", [("a", 1), ("b", 2)]),
        ("PLAINTEXT://a:1", [("a", 1)]),
        ("[::1]:9093", [("::1", 9093)]),
        ("[::1]", [("::1", 9092)]),
        (":9095", [("localhost", 9095)]),
    ],
)
def test_addresses_are_read_as_kafka_writes_them(text: str, expected: list[tuple[str, int]]) -> None:
    assert addresses.parse(text) == expected


@pytest.mark.parametrize("text", ["host:port", "host:0", "host:65536", "host:"])
def test_a_port_that_is_none_is_wrong_usage(text: str) -> None:
    with pytest.raises(click.UsageError, match="is not a broker address"):
        addresses.parse(text)


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_a_dead_address_is_named_with_the_reason_and_what_to_do() -> None:
    port = closed_port()
    with pytest.raises(Failure) as raised:
        addresses.require_listener(f"127.0.0.1:{port}")
    assert raised.value.message == f"nothing answers at 127.0.0.1:{port} (connection refused)."
    assert raised.value.hint is not None and "`moldau broker`" in raised.value.hint


def test_one_living_address_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        addresses.require_listener(f"127.0.0.1:{closed_port()},127.0.0.1:{server.getsockname()[1]}")


def test_an_empty_list_of_addresses_is_wrong_usage() -> None:
    with pytest.raises(click.UsageError, match="No broker address"):
        addresses.require_listener(" , ")
