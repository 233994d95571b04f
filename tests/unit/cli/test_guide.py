"""The guides name every command, and no command or option that does not exist."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from moldau.cli.main import Noun, platform

DOCS = Path(__file__).parents[3] / "docs"
GUIDES = [*sorted((DOCS / "guides").glob("*.md")), DOCS.parent / "README.md"]
ROW = re.compile(r"^\| `(?P<command>[a-z-]+)` \| (?P<subcommands>[^|]*)\| [^|]+ \|$", re.MULTILINE)
LINE = re.compile(r"^\$ (?P<command>.*\bmoldau [a-z].*)$", re.MULTILINE)
COMMENT = re.compile(r"\s#\s.*$")
SHOWN_AS_WRONG = {"moldau topics --create --topic orders --partitions 3"}


def loaded(name: str) -> click.Command:
    command = platform.commands[name]
    return command.load() if isinstance(command, Noun) else command


def subcommands(command: click.Command) -> set[str]:
    return set(command.commands) if isinstance(command, click.Group) else set()


def examples() -> Iterator[tuple[str, str]]:
    """Each `moldau` command on a line that begins with a prompt, without comments, pipes and redirections."""
    for guide in GUIDES:
        for line in LINE.findall(guide.read_text(encoding="utf-8").replace("\\\n", " ")):
            words = shlex.shlex(COMMENT.sub("", line), posix=False, punctuation_chars="|<>&;")
            words.whitespace_split = True
            words.commenters = ""
            command: list[str] = []
            for word in [*words, ";"]:
                if not set(word) <= set("|<>&;"):
                    command.append(word)
                    continue
                if command and command[0].rpartition("/")[2] == "moldau":
                    yield guide.name, " ".join(["moldau", *command[1:]])
                command = []


def test_the_table_of_the_guide_names_every_command() -> None:
    guide = (DOCS / "guides" / "command-line.md").read_text(encoding="utf-8")
    table = guide[: guide.index("## ")]
    told = {
        row["command"]: set(re.findall(r"`([a-z-]+)`", row["subcommands"])) for row in ROW.finditer(table)
    }
    assert told == {name: subcommands(loaded(name)) for name in platform.commands}


def test_examples_were_found() -> None:
    assert len(set(examples())) > 100


@pytest.mark.parametrize(("guide", "example"), sorted(set(examples())))
def test_an_example_has_only_commands_and_options_that_exist(guide: str, example: str) -> None:
    if example in SHOWN_AS_WRONG:
        return
    _, *words = shlex.split(example)
    command: click.Command = platform
    context = click.Context(command, info_name="moldau")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name = words.pop(0)
        assert name in command.commands, f"{guide}: {example}"
        command = loaded(name) if command is platform else command.commands[name]
        context = click.Context(command, parent=context, info_name=name)
    # Raises for an unknown option, and for one without its value.
    command.make_parser(context).parse_args(words)


def test_help_is_complete() -> None:
    """Every command and every option of every command has a text."""

    def check(path: str, command: click.Command) -> None:
        assert command.help, path
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert parameter.help, f"{path} {parameter.opts[0]}"
        for name, each in command.commands.items() if isinstance(command, click.Group) else ():
            check(f"{path} {name}", each)

    for name in platform.commands:
        check(f"moldau {name}", loaded(name))
