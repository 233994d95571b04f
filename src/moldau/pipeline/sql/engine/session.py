"""What a session has set: properties (SET) and variables (DEFINE). A value; a change is a new session.

A reference `${name}` stands for the text of a variable. Where it stands by itself, the text must be one name or one
constant, so a value can never become a clause, a keyword or a second statement. Inside a string or a quoted name it is
a part of that, quotes and all. `$${name}` is the text `${name}`. Names of variables are the same in any case.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from moldau.pipeline.sql.syntax.errors import Position, SqlError, did_you_mean
from moldau.pipeline.sql.syntax.parser.token_reader import RESERVED
from moldau.pipeline.sql.syntax.tokens import TEXT_CHARACTERS_MAX, Kind, Token, tokenize

_REFERENCE: Final = re.compile(r"\$?\$\{([^{}\n]*)\}")
"""No `{` inside: a text full of openings without an end is gone through once."""
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBERS: Final = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
_CONSTANT_WORDS: Final = ("TRUE", "FALSE", "NULL")


@dataclass(frozen=True, slots=True)
class Session:
    properties: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    substitutes: bool = True
    """`ksql.variable.substitution.enable`"""

    def with_property(self, name: str, value: str) -> "Session":
        return replace(self, properties={**self.properties, name: value})

    def without_property(self, name: str) -> "Session":
        return replace(self, properties={key: one for key, one in self.properties.items() if key != name})

    def with_variable(self, name: str, value: str) -> "Session":
        """SqlError for a name that no reference could have."""
        if _NAME.fullmatch(name) is None:
            raise SqlError(
                f"{name!r} cannot be the name of a variable",
                hint="A name begins with a letter or an underscore; letters, digits and underscores follow.",
            )
        return replace(self, variables={**self._without(name), name: value})

    def without_variable(self, name: str) -> "Session":
        return replace(self, variables=self._without(name))

    def variable(self, name: str) -> str | None:
        return next((value for key, value in self.variables.items() if key.lower() == name.lower()), None)

    def _without(self, name: str) -> dict[str, str]:
        return {key: value for key, value in self.variables.items() if key.lower() != name.lower()}

    def substituted(self, text: str) -> str:
        """The text with the variables' values in the place of `${name}`. A reference to an unknown variable stays as it
        is: the parser says what is wrong with it, and a string may contain it. SqlError for a value that cannot stand
        where it is used."""
        if not self.substitutes or "${" not in text:
            return text
        try:
            tokens = tokenize(text)
        except SqlError:
            return text  # the parser says what is wrong with it
        one, parts, end = _Substitution(text, self.variables), [], 0
        for token in tokens:
            parts += [text[end : token.start], one.token(token)]
            end = token.end
        return "".join(parts)


class _Substitution:
    """In one text. The values together are no longer than a text may be."""

    def __init__(self, text: str, variables: Mapping[str, str]) -> None:
        self._text = text
        self._variables = {name.lower(): value for name, value in variables.items()}
        self._characters_left = TEXT_CHARACTERS_MAX

    def token(self, token: Token) -> str:
        written = self._text[token.start : token.end]
        match token.kind:
            case Kind.VARIABLE:
                value = self._value(token.text, token.at)
                return written if value is None else _by_itself(token, value, self._text)
            case Kind.STRING | Kind.QUOTED:
                return self._inside(written, written[0], token.at)
        return written

    def _inside(self, written: str, quote: str, at: Position) -> str:
        def replaced(found: "re.Match[str]") -> str:
            if found[0].startswith("$$"):
                return found[0][1:]
            value = self._value(found[1].strip(), at)
            return found[0] if value is None else value.replace(quote, quote * 2)

        return _REFERENCE.sub(replaced, written)

    def _value(self, name: str, at: Position) -> str | None:
        value = self._variables.get(name.lower())
        self._characters_left -= len(value or "")
        if self._characters_left < 0:
            message = (
                f"the values of the variables have more than {TEXT_CHARACTERS_MAX:,} characters together"
            )
            hint = f"Use {name} less often, or give it a shorter value."
            raise SqlError(message, at, hint=hint).within(self._text)
        return value


def _by_itself(token: Token, value: str, text: str) -> str:
    """The value as one name or constant of the statement."""
    if not _is_one_value(value):
        raise SqlError(
            f"variable {token.text} has the value {value!r}, which is neither a name nor a constant",
            token.at,
            hint=f"Text has quotes of its own: DEFINE {token.text} = '''text'''; or write '${{{token.text}}}'.",
        ).within(text)
    one = value.strip()
    return f" {one}" if one.startswith("-") else one  # a minus before it would make a comment of both


def _is_one_value(value: str) -> bool:
    """Whether it is one token from its beginning to its end, without a comment: a sign belongs to a number."""
    value = value.strip()
    try:
        tokens = tokenize(value)[:-1]
    except SqlError:
        return False
    if len(tokens) == 2 and tokens[0].text in ("-", "+"):
        tokens = tokens[1:] if tokens[1].kind in _NUMBERS and tokens[1].start == 1 else []
    elif tokens and tokens[0].start != 0:
        return False
    if len(tokens) != 1 or tokens[0].end != len(value):
        return False
    token = tokens[0]
    if token.kind is Kind.WORD:
        return token.text not in RESERVED or token.text in _CONSTANT_WORDS
    return token.kind in (*_NUMBERS, Kind.STRING, Kind.QUOTED)


def unknown_variable(name: str, session: Session) -> SqlError:
    hint = did_you_mean(name, session.variables) or "SHOW VARIABLES; lists those that are defined."
    return SqlError(f"variable {name} is not defined", hint=hint)
