"""What the commands say when the broker is not there, not well or not a broker."""

import socket
from pathlib import Path

import pytest

from compat.apache_kafka import ApacheKafka
from compat.moldau_broker import MoldauBroker
from e2e.cli.shell import Shell
from kafka_jars import KafkaJarsUnavailable


def test_nobody_at_the_address(topic: str) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        for arguments in (["topics", "list"], ["produce", topic, "--value", "x"], ["consume", topic]):
            error = Shell(address).run(*arguments, code=1)
            assert error == (
                f"Error: nothing answers at {address} (connection refused).\n"
                "Start a broker with `moldau broker`, or pass another address with --bootstrap-server HOST:PORT.\n"
            )


def test_somebody_else_at_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        address = f"127.0.0.1:{stranger.getsockname()[1]}"
        error = Shell(address).run("topics", "list", "--timeout", "1", code=1)
        assert f"cannot list topics: no answer from {address} within 1 s" in error
        assert "Is this a Kafka broker" in error


def test_an_advertised_address_that_cannot_be_reached(
    broker_class: type[ApacheKafka | MoldauBroker], tmp_path: Path, topic: str
) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        nowhere = f"127.0.0.1:{bound.getsockname()[1]}"
        try:
            server = broker_class(tmp_path, {"advertised.listeners": f"PLAINTEXT://{nowhere}"})
        except KafkaJarsUnavailable as reason:
            pytest.skip(str(reason))
        with server:
            error = Shell(server.bootstrap).run("topics", "create", topic, "--timeout", "2", code=1)
            ours = Shell(server.bootstrap).run("groups", "list", code=1)
    assert f"cannot list groups: no answer from {nowhere}" in ours and "check advertised.listeners" in ours
    assert f"cannot create topic '{topic}': no answer from {server.bootstrap} within 2 s" in error
    assert nowhere in error
    assert "check advertised.listeners" in error


def test_a_client_property_that_is_none_is_wrong_usage(shell: Shell) -> None:
    assert 'No such configuration property: "sasl.usrname"' in shell.run(
        "topics", "list", "-X", "sasl.usrname=me", code=2
    )


def test_a_broker_setting_that_is_none_is_wrong_usage_with_the_nearest_name(tmp_path: Path) -> None:
    error = Shell("").run("broker", "--override", "log.dir.s=x", code=2)
    assert "log.dir.s" in error and "log.dirs" in error
    assert "nowhere.properties" in Shell("").run(
        "broker", "--config", str(tmp_path / "nowhere.properties"), code=2
    )
