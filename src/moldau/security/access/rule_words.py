"""The words that Kafka writes for kinds, operations and permissions: `TransactionalId`, `DescribeConfigs`, `Allow`."""

from enum import IntEnum
from functools import lru_cache
from typing import TypeVar

Word = TypeVar("Word", bound=IntEnum)


@lru_cache(maxsize=128, typed=True)  # Words of different lists have equal codes.
def pascal_case(word: IntEnum) -> str:
    """TRANSACTIONAL_ID as `TransactionalId`."""
    return "".join(part.capitalize() for part in word.name.split("_"))


@lru_cache(maxsize=512)
def parse_word(kind: type[Word], text: str) -> Word:
    """Ignores case, `_` and `-`, so that `describe-configs` is read too. ValueError with the words there are."""
    wanted = text.replace("_", "").replace("-", "").lower()
    for each in kind:
        if each.name.replace("_", "").lower() == wanted and each.name != "UNKNOWN":
            return each
    known = ", ".join(pascal_case(each) for each in kind if each.name not in ("UNKNOWN", "ANY", "MATCH"))
    raise ValueError(f"{text!r} is none of {known}")
