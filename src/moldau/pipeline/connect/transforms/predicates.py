"""Predicates: to which records a transformation applies."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from moldau.core.settings.checks import NON_EMPTY
from moldau.core.settings.key import string
from moldau.pipeline.connect.data.records import Record
from moldau.pipeline.connect.declarations import Declaration, Texts, values_of
from moldau.pipeline.connect.transforms.regexes import REGEX
from moldau.pipeline.java_texts.regex import to_search

PACKAGE: Final = "org.apache.kafka.connect.transforms.predicates"


class Predicate(ABC):
    declarations: ClassVar[Sequence[Declaration]] = ()
    doc: ClassVar[str] = ""

    def __init__(self, texts: Texts, of: str = "") -> None:
        """`of` names the predicate in messages. Raises ConfigError for a wrong setting."""
        self.settings: Mapping[str, Any] = values_of(self.declarations, texts, of=of or type(self).__name__)

    @classmethod
    def java_name(cls) -> str:
        """The full name: Java's of Kafka's predicates, Python's of those of users."""
        return f"{PACKAGE if cls.__module__ == __name__ else cls.__module__}.{cls.__name__}"

    @abstractmethod
    def test(self, record: Record) -> bool: ...


class TopicNameMatches(Predicate):
    doc = "True for records whose topic matches a regular expression, as a whole."
    declarations = (
        Declaration(
            string("pattern", "", "A regular expression, as Java writes them.", check=REGEX), is_required=True
        ),
    )

    def __init__(self, texts: Texts, of: str = "") -> None:
        super().__init__(texts, of)
        self._pattern: str = self.settings["pattern"]

    def test(self, record: Record) -> bool:
        return to_search(self._pattern, record.topic).fullmatch(record.topic) is not None


class HasHeaderKey(Predicate):
    doc = "True for records that have a header of this name."
    declarations = (
        Declaration(string("name", "", "The name of the header.", check=NON_EMPTY), is_required=True),
    )

    def __init__(self, texts: Texts, of: str = "") -> None:
        super().__init__(texts, of)
        self._name: str = self.settings["name"]

    def test(self, record: Record) -> bool:
        return any(one.key == self._name for one in record.headers)


class RecordIsTombstone(Predicate):
    doc = "True for tombstones: records whose value is null."

    def test(self, record: Record) -> bool:
        return record.value is None
