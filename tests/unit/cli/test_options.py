"""Values of options: pairs, times, start offsets, properties files."""

import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END

from moldau.cli.client.connection import Cluster
from moldau.cli.client.positions import Start, StartOffset
from moldau.cli.options import (
    BOOTSTRAP_VARIABLE,
    PROFILE_VARIABLE,
    Duration,
    KeyValue,
    Timestamp,
    given_cluster_options,
    on_cluster,
    read_properties,
)
from moldau.cli.topic_partitions import TopicPartitions


def test_a_pair_is_parted_at_the_first_equals_sign() -> None:
    assert KeyValue().convert("a=b=c", None, None) == ("a", "b=c")
    assert KeyValue().convert("a=", None, None) == ("a", "")


@pytest.mark.parametrize("text", ["a", "=b", " =b"])
def test_what_is_no_pair_is_wrong_usage(text: str) -> None:
    with pytest.raises(click.BadParameter, match="KEY=VALUE"):
        KeyValue().convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "timestamp_ms"),
    [
        ("1577836800123", 1577836800123),
        ("2020-01-01T00:00:00Z", 1577836800000),
        ("2020-01-01T01:00:00.5+01:00", 1577836800500),
    ],
)
def test_points_in_time(text: str, timestamp_ms: int) -> None:
    assert Timestamp().convert(text, None, None) == timestamp_ms


@pytest.mark.parametrize(
    ("text", "ago_ms"),
    [("500ms", 500), ("90s", 90_000), ("15m", 900_000), ("2h", 7_200_000), ("7d", 604_800_000)],
)
def test_times_ago(text: str, ago_ms: int) -> None:
    before_ms = int(time.time() * 1000) - ago_ms
    found_ms = Timestamp().convert(text, None, None)
    assert before_ms <= found_ms <= int(time.time() * 1000) - ago_ms


@pytest.mark.parametrize("text", ["yesterday", "15x", "2020-13-01", "9" * 20 + "d", ""])
def test_what_is_no_time_is_wrong_usage(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a time"):
        Timestamp().convert(text, None, None)


def test_no_time_is_before_the_epoch() -> None:
    assert Timestamp().convert("1960-01-01T00:00:00Z", None, None) == 0
    assert Timestamp().convert("36500d", None, None) == 0


@pytest.mark.parametrize(
    ("text", "duration_ms"),
    [("90s", 90_000), ("2h", 7_200_000), ("P1D", 86_400_000), ("P1DT6H", 108_000_000), ("pt1m1.5s", 61_500)],
)
def test_durations(text: str, duration_ms: int) -> None:
    assert Duration().convert(text, None, None) == duration_ms


@pytest.mark.parametrize("text", ["P", "PT", "P1H", "-1s", "1w", "", "9" * 20 + "d"])
def test_what_is_no_duration_is_wrong_usage(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a duration"):
        Duration().convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "named"),
    [("orders", ("orders", [])), ("orders:0", ("orders", [0])), ("orders:2, 0", ("orders", [2, 0]))],
)
def test_partitions_of_a_topic(text: str, named: tuple[str, list[int]]) -> None:
    assert TopicPartitions().convert(text, None, None) == named


@pytest.mark.parametrize("text", ["orders:", "orders:x", "orders:-1", "orders:0,,1"])
def test_what_names_no_partitions_is_wrong_usage(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a list of partitions"):
        TopicPartitions().convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("0", Start(offset=0)),
        ("17", Start(offset=17)),
        ("-5", Start(before_end=5)),
        ("beginning", Start(offset=OFFSET_BEGINNING)),
        ("Earliest", Start(offset=OFFSET_BEGINNING)),
        ("end", Start(offset=OFFSET_END)),
        ("latest", Start(offset=OFFSET_END)),
    ],
)
def test_start_offsets(text: str, start: Start) -> None:
    assert StartOffset().convert(text, None, None) == start


def test_what_is_no_offset_is_wrong_usage() -> None:
    with pytest.raises(click.BadParameter, match="is not an offset"):
        StartOffset().convert("first", None, None)


def test_properties_files_are_read_as_java_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    path.write_text("# who we are\nsasl.username = me\nsasl.password:a=b\\\n  c\n\n")
    assert read_properties(str(path)) == {"sasl.username": "me", "sasl.password": "a=bc"}


def test_a_properties_file_that_is_no_text_is_wrong_usage(tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    path.write_bytes(b"a=\xff\xfe")
    with pytest.raises(click.UsageError, match=r"client\.properties"):
        read_properties(str(path))


@pytest.mark.parametrize(
    ("arguments", "servers"),
    [
        ([], "of-file:1"),
        (["-b", "of-option:2"], "of-option:2"),
        (["-X", "bootstrap.servers=of-property:3"], "of-property:3"),
    ],
)
def test_a_clients_file_says_where_the_cluster_is(
    arguments: list[str], servers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (BOOTSTRAP_VARIABLE, PROFILE_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "client.properties"
    file.write_text("bootstrap.servers=of-file:1\nclient.id=me\n")

    @click.command()
    @on_cluster
    def show(cluster: Cluster) -> None:
        click.echo(cluster.bootstrap_servers)

    shown = CliRunner().invoke(show, ["--command-config", str(file), *arguments])
    assert shown.output.strip() == servers, shown.output


def test_the_cluster_options_of_a_command_to_paste(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "of admin.properties"
    file.write_text("")

    @click.command()
    @on_cluster
    def command(cluster: Cluster) -> None:
        click.echo(f"moldau x{given_cluster_options()}")

    def said(*arguments: str) -> str:
        return CliRunner().invoke(command, arguments).output

    monkeypatch.setenv(BOOTSTRAP_VARIABLE, "of-the-environment:9092")
    assert said() == "moldau x\n"
    assert said("-b", "there:9092", "--command-config", str(file), "-X", "sasl.password=secret") == (
        f"moldau x --bootstrap-server there:9092 --command-config '{file}' -X sasl.password=...\n"
    )
