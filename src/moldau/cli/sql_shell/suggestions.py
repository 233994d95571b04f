"""What may stand at the cursor: keywords, and names of the server. Pure."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from moldau.cli.sql_shell.keywords import KEYWORDS, PROPERTIES_OF_SOURCES, STARTS, TYPES
from moldau.cli.sql_shell.server_names import ServerNames
from moldau.cli.sql_shell.statements import split

_WORD: Final = re.compile(r"[\w.`@]*\Z")
_IN_STRING: Final = re.compile(r"[^']*(?:'[^']*'[^']*)*'(?P<word>[^']*)\Z")
_RELATION: Final = re.compile(
    r"\b(?:FROM|JOIN|INTO)\s+(?P<name>`[^`]+`|\w+)"
    rf"(?:\s+(?:AS\s+)?(?P<alias>(?!(?:{'|'.join(KEYWORDS)})\b)\w+))?",
    re.I,
)
_BARE: Final = re.compile(r"[A-Z_][A-Z0-9_@]*")


class Suggestion(NamedTuple):
    text: str
    kind: str
    """Shown beside it: keyword, function, column, stream or table, topic, query."""


class Suggestions(NamedTuple):
    word: str
    """What of it is typed already: a suggestion replaces this."""
    found: list[Suggestion]


def suggest(before: str, after: str, names: ServerNames) -> Suggestions:
    """`before` and `after` are the text around the cursor."""
    statement = split(before).rest
    statement += before[len(before.rstrip()) :] if statement else ""
    if (quoted := _IN_STRING.fullmatch(statement)) is not None:
        kind = "property" if re.match(r"\s*(?:UN|ALTER\s+SYSTEM\s+)?SET\b", statement, re.I) else ""
        return _matching(quoted["word"], [(kind, names.properties)] if kind else [])
    word = _word_at_the_end(statement)
    typed = statement[: len(statement) - len(word)]
    whole = " ".join([statement, *split(after + ";").complete[:1]])
    if "." in word:
        alias, _, begun = word.rpartition(".")
        columns = _relations(whole, names).get(alias.strip("`").upper(), ())
        return _matching(begun, [("column", columns)])
    return _matching(word, _candidates(typed, whole, names))


def _word_at_the_end(statement: str) -> str:
    found = _WORD.search(statement)
    return found[0] if found else ""


def _candidates(typed: str, whole: str, names: ServerNames) -> list[tuple[str, Iterable[str]]]:
    """In the order of how likely they are."""
    words = re.findall(r"[\w`]+|[^\s\w]", typed.upper())
    if not words:
        return [("statement", STARTS)]
    first, last = words[0], words[-1]
    sources = ("stream or table", names.sources)
    keywords = ("keyword", KEYWORDS)
    if last in ("FROM", "JOIN", "INTO") and first != "PRINT":
        return [sources]
    if last == "FUNCTION":
        return [("function", names.functions)]
    if last == "PRINT":
        return [("topic", names.topics)]
    if last == "DESCRIBE" or (first in ("DROP", "ALTER") and last in ("STREAM", "TABLE", "EXISTS")):
        return [sources, ("type", names.types), keywords]
    if first in ("TERMINATE", "PAUSE", "RESUME", "EXPLAIN") and len(words) == 1:
        return [("query", names.queries), keywords]
    if first == "CREATE" and "WITH" in words and "SELECT" not in words:
        return [("property", PROPERTIES_OF_SOURCES)]
    read = _relations(whole, names) or names.sources
    columns = dict.fromkeys(column for each in read.values() for column in each)
    types = ("type", (*TYPES, *names.types))
    if first == "CREATE" and "SELECT" not in words:
        return [types, keywords, sources]
    return [("column", columns), ("function", names.functions), keywords, types]


def _relations(statement: str, names: ServerNames) -> dict[str, tuple[str, ...]]:
    """The columns of what the statement reads, by name and by alias."""
    known = {name.upper(): columns for name, columns in names.sources.items()}
    found: dict[str, tuple[str, ...]] = {}
    for relation in _RELATION.finditer(statement):
        name = relation["name"].strip("`").upper()
        for each in (name, (relation["alias"] or name).upper()):
            found[each] = known.get(name, ())
    return found


def _matching(word: str, candidates: Iterable[tuple[str, Iterable[str]]]) -> Suggestions:
    begun = word.strip("`").upper()
    is_lower = word.islower()
    found: dict[str, Suggestion] = {}
    for kind, texts in candidates:
        for text in sorted(texts):
            if text.upper().startswith(begun):
                written = _written(text, kind, is_lower)
                found.setdefault(written, Suggestion(written, kind))
    return Suggestions(word, list(found.values()))


def _written(text: str, kind: str, is_lower: bool) -> str:
    """In the case the user types in, where case means nothing; names that need back-ticks get them."""
    if kind in ("topic", "property", "query"):
        return text
    if kind in ("column", "stream or table", "type") and _BARE.fullmatch(text) is None:
        return f"`{text}`"
    return text.lower() if is_lower else text
