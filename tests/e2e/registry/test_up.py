"""`moldau up` and `moldau registry`: start, use, stop, and the messages when they cannot start."""

import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

from compat.server_process import free_port
from e2e.cli.shell import MOLDAU, Shell
from e2e.registry.registry_process import PATIENCE_S, ask
from e2e.sql.server.sql_process import SqlClient
from moldau.testing import LocalCluster


def test_up_starts_broker_registry_and_sql_and_stops_them(tmp_path: Path) -> None:
    port, registry_port, sql_port, connect_port, rest_port, mqtt_port = (free_port() for _ in range(6))
    # Nothing is protected, so nobody else is let in unless `--host` says so.
    command = [MOLDAU, "up", "--data", str(tmp_path / "data"), "--port", str(port)]
    command += ["--registry-override", f"listeners=http://127.0.0.1:{registry_port}"]
    command += ["--connect-port", str(connect_port), "--rest-port", str(rest_port)]
    command += ["--mqtt-port", str(mqtt_port)]
    command += ["--sql-port", str(sql_port), "--sql-override", "ksql.service.id=shop_"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            # A test run in the background ignores it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
    assert process.stdout is not None
    watchdog = threading.Timer(PATIENCE_S, process.kill)
    watchdog.start()
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if "Ctrl-C" in line:
                break
        assert lines[0].split() == ["broker", f"PLAINTEXT://127.0.0.1:{port}"], (tmp_path / "log").read_text()
        assert lines[1].split() == ["registry", f"http://127.0.0.1:{registry_port}"]
        url = f"http://127.0.0.1:{registry_port}"
        assert any(line.endswith(f"moldau schemas list --registry {url}\n") for line in lines)
        assert ask(url, "POST", "/subjects/s/versions", {"schema": '"int"'}).status == 200
        assert lines[2].split() == ["sql", f"http://127.0.0.1:{sql_port}"]
        url = f"http://127.0.0.1:{sql_port}"
        assert any(line.endswith(f"moldau sql {url} --execute 'SHOW TOPICS;'\n") for line in lines)
        assert SqlClient(url).ask("GET", "/info")["KsqlServerInfo"]["ksqlServiceId"] == "shop_"
        assert lines[3].split() == ["connect", f"http://127.0.0.1:{connect_port}"]
        assert SqlClient(url).ksql("SHOW CONNECTOR PLUGINS;")[0]["connectorsPlugins"]
        assert lines[5].split() == ["mqtt", f"mqtt://127.0.0.1:{mqtt_port}"]
        assert any(line.startswith(f"  mosquitto_sub -h 127.0.0.1 -p {mqtt_port} ") for line in lines)
        assert lines[4].split() == ["rest", f"http://127.0.0.1:{rest_port}"]
        topics = ask(f"http://127.0.0.1:{rest_port}", "GET", "/topics")
        assert topics.status == 200 and "_schemas" in topics.body
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
        process.stdout.close()
    deadline = time.monotonic() + PATIENCE_S
    ports = (port, registry_port, sql_port, connect_port, rest_port, mqtt_port)
    while any(is_served(each) for each in ports):
        assert time.monotonic() < deadline, "something was left running"


def test_up_listens_where_it_is_told_to(tmp_path: Path) -> None:
    """When the address is taken, the message names it."""
    with socket.create_server(("127.0.0.2", 0)) as taken:
        port = taken.getsockname()[1]
        said = Shell("").run(
            "up", "--data", str(tmp_path), "--host", "127.0.0.2", "--port", str(port), code=1
        )
    assert "the broker did not start" in said and f"127.0.0.2:{port}" in said


def is_served(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_up_fails_when_a_service_does(tmp_path: Path, cluster: LocalCluster) -> None:
    taken = cluster.bootstrap_servers
    shell = Shell(taken)
    said = shell.run(
        "up", "--data", str(tmp_path), "--broker-override", f"listeners=PLAINTEXT://{taken}", code=1
    )
    assert "the broker did not start" in said and taken in said


def test_a_registry_that_cannot_start_says_why(cluster: LocalCluster, tmp_path: Path) -> None:
    shell = Shell(cluster.bootstrap_servers)
    here = ("--bootstrap-server", cluster.bootstrap_servers)
    said = shell.run("registry", *here, "--listen", cluster.registry_url, code=2)
    assert "cannot listen on" in said
    cluster.create_topic("kept-for-a-week")
    free = ("--listen", "http://127.0.0.1:0")
    said = shell.run("registry", *here, *free, "--override", "kafkastore.topic=kept-for-a-week", code=2)
    assert "cleanup.policy=delete" in said and "moldau topics alter kept-for-a-week" in said
    cluster.create_topic("of-many-parts", partitions=3)
    said = shell.run("registry", *here, *free, "--override", "kafkastore.topic=of-many-parts", code=2)
    assert "has 3 partitions" in said
    said = shell.run(
        "registry", "-b", "127.0.0.1:1", *free, "--override", "kafkastore.init.timeout.ms=500", code=2
    )
    assert "no Kafka broker answers at 127.0.0.1:1" in said
    java = "kafkastore.ssl.truststore.location=/etc/kafka.jks"
    said = shell.run("registry", *here, *free, "--override", java, code=2)
    assert "the Kafka client rejects its settings" in said and "ssl.ca.location" in said
    assert "Traceback" not in said
    said = shell.run("registry", "--config", str(tmp_path / "none"), code=2)
    assert "cannot read the configuration file" in said


def test_the_settings_confluents_registry_comes_with_start_this_one(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    path = tmp_path / "schema-registry.properties"
    path.write_text(
        f"listeners=http://127.0.0.1:0\nkafkastore.bootstrap.servers=PLAINTEXT://{cluster.bootstrap_servers}\n"
        "kafkastore.topic=_schemas\ndebug=false\n"
        "metadata.encoder.secret=REPLACE_ME_WITH_HIGH_ENTROPY_STRING\n"
        "resource.extension.class=io.confluent.dekregistry.DekRegistryResourceExtension\n"
        # The registry of the other tests stays the primary.
        "leader.eligibility=false\n"
    )
    process = Shell("localhost:1").started("registry", "--config", str(path))
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("ready http://127.0.0.1:")
    finally:
        process.terminate()
        _, said = process.communicate(timeout=PATIENCE_S)
    assert "the setting debug of Confluent's registry has no effect in Moldau's" in said


def test_settings_are_listed() -> None:
    said = Shell("localhost:1").run("registry", "--list-settings")
    assert "#kafkastore.topic=_schemas" in said and "#schema.compatibility.level=BACKWARD" in said
