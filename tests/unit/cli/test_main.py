"""The root command: help, exit codes, suggestions, and that nothing is loaded before it is needed."""

import subprocess
import sys

import pytest

from moldau import __version__
from moldau.cli.main import main, platform


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    listed = capsys.readouterr().out
    for name, noun in platform.commands.items():
        assert name in listed and noun.get_short_help_str(200) in listed


@pytest.mark.parametrize("name", list(platform.commands))
def test_every_command_loads_under_its_name_and_explains_itself(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: moldau {name} ")


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"moldau {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [
        (["topic"], "'topics'"),
        (["topics", "creat"], "'create'"),
        (["topics", "create", "x", "--partitons", "3"], "'--partitions'"),
        (["consume", "x", "--form", "json"], "'--format'"),
    ],
)
def test_a_mistyped_word_is_wrong_usage_with_a_suggestion(
    arguments: list[str], suggestion: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert "Did you mean" in error and suggestion in error


@pytest.mark.parametrize(
    "arguments",
    [
        ["topics", "create"],
        ["topics", "alter", "x"],
        ["produce", "x", "--key", "k", "--key-separator", ":"],
        ["produce", "x", "--acks", "2"],
        ["consume", "x", "--from-beginning", "--from-time", "1h"],
        ["consume", "x", "--limit", "0"],
        ["consume", "x", "--group", "g", "--partition", "0"],
        ["produce", "x", "--format", "json", "--null-marker", ""],
        ["produce", "x", "--keep-partitions"],
        ["configs", "set", "topic", "x"],
        ["configs", "set", "topic", "a=b"],
        ["configs", "unset", "broker-defaults"],
        ["offsets", "x:y"],
        ["offsets", "x", "--at", "soon"],
        ["explain", "offset", "g", "orders"],
        ["transactions", "abort"],
        ["transactions", "abort", "id", "--hanging", "t:0"],
        ["transactions", "abort", "--hanging", "t"],
        ["log", "dump"],
        ["groups", "reset", "g"],
        ["groups", "reset", "g", "--to-earliest", "--to-offset", "0"],
        ["groups", "reset", "g", "--to-offset", "-1"],
    ],
)
def test_wrong_usage_is_seen_before_any_broker_is_asked(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert "Error: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "kept_out"),
    [
        (["--help"], {"confluent_kafka", "orjson", "asyncio", "moldau.node"}),
        (["broker", "--help"], {"confluent_kafka", "asyncio", "moldau.node"}),
    ],
)
def test_what_a_command_does_not_need_is_not_loaded(arguments: list[str], kept_out: set[str]) -> None:
    program = (
        "import sys; from moldau.cli.main import main; "
        f"assert main({arguments}) == 0; "
        f"print('loaded:', *sorted({kept_out!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded:"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "_MOLDAU_COMPLETE" in capsys.readouterr().out


def test_the_settings_are_printed_as_a_file_to_start_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["broker", "--list-settings"]) == 0
    assert "#listeners=PLAINTEXT://:9092" in capsys.readouterr().out.splitlines()
