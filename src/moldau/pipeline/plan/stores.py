"""The description of a state store: kind, serdes, retention. The stores themselves are in `operators/stores`."""

from dataclasses import dataclass
from enum import StrEnum

from moldau.pipeline.serdes.serde import Serde


class StoreKind(StrEnum):
    KEY_VALUE = "key-value"
    VERSIONED = "versioned key-value"  # with the versions before the present one, for as long as it keeps
    ORDERED = "ordered key-value"  # read in the order of its keys all the time
    WINDOW = "window"
    SESSION = "session"
    JOIN = "join"  # a stream's records by key and time, several of one key and time kept apart
    BUFFER = "buffer"  # what suppress holds back


@dataclass(frozen=True, slots=True)
class StoreSpec:
    """`key_serde` and `value_serde` are None until build() determines them."""

    name: str
    kind: StoreKind
    key_serde: Serde | None = None
    value_serde: Serde | None = None
    retention_ms: int = 0
    window_size_ms: int = 0
    logged: bool = True
    queryable: bool = False
    """Named by the user. Interactive queries can read it, so it needs a changelog."""

    def changelog_topic(self, application_id: str) -> str:
        return f"{application_id}-{self.name}-changelog"
