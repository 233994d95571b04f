"""SyslogSource, and programs that send to it: logger, rsyslog, sockets."""

import os
import shutil
import signal
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from connect_kit import StoredOffsets, eventually, read
from database_servers import free_port
from moldau.pipeline.connect.api import ConnectError, RetriableError
from moldau.pipeline.connect.connectors.syslog.source import SyslogSourceConnector, SyslogSourceTask
from moldau.pipeline.connect.data.records import SourceRecord
from moldau.pipeline.connect.data.validation import check

HOST = "127.0.0.1"
Listen = Callable[..., SyslogSourceTask]


@pytest.fixture
def listen() -> Iterator[Listen]:
    """Starts a task that listens. Underscores in the names of settings are points."""
    tasks = []

    def started(listener: str = "UDP", **settings: str) -> SyslogSourceTask:
        for _ in range(5):
            config = {
                "syslog.port": str(free_port()),
                "syslog.listen.address": HOST,
                "syslog.listener": listener,
            }
            config |= {name.replace("_", "."): value for name, value in settings.items()}
            connector = SyslogSourceConnector()
            connector.start(config)
            task = SyslogSourceTask()
            task.start(connector.task_configs(1)[0], StoredOffsets())
            tasks.append(task)
            try:
                task.poll()
            except RetriableError:
                continue  # Somebody took the port meanwhile.
            return task
        raise AssertionError("no free port")

    yield started
    for one in tasks:
        one.stop()


def port_of(task: SyslogSourceTask) -> int:
    return task._listener._port


def records(task: SyslogSourceTask, count: int) -> list[SourceRecord]:
    found = read(task, StoredOffsets(), count)
    assert len(found) == count
    for one in found:
        assert one.value_schema is not None and one.key_schema is not None
        check(one.value_schema, one.value)
        check(one.key_schema, one.key)
        assert one.topic == "syslog" and one.key["remoteAddress"] == one.value["remoteAddress"] == HOST
    return found


def fields(record: SourceRecord, *names: str) -> tuple[Any, ...]:
    return tuple(record.value[name] for name in names)


def program(name: str) -> str:
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])
    found = shutil.which(name, path=path)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def log_with_logger(task: SyslogSourceTask, text: str, *options: str) -> None:
    command = [program("logger"), "-n", HOST, "-P", str(port_of(task)), "-t", "gauge", *options, text]
    subprocess.run(command, check=True, timeout=60)


@pytest.mark.parametrize("transport", ["UDP", "TCP"])
def test_logger(listen: Listen, transport: str) -> None:
    task = listen(transport)
    how = "-d" if transport == "UDP" else "-T"
    log_with_logger(task, "new", how, "--rfc5424", "-p", "local3.warning", "--id=77", "--msgid", "M1")
    log_with_logger(task, "old", how, "--rfc3164", "-p", "user.notice")
    counted = ["--octet-count"] if transport == "TCP" else []
    sd = ["--rfc5424", "--sd-id", "zoo@123", "--sd-param", 'tiger="hungry"']
    log_with_logger(task, "counted", how, *sd, *counted)
    new, old, structured = records(task, 3)
    names = ("type", "appName", "processId", "messageId", "facility", "level", "message")
    assert fields(new, *names) == ("RFC5424", "gauge", "77", "M1", 19, 4, "new")
    assert fields(old, "type", "tag", "facility", "level", "message") == ("RFC3164", "gauge", 1, 5, "old")
    assert old.value["host"] and new.value["host"]
    elements = {one["id"]: one["structuredDataElements"] for one in structured.value["structuredData"]}
    assert elements["zoo@123"] == {"tiger": "hungry"}
    assert abs(new.value["date"].timestamp() * 1000 - (new.timestamp_ms or 0)) < 600_000


def test_rsyslog_forwards(listen: Listen, tmp_path: Path) -> None:
    task = listen("TCP")
    port = free_port()
    (tmp_path / "rsyslog.conf").write_text(
        f'global(workDirectory="{tmp_path}")\n'
        'module(load="imudp")\n'
        f'input(type="imudp" address="{HOST}" port="{port}")\n'
        f'action(type="omfwd" target="{HOST}" port="{port_of(task)}" protocol="tcp"'
        ' TCP_Framing="octet-counted" template="RSYSLOG_SyslogProtocol23Format")\n'
    )
    command = [program("rsyslogd"), "-n", "-f", f"{tmp_path}/rsyslog.conf", "-i", f"{tmp_path}/pid"]
    rsyslog = subprocess.Popen(command)
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:

            def has_come() -> Any:
                assert rsyslog.poll() is None
                sender.sendto(b"<13>Oct 11 22:14:15 prague tram[22]: arrives", (HOST, port))
                return task.poll()

            first, *_ = eventually(has_come, "rsyslog forwards a message")
    finally:
        rsyslog.send_signal(signal.SIGTERM)
        rsyslog.wait(60)
    names = ("type", "host", "appName", "processId")
    assert fields(first, *names) == ("RFC5424", "prague", "tram", "22")
    assert first.value["message"].strip() == "arrives"


