"""`moldau up --secure`: what it writes is enough to connect, and without it nobody gets in."""

import json
import signal
import stat
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from compat.client import Record
from compat.java_client import JavaClient, JavaDriver
from compat.kcat_client import KcatClient, KcatMissing
from compat.server_process import free_port
from e2e.cli.shell import MOLDAU, Shell
from e2e.registry.registry_process import PATIENCE_S, ask
from kafka_jars import KafkaJarsUnavailable

pytestmark = pytest.mark.slow

WAIT_S = 60


class Up:
    def __init__(self, folder: Path, pid: int, printed: str, registry_url: str, bootstrap: str) -> None:
        self.folder = folder
        self.pid = pid
        self.printed = printed
        self.registry_url = registry_url
        self.bootstrap = bootstrap

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


@contextmanager
def running(folder: Path) -> Iterator[Up]:
    port, registry_port = free_port(), free_port()
    command = [MOLDAU, "up", "--secure", "--data", str(folder / "data"), "--port", str(port)]
    command += ["--no-sql", "--no-connect", "--no-rest"]
    command += ["--registry-override", f"listeners=http://127.0.0.1:{registry_port}"]
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
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
        url = f"http://127.0.0.1:{registry_port}"
        yield Up(folder / "data-security", process.pid, printed, url, f"127.0.0.1:{port}")
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
    for topic in ("orders", "demo-orders"):
        admin.create_topics([NewTopic(topic, 1)])[topic].result(WAIT_S)
    producer = Producer(dict(up.settings("demo")))
    failures: list[str | None] = []
    for topic in ("orders", "demo-orders"):
        producer.produce(topic, b"x", on_delivery=lambda error, _: failures.append(error and error.name()))
        producer.flush(WAIT_S)
    assert failures == ["TOPIC_AUTHORIZATION_FAILED", None]


def test_the_hints_work_when_pasted(up: Up) -> None:
    shell = Shell(up.bootstrap)
    config = ("--command-config", up.file("admin.properties"))
    shell.run("topics", "create", "pasted", *config)
    shell.run("produce", "pasted", *config, stdin="2 apples\n")
    read = shell.run("consume", "pasted", "--from-beginning", "--limit", "1", *config)
    assert "2 apples" in read
    assert "not authorized" in shell.run(
        "topics", "create", "other", "--command-config", up.file("demo.properties"), code=1
    )


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
    settings = up.settings("admin")
    guess = {**settings, "sasl.password": "guess", "log_level": "0"}
    plain = {"bootstrap.servers": up.bootstrap, "log_level": "0"}
    for wrong in (guess, plain):
        with pytest.raises(KafkaException):
            AdminClient(dict(wrong)).list_topics(timeout=2)
    assert ask(up.registry_url, "GET", "/subjects").status == 401


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
    with running(tmp_path) as first:
        passwords = first.passwords
        ca = (first.folder / "certs" / "ca.pem").read_text()
    with running(tmp_path) as second:
        assert second.passwords == passwords
        assert (second.folder / "certs" / "ca.pem").read_text() == ca
        AdminClient(dict(second.settings("demo"))).list_topics(timeout=WAIT_S)
