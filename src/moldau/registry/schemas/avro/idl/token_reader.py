"""Reads the tokens of an Avro IDL text one by one, and the JSON between them."""

from collections.abc import Iterator
from typing import Any, Final

from moldau.registry.schemas.avro.idl.tokens import Token, tokens_of, unquoted, wrong
from moldau.registry.schemas.model import InvalidSchema

_FLOAT_WORDS: Final = ("NaN", "Infinity")


class TokenReader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: Iterator[Token] = tokens_of(text)
        self._token = next(self._tokens)

    def _json(self) -> Any:
        token = self._take()
        if token.text == "{" and token.kind == "sign":
            members: dict[str, Any] = {}
            while not self._skip("}"):
                if members:
                    self._expect(",")
                key = self._quoted()
                self._expect(":")
                members[key] = self._json()
            return members
        if token.text == "[" and token.kind == "sign":
            items: list[Any] = []
            while not self._skip("]"):
                if items:
                    self._expect(",")
                items.append(self._json())
            return items
        if token.kind == "quoted":
            return unquoted(token.text)
        if token.kind == "number":
            return self._number(token)
        words = {"true": True, "false": False, "null": None}
        if token.text in words:
            return words[token.text]
        raise self._wrong(token, f"{shown(token)} is not JSON")

    def _number(self, token: Token) -> int | float | str:
        text = token.text
        if text.lstrip("+-") in _FLOAT_WORDS:
            return text.lstrip("+")  # JSON has no such number; Avro writes it as a string.
        digits = text.lstrip("+-")
        sign = -1 if text.startswith("-") else 1
        if digits[:2] in ("0x", "0X"):
            return sign * int(digits.rstrip("lL"), 16)
        if digits.rstrip("lL").isdigit():
            bare = digits.rstrip("lL")
            return sign * int(bare, 8 if bare[0] == "0" and set(bare) <= set("01234567") else 10)
        return sign * float(digits.rstrip("fFdD"))

    def _integer(self) -> int:
        token = self._take()
        found = self._number(token) if token.kind == "number" else None
        if not isinstance(found, int):
            raise self._wrong(token, f"{shown(token)} is not an integer")
        return found

    def _quoted(self) -> str:
        token = self._take()
        if token.kind != "quoted":
            raise self._wrong(token, f"{shown(token)} is not a quoted string")
        return unquoted(token.text)

    def _identifier(self, whose: str) -> str:
        token = self._take()
        if token.kind not in ("word", "name"):
            raise self._wrong(token, f"{shown(token)} cannot name {whose}")
        return token.text

    def _take(self) -> Token:
        token = self._token
        if token.kind == "end":
            raise self._wrong(token, "the text ends in the middle of a definition")
        self._token = next(self._tokens)
        return token

    def _skip(self, text: str) -> bool:
        if self._token.text != text or self._token.kind not in ("word", "sign"):
            return False
        self._take()
        return True

    def _expect(self, text: str) -> None:
        if not self._skip(text):
            raise self._wrong(self._token, f"expected {text!r}, found {shown(self._token)}")

    def _wrong(self, token: Token, reason: str) -> InvalidSchema:
        return wrong(self._text, token.at, reason)


def shown(token: Token) -> str:
    return token.text if token.kind == "end" else repr(token.text[:40])
