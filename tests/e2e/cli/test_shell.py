"""Completion, and how long the help takes."""

import resource
import subprocess
import sys
from pathlib import Path

from e2e.cli.shell import MOLDAU, Shell

HELP_MS_MAX = 200


def completed(shell: Shell, line: str) -> list[str]:
    words = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" ")), "_MOLDAU_COMPLETE": "bash_complete"}
    done = subprocess.run(
        [MOLDAU], env={**shell.environment, **words}, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_names_of_the_cluster_complete(shell: Shell, orders: str) -> None:
    for noun in ("topics describe", "consume", "offsets", "configs set topic", "perf latency"):
        assert f"plain,{orders}" in completed(shell, f"moldau {noun} {orders[:-1]}")
    group = f"group-of-{orders}"
    shell.run("groups", "reset", group, "--topic", orders, "--to-latest", "--execute")
    for noun in ("groups describe", "groups reset", "explain group", "consume orders --group"):
        assert f"plain,{group}" in completed(shell, f"moldau {noun} {group[:-1]}")


def test_a_completion_without_a_cluster_is_silent(shell: Shell) -> None:
    nobody = {**shell.environment, "MOLDAU_BOOTSTRAP_SERVER": "127.0.0.1:1"}
    words = {"COMP_WORDS": "moldau groups describe x", "COMP_CWORD": "3", "_MOLDAU_COMPLETE": "bash_complete"}
    done = subprocess.run([MOLDAU], env={**nobody, **words}, capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("", "")


def test_a_profile_leads_to_the_cluster(shell: Shell, orders: str, tmp_path: Path) -> None:
    environment = {**shell.environment, "XDG_CONFIG_HOME": str(tmp_path)}
    del environment["MOLDAU_BOOTSTRAP_SERVER"]

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [MOLDAU, *arguments], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    run("profile", "add", "here", "--bootstrap-server", shell.bootstrap, "-X", "client.id=by-profile")
    assert orders in run("topics", "list", "--profile", "here")
    run("profile", "use", "here")
    assert orders in run("topics", "list")


def test_help_is_instant() -> None:
    """In processor time, the best of five: what other processes do to the clock is not counted."""

    def spent_ms() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([MOLDAU, "--help"], stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)

    assert min(spent_ms() for _ in range(5)) < HELP_MS_MAX


def test_the_package_runs_as_the_command() -> None:
    by_name = subprocess.run([MOLDAU, "--help"], capture_output=True, text=True, check=True)
    by_package = subprocess.run(
        [sys.executable, "-m", "moldau", "--help"], capture_output=True, text=True, check=True
    )
    assert by_package.stdout == by_name.stdout
