"""The form of a file of cases: SQL with directives in comments.

    --@test: a filter keeps what it should
    CREATE STREAM ...;
    INSERT INTO ... VALUES ...;
    ASSERT VALUES ...;

    --@test: an unknown column is an error
    --@expected.error: SqlError
    --@expected.message: unknown column

    --@test: an old form is understood, with a hint at today's
    --@expected.warning: is the form of KSQL 5

Statements before the first `--@test` run at the beginning of every case of the file.
"""

import re
from dataclasses import dataclass
from typing import Final

from moldau.core.errors import ConfigError

_DIRECTIVE: Final = re.compile(r"\s*--@(?P<name>[\w.]+)\s*:?\s*(?P<text>.*)")
_NAMES: Final = ("test", "expected.error", "expected.message", "expected.warning")


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    line: int
    """Of its `--@test`, counted from 1."""
    prelude: str
    """The statements that all cases of the file begin with."""
    text: str
    """Its own statements, behind as many empty lines as stand before them in the file, so that positions are right."""
    expected_error: str | None = None
    expected_messages: tuple[str, ...] = ()
    expected_warnings: tuple[str, ...] = ()

    @property
    def expects_error(self) -> bool:
        return self.expected_error is not None or bool(self.expected_messages)


def read_cases(text: str, file: str = "<text>") -> list[Case]:
    """All cases of a text; ConfigError for a directive that is not known."""
    lines = text.split("\n")
    found = [(number, *directive) for number, line in enumerate(lines, 1) if (directive := _directive(line))]
    for number, name, _ in found:
        if name not in _NAMES:
            known = ", ".join(f"--@{one}" for one in _NAMES)
            raise ConfigError(f"{file}:{number}: unknown directive --@{name}; known are {known}")
    starts = [number for number, name, _ in found if name == "test"]
    if not starts:
        raise ConfigError(f"{file}: no case in the file; a case begins with a line --@test: name")
    prelude = "\n".join(lines[: starts[0] - 1])
    cases = []
    for start, end in zip(starts, [*starts[1:], len(lines) + 1], strict=True):
        own = [(name, value) for number, name, value in found if start <= number < end]
        cases.append(
            Case(
                next(value for name, value in own if name == "test"),
                start,
                prelude,
                "\n" * (start - 1) + "\n".join(lines[start - 1 : end - 1]),
                next((value for name, value in own if name == "expected.error"), None),
                tuple(value for name, value in own if name == "expected.message"),
                tuple(value for name, value in own if name == "expected.warning"),
            )
        )
    return cases


def _directive(line: str) -> tuple[str, str] | None:
    found = _DIRECTIVE.fullmatch(line)
    return None if found is None else (found["name"], found["text"].strip())
