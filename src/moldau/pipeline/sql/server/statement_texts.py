"""The statements of a request, one after the other, each with the variables of its time. Pure."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeVar

from moldau.pipeline.sql.engine import Session
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.parser import Parsed, parse
from moldau.pipeline.sql.syntax.tokens import Kind, tokenize

VARIABLE: Final = "${"
T = TypeVar("T")


def statement_texts(text: str) -> list[str]:
    """Cut at the semicolons. Needs no variables: a text with `${name}` in it is no statement yet."""
    if VARIABLE not in text:
        return [one.text for one in parse(text)]
    found: list[str] = []
    start: int | None = None
    for token in tokenize(text):
        is_end = token.kind is Kind.SYMBOL and token.text == ";"
        if start is None and not is_end:
            start = token.start
        if start is not None and (is_end or token.kind is Kind.END):
            found.append(text[start : token.end])
            start = None
    return [one for one in found if one.strip()]


def parsed(text: str, session: Session) -> Parsed:
    """One statement. SqlError knows the text as it was after the substitution."""
    written = session.substituted(text)
    with errors_within(written):
        return _only(parse(written))


@contextmanager
def errors_within(text: str) -> Iterator[None]:
    """Errors about the text know it, for the caret."""
    try:
        yield
    except SqlError as wrong:
        raise wrong.within(text) from None


def single(text: str, session: Session) -> Parsed:
    """The only statement of a text."""
    return parsed(_only(statement_texts(text)), session)


def _only(found: Sequence[T]) -> T:
    if len(found) != 1:
        raise SqlError(f"exactly one statement is expected here; the text has {len(found) or 'none'}")
    return found[0]
