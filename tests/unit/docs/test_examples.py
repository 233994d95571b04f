"""Every example in the documents is at least well formed: Python compiles, commands and their options exist.

Some are run as well: those of testing.md by `tests/unit/testing`, of streams.md by `tests/unit/pipeline`, of
schema-registry.md by `tests/e2e/registry`.
"""

import json
import re
import shlex
import tomllib

import click
import pytest

from documents import ROOT, Block, Page, pages
from moldau.cli.kafka_syntax import translated
from moldau.cli.main import Noun, platform

PAGES = pages()
SHELLS = ("", "console", "sh", "bash", "shell")
TARGETS = set(re.findall(r"^(\w[\w-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def parse_python(text: str) -> None:
    """What is quoted from the code may end with the decorators of what follows there."""
    follows = "def follows(): ...\n" if text.splitlines()[-1].startswith("@") else ""
    compile(text + follows, "example", "exec")


PARSED = {"python": parse_python, "toml": tomllib.loads, "json": json.loads}
OPERATORS = "|&;<>"
HIDDEN = {ord(operator): 0xE000 + ord(operator) for operator in OPERATORS}
"""Operators within quotes, while a line is split at the others."""
SHOWN = {mark: operator for operator, mark in HIDDEN.items()}

EXAMPLES = [(page, block) for page in PAGES for block in page.blocks(*PARSED)]


def commands(block: Block) -> list[list[str]]:
    """The commands of a block, each as words. Where lines begin with a prompt, the others are output."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.language == "console":
        lines = _typed(lines)
    found = []
    for line in lines:
        hidden = re.sub(r"'[^']*'", lambda quoted: quoted[0].translate(HIDDEN), line)
        lexer = shlex.shlex(hidden, posix=True, punctuation_chars=OPERATORS)
        lexer.whitespace_split = True
        found += [[word.translate(SHOWN) for word in words] for words in _split_at_operators(list(lexer))]
    return found


def _typed(lines: list[str]) -> list[str]:
    """What follows a prompt, with further lines as long as a quotation is open."""
    found: list[str] = []
    for line in lines:
        if line.startswith("$ "):
            found.append(line[2:])
        elif found and _is_open(found[-1]):
            found[-1] += f"\n{line}"
    return found


def _is_open(line: str) -> bool:
    try:
        shlex.split(line)
    except ValueError:
        return True
    return False


def _split_at_operators(words: list[str]) -> list[list[str]]:
    """One command for each side of a pipe; what is redirected, and where to, is left out."""
    parts: list[list[str]] = [[]]
    is_file = False
    for word in words:
        if is_file:
            is_file = False
        elif set(word) <= set("<>"):
            is_file = True
        elif set(word) <= set("|&;"):
            parts.append([])
        else:
            parts[-1].append(word)
    return [part for part in parts if part]


ALL_COMMANDS = [
    pytest.param(words, id=f"{page}: {' '.join(words)}")
    for page in PAGES
    for block in page.blocks(*SHELLS)
    if block.language or re.match(r"(make|moldau|python|pytest) ", block.text)
    for words in commands(block)
]
IN_PROSE = [
    pytest.param(shlex.split(span), id=f"{page}: {span}")
    for page in PAGES
    for span in sorted(set(page.code_spans()))
    if re.match(r"moldau [a-z]", span)
]
OURS = [case for case in ALL_COMMANDS if case.values[0][0].rpartition("/")[2] == "moldau"]
MADE = [case for case in ALL_COMMANDS if case.values[0][0] == "make"]


@pytest.mark.parametrize(
    ("page", "block"), EXAMPLES, ids=[f"{page}:{block.line}" for page, block in EXAMPLES]
)
def test_it_is_well_formed(page: Page, block: Block) -> None:
    PARSED[block.language](block.text)


@pytest.mark.parametrize("words", OURS)
def test_command_exists(words: list[str]) -> None:
    """A command of Kafka's tools may stand as an example of what is refused: then its translation must exist."""
    meant = translated(words[1:])
    _parse(platform, shlex.split(meant)[1:] if meant else words[1:])


@pytest.mark.parametrize("words", IN_PROSE)
def test_command_in_prose_exists(words: list[str]) -> None:
    _parse(platform, words[1:], is_whole=False)


@pytest.mark.parametrize("words", MADE)
def test_target_exists(words: list[str]) -> None:
    targets = [word for word in words[1:] if "=" not in word]
    assert set(targets) <= TARGETS


@pytest.mark.parametrize("words", ALL_COMMANDS)
def test_programs_exist(words: list[str]) -> None:
    named = [word for word in words if re.match(r"(bench|tests|tools)/(?!out/)", word)]
    missing = [word for word in named if not list(ROOT.glob(word)) and not (ROOT / word).exists()]
    assert missing == []


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 25
    assert len(OURS) >= 120
    assert len(IN_PROSE) >= 20
    assert len(MADE) >= 5


def _parse(command: click.Command, arguments: list[str], is_whole: bool = True) -> None:
    """As click does, short of running it: options and subcommands exist, no argument is missing or left over.

    A command in prose need not be whole.
    """
    if isinstance(command, Noun):
        command = command.load()
    with click.Context(command, info_name="moldau") as context:
        options, rest, _ = command.make_parser(context).parse_args(list(arguments))
        may_be_short = not is_whole or options.get("help") is True or options.get("version") is True
        for parameter in command.params:
            value = options.get(parameter.name)
            if isinstance(parameter.type, click.Choice) and isinstance(value, str):
                parameter.type.convert(value, parameter, context)
            is_missing = isinstance(parameter, click.Argument) and parameter.required and not value
            assert may_be_short or not is_missing, f"{parameter.name} is missing"
        if isinstance(command, click.Group):
            if rest:
                _, subcommand, rest = command.resolve_command(context, rest)
                assert subcommand is not None
                _parse(subcommand, rest, is_whole)
            else:
                assert command.invoke_without_command or may_be_short, "a subcommand is missing"
        else:
            assert rest == [], "too many arguments"
