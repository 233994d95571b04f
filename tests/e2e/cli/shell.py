"""Runs the installed `moldau` command as a person does, and reads what it prints."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

MOLDAU = str(Path(sys.executable).with_name("moldau"))
COMMAND_TIMEOUT_S = 60


class Shell:
    """Runs `moldau` with the broker's address in the environment."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.environment = {
            **os.environ,
            "MOLDAU_BOOTSTRAP_SERVER": bootstrap,
            # Whoever runs the tests may have profiles of their own.
            "XDG_CONFIG_HOME": os.devnull,
        }

    def run(self, *arguments: str, stdin: str | bytes = b"", code: int = 0) -> str:
        """Standard output, or standard error when the command is to fail."""
        done = self.finished(*arguments, stdin=stdin)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stderr if code else done.stdout

    def finished(self, *arguments: str, stdin: str | bytes = b"") -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [MOLDAU, *arguments],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            env=self.environment,
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        self.run("topics", "delete-records", f"{topic}:{partition}", "--before-offset", str(before), "--yes")

    def started(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [MOLDAU, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
            text=True,
            # Whoever runs the tests in the background hands down a Ctrl-C that is ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )


def consumed(shell: Shell, topic: str, *options: str) -> list[str]:
    return shell.run("consume", topic, *options).splitlines()


def records(shell: Shell, topic: str, *options: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in consumed(shell, topic, "--format", "json", *options)]


def describe(shell: Shell, topic: str) -> dict[str, object]:
    [report] = json.loads(shell.run("topics", "describe", topic, "--output", "json"))
    assert isinstance(report, dict)
    return report


def read_line(process: "subprocess.Popen[str]") -> str:
    lines: list[str] = []
    assert process.stdout is not None
    reader = threading.Thread(target=lambda stream: lines.append(stream.readline()), args=[process.stdout])
    reader.start()
    reader.join(COMMAND_TIMEOUT_S)
    if not lines:
        process.kill()
        reader.join()
    return lines[0]
