"""Runs every case of a file."""

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from moldau.core.errors import MoldauError
from moldau.pipeline.code.source import FAILURES
from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.cases.assertions import AssertionFailed
from moldau.pipeline.sql.cases.case_file import Case, read_cases
from moldau.pipeline.sql.cases.world import World
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.syntax.errors import Position, SqlError
from moldau.pipeline.sql.syntax.parser import parse
from moldau.pipeline.sql.syntax.tokens import Kind, Token, tokenize
from moldau.pipeline.sql.syntax.tree.statements import RunScript

ReadScript = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class CaseResult:
    name: str
    file: str
    line: int
    problem: str | None = None
    """Why the case failed; None: it passed."""

    @property
    def passed(self) -> bool:
        return self.problem is None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}"
        return f"ok      {place}: {self.name}" if self.passed else f"FAILED  {self.problem}"


def run_file(path: str | Path, library: FunctionLibrary | None = None) -> list[CaseResult]:
    """The results of all cases of a file, in their order. ConfigError for a file that has none."""
    file = Path(path)

    def read_script(name: str) -> str:
        return (file.parent / name.lstrip("/")).read_text(encoding="utf-8")

    return run_text(file.read_text(encoding="utf-8"), str(path), library, read_script)


def run_text(
    text: str,
    file: str = "<text>",
    library: FunctionLibrary | None = None,
    read_script: ReadScript | None = None,
) -> list[CaseResult]:
    functions = builtin() if library is None else library
    return [run_case(case, file, functions, read_script) for case in read_cases(text, file)]


def run_case(
    case: Case, file: str, functions: FunctionLibrary, read_script: ReadScript | None = None
) -> CaseResult:
    problem = _problem(case, file, functions, read_script)
    return CaseResult(case.name, file, case.line, problem)


def execute_case(world: World, case: Case, read_script: ReadScript | None = None) -> None:
    """Raises what the first statement that fails, or asserts something else, raises."""
    for text in (case.prelude, case.text):
        _execute(world, text, read_script)


def _problem(case: Case, file: str, functions: FunctionLibrary, read_script: ReadScript | None) -> str | None:
    world = World(functions)
    found: Exception | None = None
    try:
        execute_case(world, case, read_script)
    except (MoldauError, NotImplementedError) as wrong:
        found = wrong
    except (*FAILURES, AssertionError, OSError, RecursionError) as wrong:
        at = "".join(traceback.format_exception(wrong, limit=-4))
        return f"{file}:{case.line}: {case.name}: {type(wrong).__name__}: {wrong}\n{at}"
    if case.expects_error:
        return _unexpected(case, file, found)
    if found is None:
        return _unwarned(case, file, world.warnings)
    line = found.at.line if isinstance(found, SqlError) and found.at.line else case.line
    told = f"\n  failed expressions: {'; '.join(world.failures)}" if world.failures else ""
    return f"{file}:{line}: {case.name}: {found}{told}"


def _unwarned(case: Case, file: str, warnings: list[str]) -> str | None:
    missing = [text for text in case.expected_warnings if not any(text in one for one in warnings)]
    if not missing:
        return None
    told = "; ".join(warnings) or "there is none"
    return f"{file}:{case.line}: {case.name}: a warning should say {missing[0]!r}: {told}"


def _execute(world: World, text: str, read_script: ReadScript | None) -> None:
    """One statement after the other, since DEFINE changes the text of those behind it."""
    for at, piece in split(text):
        try:
            placed = "\n" * (at.line - 1) + " " * (at.column - 1) + world.substituted(piece)
            (one,) = parse(placed)
            if isinstance(one.statement, RunScript) and read_script is not None:
                _execute(world, read_script(one.statement.file), None)
            else:
                world.execute(one)
        except SqlError as wrong:
            raise wrong.within(text) from None


def split(text: str) -> Iterator[tuple[Position, str]]:
    """The statements of a text with their places, each with its semicolon."""
    first: Token | None = None
    for token in tokenize(text):
        is_end = token.kind is Kind.END or (token.kind is Kind.SYMBOL and token.text == ";")
        if first is None and not is_end:
            first = token
        elif first is not None and is_end:
            yield first.at, text[first.start : token.end]
            first = None


def _unexpected(case: Case, file: str, found: Exception | None) -> str | None:
    """What is not as the case expects of its error. A Java name of an exception stands for any error, except that
    of a failed assertion."""
    place = f"{file}:{case.line}: {case.name}"
    if found is None:
        return f"{place}: an error is expected, and there is none"
    wanted = (case.expected_error or "").rpartition(".")[2]
    is_assertion = wanted in ("AssertionError", "AssertionFailed")
    if is_assertion and not isinstance(found, AssertionFailed):
        return f"{place}: a failed assertion is expected, found: {found}"
    if isinstance(found, NotImplementedError):
        return f"{place}: not implemented: {found}"
    missing = [message for message in case.expected_messages if message not in str(found)]
    if missing:
        return f"{place}: the error should say {missing[0]!r}; it says:\n{found}"
    return None
