"""The words that Kafka writes for kinds, operations and permissions: `TransactionalId`, `DescribeConfigs`, `Allow`."""

from enum import IntEnum
from functools import lru_cache
from typing import TypeVar

Word = TypeVar("Word", bound=IntEnum)


@lru_cache(maxsize=128, typed=True)  # Words of different lists have equal codes.
def pascal_case(word: IntEnum) -> str:
    """TRANSACTIONAL_ID as `TransactionalId`."""
    return "".join(part.capitalize() for part in word.name.split("_"))


def parse_word(kind: type[Word], text: str) -> Word:
    """Ignores case, `_` and `-`, so that `describe-configs` is read too. ValueError with the words there are."""
    words: dict[str, Word] = _words_of(kind)
    found = words.get(text) or words.get(_bare(text))
    if found is None:
        known = ", ".join(pascal_case(each) for each in kind if each.name not in ("UNKNOWN", "ANY", "MATCH"))
        raise ValueError(f"{text!r} is none of {known}")
    return found


@lru_cache(maxsize=16)
def _words_of(kind: type[Word]) -> dict[str, Word]:
    """By the word as Kafka writes it, and by the bare word."""
    words = [each for each in kind if each.name != "UNKNOWN"]
    return {
        **{_bare(each.name): each for each in words},
        **{pascal_case(each): each for each in words},
    }


def _bare(text: str) -> str:
    return text.replace("_", "").replace("-", "").lower()
