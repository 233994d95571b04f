"""Many Java clients in one JVM, driven over a pipe at the same time: `java/src/compat/GroupsDriver.java`.

Owns the JVM, its pipe and the compiled classes. What the clients are asked is up to `java_member`, `java_admin` and
`java_transactions`.
"""

import itertools
import json
import shutil
import subprocess
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from compat.apache_kafka import java_command
from compat.client import ClientFailure
from compat.java_client import SOURCES
from kafka_jars import KafkaJarsUnavailable, cached_folder, digest_of, kafka_jars

OWN_SOURCES = Path(__file__).parent / "java" / "src"
ANSWER_TIMEOUT_S = 60
QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"


class JavaPipe:
    """Requests to one actor are served in turn, to several at the same time."""

    def __init__(self, log_path: Path) -> None:
        self._log_path = log_path
        self._ids = itertools.count()
        self._due: dict[int, Future[Any]] = {}
        self._writing = threading.Lock()
        command = [*java_command("-Xmx384m", QUIET, classpath=[classes()]), "compat.GroupsDriver"]
        with log_path.open("wb") as log:
            self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def call(self, actor: str, operation: str, **arguments: Any) -> Any:
        return self.send(actor, operation, **arguments).result(ANSWER_TIMEOUT_S)

    def send(self, actor: str, operation: str, **arguments: Any) -> Future[Any]:
        """The answer to come; a failure is a ClientFailure with Kafka's name of the error."""
        answer: Future[Any] = Future()
        with self._writing:
            number = next(self._ids)
            self._due[number] = answer
            request = {"id": number, "actor": actor, "operation": operation, **arguments}
            assert self._child.stdin is not None
            self._child.stdin.write(json.dumps(request).encode() + b"\n")
            self._child.stdin.flush()
        return answer

    def log_text(self) -> str:
        return self._log_path.read_text(errors="replace")

    def close(self) -> None:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.close()
        self._child.wait(30)
        self._reader.join()
        self._child.stdout.close()

    def _read(self) -> None:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            answer = json.loads(line)
            waiting = self._due.pop(answer["id"])
            if "error" in answer:
                waiting.set_exception(ClientFailure(answer["error"], answer["message"]))
            else:
                waiting.set_result(answer["result"])
        for waiting in self._due.values():
            waiting.set_exception(AssertionError(f"the Java driver ended:\n{self.log_text()[-4000:]}"))


def classes() -> Path:
    """The drivers, compiled once for each state of their sources and of Kafka's jars."""
    sources = sorted([*SOURCES.rglob("*.java"), *OWN_SOURCES.rglob("*.java")])
    jars = kafka_jars()
    digest = digest_of(*(source.read_bytes() for source in sources), *(jar.name.encode() for jar in jars))

    def compile_into(folder: Path) -> None:
        compiler = shutil.which("javac")
        if compiler is None:
            raise KafkaJarsUnavailable(
                "the Java compiler (javac) is not installed; run tools/install-test-tools"
            )
        places = ":".join(str(jar) for jar in jars)
        command = [compiler, "-nowarn", "-d", str(folder), "-cp", places, *map(str, sources)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    return cached_folder("java-classes", digest, compile_into)