def test_malformed_datagrams_are_kept_as_they_are(listen: Listen) -> None:
    task = listen(syslog_reverse_dns_remote_ip="true")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for data in (b"\xffnot syslog", b"<13>half of it"):
            sender.sendto(data, (HOST, port_of(task)))
    first, second = records(task, 2)
    assert fields(first, "type", "rawMessage", "message", "level") == (
        "UNKNOWN",
        "\ufffdnot syslog",
        None,
        None,
    )
    assert fields(second, "type", "rawMessage", "message", "level") == (
        "UNKNOWN",
        "<13>half of it",
        "half of it",
        5,
    )


def test_many_senders_at_once_and_a_full_queue(listen: Listen) -> None:
    """Those over TCP wait: nothing is lost."""
    task = listen("TCP", syslog_queue_max_size="60", syslog_queue_batch_size="45")
    senders = [socket.create_connection((HOST, port_of(task))) for _ in range(5)]
    for number, sender in enumerate(senders):
        sender.sendall(b"".join(b"<13>%d %d\n" % (number, each) for each in range(200)))
    found = [one.value["message"].split() for one in records(task, 1000)]
    for number, sender in enumerate(senders):
        assert [int(each) for who, each in found if int(who) == number] == list(range(200))
        sender.sendall(b"<13>cut off")
        sender.close()
    assert [one.value["message"] for one in records(task, 5)] == ["cut off"] * 5


@pytest.mark.parametrize("transport", ["UDP", "TCP"])
def test_what_is_not_in_kafka_is_written_by_the_next_task(
    listen: Listen, transport: str, caplog: pytest.LogCaptureFixture
) -> None:
    task = listen(transport, syslog_queue_batch_size="1")
    kind = socket.SOCK_DGRAM if transport == "UDP" else socket.SOCK_STREAM
    with socket.socket(socket.AF_INET, kind) as sender:
        sender.connect((HOST, port_of(task)))
        for number in range(6):
            sender.sendall(b"<13>message %d\n" % number)
        found = records(task, 3)
        eventually(task.poll, "a message that is not committed")
        eventually(lambda: len(task._listener._waiting) == 2, "all messages have come")
        task.stop()
    assert f"SyslogSource: {transport} port {port_of(task)} of {HOST}: 3 messages" in caplog.messages[-1]
    again = SyslogSourceTask()
    config = {"syslog.port": str(port_of(task)), "syslog.listen.address": HOST, "syslog.listener": transport}
    again.start(config, StoredOffsets())
    try:
        found += records(again, 3)
    finally:
        caplog.clear()
        again.stop()
    assert [one.value["message"] for one in found] == [f"message {number}" for number in range(6)]
    assert not caplog.messages


def test_a_count_that_cannot_be_ends_the_connection(listen: Listen) -> None:
    task = listen("TCP")
    with socket.create_connection((HOST, port_of(task))) as sender:
        sender.sendall(b"999999999 <13>x")
        sender.settimeout(60)
        assert sender.recv(1) == b""
    log_with_logger(task, "goes on", "-T")
    assert records(task, 1)[0].value["message"] == "goes on"


def test_tls(listen: Listen, tmp_path: Path) -> None:
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *(program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-days", "2", "-subj", "/CN=logs"),
            *("-addext", "subjectAltName=IP:127.0.0.1", "-passout", "pass:secret"),
            *("-keyout", str(key), "-out", str(chain)),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    paths = {"syslog_ssl_cert_chain_path": str(chain), "syslog_ssl_key_path": str(key)}
    task = listen("TCPSSL", **paths, syslog_ssl_key_password="secret")
    context = ssl.create_default_context(cafile=str(chain))
    with (
        socket.create_connection((HOST, port_of(task))) as plain,
        context.wrap_socket(plain, server_hostname=HOST) as sender,
    ):
        sender.sendall(b"<13>secret\n")
        assert records(task, 1)[0].value["message"] == "secret"
    wrong = SyslogSourceConnector.check({**_config(paths), "syslog.ssl.key.password": "wrong"})
    assert "cannot be used" in wrong[0].errors[0]


def _config(paths: dict[str, str]) -> dict[str, str]:
    given = {name.replace("_", "."): value for name, value in paths.items()}
    return {"syslog.port": "1514", "syslog.listener": "TCPSSL", **given}


@pytest.mark.parametrize("transport", ["UDP", "TCP"])
def test_a_port_that_is_taken_is_waited_for(listen: Listen, transport: str) -> None:
    first = listen(transport)
    second = SyslogSourceTask()
    config = {
        "syslog.port": str(port_of(first)),
        "syslog.listen.address": HOST,
        "syslog.listener": transport,
    }
    second.start(config, StoredOffsets())
    with pytest.raises(RetriableError, match=rf"{transport} port \d+ of {HOST} .*ss -lntup"):
        second.poll()
    first.stop()
    try:

        def has_it() -> bool:
            try:
                second.poll()
            except RetriableError:
                return False
            return True

        eventually(has_it, "the port is free")
        log_with_logger(second, "hello", "-d" if transport == "UDP" else "-T")
        assert records(second, 1)[0].value["message"] == "hello"
    finally:
        second.stop()


def test_an_address_of_another_machine() -> None:
    task = SyslogSourceTask()
    task.start({"syslog.port": "1514", "syslog.listen.address": "192.0.2.1"}, StoredOffsets())
    with pytest.raises(ConnectError, match=r"syslog\.listen\.address") as failed:
        task.poll()
    assert not isinstance(failed.value, RetriableError)
    task.stop()
