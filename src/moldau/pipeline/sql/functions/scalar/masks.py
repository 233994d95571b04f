"""MASK and its relatives: texts whose letters and digits cannot be read any more."""

import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from moldau.pipeline.sql.functions.declaration import Category, Form, Parameter, Scalar
from moldau.pipeline.sql.types import INTEGER, STRING

Masks = tuple[str | None, ...]
"""For upper-case letters, lower-case letters, digits and all other characters; None leaves them as they are."""

DEFAULT: Final[Masks] = ("X", "x", "n", "-")
_KINDS: Final = {"Lu": 0, "Ll": 1, "Nd": 2}  # codespell:ignore nd
_OTHER: Final = 3


def mask(text: str | None, *masks: str | None) -> str | None:
    return None if text is None else _masked(text, masks)


def mask_left(text: str | None, count: int | None, *masks: str | None) -> str | None:
    if text is None or count is None:
        return None
    place = _place(count)
    return _masked(text[:place], masks) + text[place:]


def mask_right(text: str | None, count: int | None, *masks: str | None) -> str | None:
    if text is None or count is None:
        return None
    place = max(0, len(text) - _place(count))
    return text[:place] + _masked(text[place:], masks)


def mask_keep_left(text: str | None, count: int | None, *masks: str | None) -> str | None:
    if text is None or count is None:
        return None
    place = _place(count)
    return text[:place] + _masked(text[place:], masks)


def mask_keep_right(text: str | None, count: int | None, *masks: str | None) -> str | None:
    if text is None or count is None:
        return None
    place = max(0, len(text) - _place(count))
    return _masked(text[:place], masks) + text[place:]


def _place(count: int) -> int:
    if count < 0:
        raise ValueError(f"{count} characters cannot be counted: the number must be 0 or more")
    return count


class _Table(dict[int, str]):
    """For `str.translate`: what stands for each character, looked up once."""

    def __init__(self, masks: Masks) -> None:
        self._masks = masks

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        mask = self._masks[_KINDS.get(unicodedata.category(letter), _OTHER)]
        return self.setdefault(code, letter if mask is None else mask)


@lru_cache(maxsize=64)
def _table(masks: Masks) -> _Table:
    for one in masks:
        if one is not None and len(one) != 1:
            raise ValueError(
                f"{one!r} is no mask: a mask is one character, or NULL to leave characters as they are"
            )
    return _Table(masks or DEFAULT)


def _masked(text: str, masks: Masks) -> str:
    return text.translate(_table(masks))


_TEXT: Final = Parameter("text", STRING)
_COUNT: Final = Parameter("count", INTEGER, "how many characters")
_MASKS: Final = (
    Parameter("upper", STRING, "stands for upper-case letters; NULL leaves them as they are"),
    Parameter("lower", STRING, "stands for lower-case letters"),
    Parameter("digit", STRING, "stands for digits"),
    Parameter("other", STRING, "stands for all other characters"),
)
_DOC: Final = (
    " Upper-case letters become X, lower-case letters x, digits n and all others -, or what the masks say."
)


def _function(
    name: str, doc: str, first: tuple[Parameter, ...], meaning: Callable[..., Any], *examples: str
) -> Scalar:
    forms = (Form(first, STRING), Form((*first, *_MASKS), STRING))
    return Scalar(name, Category.STRING, doc + _DOC, forms, meaning, takes_null=True, examples=examples)


FUNCTIONS: Final[tuple[Scalar, ...]] = (
    _function(
        "MASK",
        "Masks a text.",
        (_TEXT,),
        mask,
        "MASK('My Test $123') => 'Xx-Xxxx--nnn'",
        "MASK('My Test $123', '*', NULL, '1', NULL) => '*y *est $111'",
    ),
    _function(
        "MASK_LEFT",
        "Masks the first characters.",
        (_TEXT, _COUNT),
        mask_left,
        "MASK_LEFT('My Test $123', 4) => 'Xx-Xest $123'",
    ),
    _function(
        "MASK_RIGHT",
        "Masks the last characters.",
        (_TEXT, _COUNT),
        mask_right,
        "MASK_RIGHT('My Test $123', 4) => 'My Test -nnn'",
    ),
    _function(
        "MASK_KEEP_LEFT",
        "Masks all but the first characters.",
        (_TEXT, _COUNT),
        mask_keep_left,
        "MASK_KEEP_LEFT('My Test $123', 4) => 'My Txxx--nnn'",
    ),
    _function(
        "MASK_KEEP_RIGHT",
        "Masks all but the last characters.",
        (_TEXT, _COUNT),
        mask_keep_right,
        "MASK_KEEP_RIGHT('4929 1234 5678 9012', 4, 'X', 'x', '*', NULL) => '**** **** **** 9012'",
    ),
)
