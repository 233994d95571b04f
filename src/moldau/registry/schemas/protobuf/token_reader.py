"""Reads the tokens of a `.proto` text one by one, with the checks a parser needs."""

from moldau.registry.schemas.model import InvalidSchema
from moldau.registry.schemas.protobuf.tokens import Token, tokens_of, unquoted, wrong


class TokenReader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._rest = tokens_of(text)
        self._token = next(self._rest)
        self._second: Token | None = None

    def _type(self) -> str:
        leading = "." if self._skip(".") else ""
        return leading + self._dotted()

    def _dotted(self) -> str:
        parts = [self._word("a type")]
        while self._skip("."):
            parts.append(self._word("a type"))
        return ".".join(parts)

    def _word(self, what: str) -> str:
        token = self._take()
        if token.kind != "word":
            raise self._wrong(token, f"{shown(token)} cannot name {what}")
        return token.text

    def _string(self) -> str:
        token = self._take()
        if token.kind != "quoted":
            raise self._wrong(token, f"{shown(token)} is not a quoted string")
        text = unquoted(token.text)
        while self._peek().kind == "quoted":
            text += unquoted(self._take().text)
        return text

    def _integer(self, what: str, *, signed: bool = False) -> int:
        negative = signed and self._skip("-")
        token = self._take()
        try:
            octal = token.text[0] == "0" and token.text.isdigit() and len(token.text) > 1
            number = int(token.text, 8 if octal else 0)
        except ValueError:
            raise self._wrong(token, f"{what} must be an integer, not {shown(token)}") from None
        if number > 2**31:
            raise self._wrong(token, f"{what} is too large")
        return -number if negative else number

    def _peek(self) -> Token:
        return self._token

    def _after(self) -> Token:
        """The token after the next."""
        if self._second is None:
            self._second = self._token if self._is("end") else next(self._rest)
        return self._second

    def _advance(self) -> None:
        self._token = next(self._rest) if self._second is None else self._second
        self._second = None

    def _is(self, kind: str) -> bool:
        return self._token.kind == kind

    def _take(self) -> Token:
        token = self._token
        if token.kind == "end":
            raise self._wrong(token, "the text ends in the middle of a definition")
        self._advance()
        return token

    def _skip(self, text: str) -> bool:
        token = self._token
        if token.text != text or token.kind == "quoted":
            return False
        self._advance()
        return True

    def _expect(self, text: str) -> Token:
        token = self._token
        if token.text != text:
            raise self._wrong(token, f"expected {text!r}, found {shown(token)}")
        self._advance()
        return token

    def _wrong(self, token: Token, reason: str) -> InvalidSchema:
        return wrong(self._text, token.at, reason)


def shown(token: Token) -> str:
    text = token.text if len(token.text) <= 40 else token.text[:37] + "..."
    return text if token.kind == "end" else f"{text!r}"
