"""`moldau up --secure`: what it writes is enough to connect, and without it nobody gets in."""

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError

from compat.client import Record
from compat.java_client import JavaClient, JavaDriver
from compat.kcat_client import KcatClient, KcatMissing
from compat.server_process import wait_until
from e2e.cli.shell import MOLDAU, Shell
from e2e.registry.registry_process import PATIENCE_S
from kafka_jars import KafkaJarsUnavailable

pytestmark = pytest.mark.slow

WAIT_S = 60


class Up:
    def __init__(self, folder: Path, pid: int, printed: str) -> None:
        self.folder = folder
        self.pid = pid
        self.printed = printed
        _, self.bootstrap = self.listens("broker")

    def listens(self, name: str) -> tuple[str, str]:
        """Scheme and address."""
        (found,) = re.findall(rf"^{name} +(\S+)://(\S+)$", self.printed, re.MULTILINE)
        scheme, address = found
        return str(scheme), str(address)

    def pasted(self, hint: str, more: str = "", stdin: str = "") -> str:
        """The output of the only printed command with this text, in the folder where `moldau up` runs."""
        (command,) = [line for line in self.printed.splitlines() if line.startswith("  ") and hint in line]
        return self.run(command + more, stdin)

    def run(self, command: str, stdin: str = "") -> str:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.folder.parent,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            env={**os.environ, "PATH": f"{Path(MOLDAU).parent}:{os.environ['PATH']}"},
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    @property
    def passwords(self) -> dict[str, str]:
        found: dict[str, str] = json.loads((self.folder / "users.json").read_text())
        return found

    def settings(self, user: str) -> dict[str, str]:
        found: dict[str, str] = json.loads((self.folder / "clients" / f"{user}.json").read_text())
        return found

    def file(self, name: str) -> str:
        return str(self.folder / "clients" / name)

    def command_lines(self) -> str:
        """Of this process and its children, as `ps` shows them to everybody."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return "".join(Path(f"/proc/{pid}/cmdline").read_text() for pid in (str(self.pid), *children))


SERVICES = ("registry", "rest", "mqtt", "connect", "sql")


@contextmanager
def running(folder: Path, services: Collection[str] = SERVICES) -> Iterator[Up]:
    command = [MOLDAU, "up", "--secure", "--data", "data", "--port", "0"]
    for name in SERVICES:
        command += [f"--{name}-port", "0"] if name in services else [f"--no-{name}"]
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            env={**os.environ, "PATH": f"{Path(MOLDAU).parent}:{os.environ['PATH']}"},
        )
    assert process.stdout is not None
    watchdog = threading.Timer(PATIENCE_S, process.kill)
    watchdog.start()
    try:
        printed = ""
        for line in process.stdout:
            printed += line
            if "Ctrl-C" in line:
                break
        assert "Ctrl-C" in printed, (folder / "log").read_text()
        watchdog.cancel()
        yield Up(folder / "data-security", process.pid, printed)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with running(tmp_path_factory.mktemp("secure")) as up:
        yield up


def test_the_files_of_the_users_connect(up: Up) -> None:
    admin = AdminClient(dict(up.settings("admin")))
    for topic in ("invoices", "demo-invoices"):
        admin.create_topics([NewTopic(topic, 1)])[topic].result(WAIT_S)
    producer = Producer(dict(up.settings("demo")))
    failures: list[str | None] = []
    for topic in ("invoices", "demo-invoices"):
        producer.produce(
            topic,
            b"x",
            on_delivery=lambda error, _: failures.append(error.name() if error is not None else None),
        )
        producer.flush(WAIT_S)
    assert failures == ["TOPIC_AUTHORIZATION_FAILED", None]


def test_the_hints_work_when_pasted(up: Up) -> None:
    up.pasted("topics create")
    up.pasted("produce orders")
    assert "2 apples" in up.pasted("consume orders", " --from-beginning --limit 1")
    up.pasted("schemas list")
    plugins = up.pasted("connect plugins")
    assert "Datagen" in plugins
    assert "FileStream" not in plugins
    assert "orders" in up.pasted("sql http")
    assert "orders" in up.pasted("curl")


def test_connectors_do_not_read_the_keys_beside_the_worker(up: Up) -> None:
    """Not even those of the admin: the connector classes are off, and so are paths that other classes take."""
    _, address = up.listens("connect")
    config = {"topic": "t", "file": "data-security/users.json"}
    database = {"connection.url": "jdbc:sqlite:data-security/users.json", "mode": "bulk", "topic.prefix": "t"}
    for kind, settings, reason in (
        ("FileStreamSource", config, "plugins.disabled"),
        ("JdbcSource", database, "connector.allowed.paths"),
    ):
        body = json.dumps({"name": "x", "config": {"connector.class": kind, **settings}})
        told = "curl --config data-security/clients/admin.curl -H 'Content-Type: application/json'"
        answer = json.loads(up.run(f"{told} -d '{body}' https://{address}/connectors"))
        assert answer["error_code"] == 400
        assert reason in answer["message"]


def test_demo_has_less_rights(up: Up) -> None:
    shell = Shell(up.bootstrap)
    config = ("--command-config", up.file("demo.properties"))
    assert "not authorized" in shell.run("topics", "create", "other", *config, code=1)


def test_demo_at_the_services(up: Up) -> None:
    """Its own subjects, and nothing else."""
    settings = json.loads(Path(up.file("demo.registry.json")).read_text())
    with SchemaRegistryClient(settings) as client:
        client.register_schema("demo-value", Schema('"string"', "AVRO"))
        with pytest.raises(SchemaRegistryError) as refused:
            client.register_schema("fruits-value", Schema('"string"', "AVRO"))
        assert refused.value.http_status_code == 403

    def status(method: str, name: str, path: str, more: str = "") -> str:
        _, address = up.listens(name)
        told = f"curl --config data-security/clients/demo.curl -o /dev/null -w '%{{http_code}}' -X {method} {more}"
        return up.run(f"{told} https://{address}{path}")

    assert status("GET", "connect", "/connectors/x") == "403"
    json_v2 = "-H 'Content-Type: application/vnd.kafka.json.v2+json' -d '{\"records\": [{\"value\": 1}]}'"
    assert status("POST", "rest", "/topics/demo-rest", json_v2) == "200"
    avro_v2 = (
        "-H 'Content-Type: application/vnd.kafka.avro.v2+json' -d "
        '\'{"value_schema": "\\"long\\"", "records": [{"value": 1}]}\''
    )
    assert status("POST", "rest", "/topics/demo-avro", avro_v2) == "200"
    assert status("POST", "rest", "/topics/fruits", avro_v2) == "403"


def test_mosquitto(up: Up) -> None:
    if shutil.which("mosquitto_sub") is None:
        pytest.skip("mosquitto's clients are not installed: Debian's package mosquitto-clients")
    up.run("XDG_CONFIG_HOME=data-security/clients/demo.mosquitto mosquitto_pub -t a/b -m hello -q 1 -r")
    assert up.pasted("mosquitto_sub", " -C 1") == "a/b hello\n"
    _, address = up.listens("mqtt")
    guess = f"-h 127.0.0.1 -p {address.rpartition(':')[2]} --cafile data-security/certs/trust.pem -u admin -P guess"
    up.run(f"! XDG_CONFIG_HOME=/nowhere mosquitto_pub {guess} -t a/b -m guessed")


def test_sql_reaches_the_registry_and_connect(up: Up) -> None:
    def told(statement: str) -> str:
        (command,) = [line for line in up.printed.splitlines() if "sql http" in line]
        return up.run(command.partition("--execute")[0] + f'--execute "{statement}"')

    told("CREATE STREAM fruits (name STRING) WITH (kafka_topic='fruits', value_format='AVRO', partitions=1);")
    assert "fruits-value" in up.pasted("schemas list")
    told("SHOW CONNECTORS;")
    settings = json.loads(Path(up.file("admin.registry.json")).read_text())
    with SchemaRegistryClient(settings) as client:
        assert "fruits-value" in client.get_subjects()


def test_kcat(up: Up) -> None:
    try:
        kcat = KcatClient(up.bootstrap)
    except KcatMissing as reason:
        pytest.skip(str(reason))
    kcat.run("-F", up.file("demo.kcat.properties"), "-P", "-t", "demo-kcat", stdin="from kcat\n")
    found = kcat.run("-F", up.file("demo.kcat.properties"), "-C", "-t", "demo-kcat", "-e", "-o", "beginning")
    assert "from kcat" in found


@pytest.mark.java
def test_java(up: Up, tmp_path: Path) -> None:
    try:
        driver = JavaDriver(tmp_path / "driver.log")
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    lines = Path(up.file("demo.java.properties")).read_text().splitlines()
    settings = dict(line.split("=", 1) for line in lines)
    spark = json.loads(Path(up.file("demo.spark.json")).read_text())
    assert spark == {f"kafka.{name}": text for name, text in settings.items()}
    try:
        java = JavaClient(driver, up.bootstrap)
        java.produce("demo-java", [Record(b"from Java")], settings)
        assert java.consume("demo-java", count=1, settings=settings)[0].value == b"from Java"
    finally:
        driver.close()


def test_nobody_else_gets_in(up: Up) -> None:
    refusals: list[KafkaError] = []
    wrong: dict[str, Any] = {"sasl.password": "guess", "log_level": "0", "error_cb": refusals.append}
    guessing = AdminClient({**up.settings("admin"), **wrong})
    wait_until(
        lambda: guessing.poll(0.05) >= 0 and any(map(is_refused_login, refusals)),
        "the login with a guessed password is refused",
        WAIT_S,
    )
    assert "speaks TLS, and security.protocol=plaintext does not" in Shell(up.bootstrap).run(
        "topics", "list", "--timeout", str(WAIT_S), code=1
    )
    for name, path in (
        ("registry", "/subjects"),
        ("rest", "/topics"),
        ("connect", "/connectors"),
        ("sql", "/info"),
    ):
        scheme, address = up.listens(name)
        assert scheme == "https"
        status = "curl --silent --cacert data-security/certs/trust.pem -o /dev/null -w '%{http_code}'"
        assert up.run(f"{status} https://{address}{path}") == "401", name


def is_refused_login(error: KafkaError) -> bool:
    return error.code() == KafkaError._AUTHENTICATION


def test_secrets_stay_in_files_of_their_owner(up: Up) -> None:
    log = (up.folder.parent / "log").read_text()
    for password in up.passwords.values():
        assert password not in up.command_lines()
        assert password not in up.printed
        assert password not in log
    for path in up.folder.rglob("*"):
        if path.is_file() and path.suffix not in (".crt",):
            text = path.read_text()
            if "PRIVATE KEY" in text or any(each in text for each in up.passwords.values()):
                assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_the_next_start_has_the_same_users(tmp_path: Path) -> None:
    with running(tmp_path, services=()) as first:
        passwords = first.passwords
        ca = (first.folder / "certs" / "ca.pem").read_text()
    with running(tmp_path, services=()) as second:
        assert second.passwords == passwords
        assert (second.folder / "certs" / "ca.pem").read_text() == ca
        AdminClient(dict(second.settings("demo"))).list_topics(timeout=WAIT_S)
