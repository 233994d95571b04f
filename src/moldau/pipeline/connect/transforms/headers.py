"""Adds a header to each record, or drops headers."""

from moldau.core.settings.checks import NON_EMPTY
from moldau.core.settings.key import Importance, string, strings
from moldau.pipeline.connect.data.header_texts import read_text
from moldau.pipeline.connect.data.records import Header, Record
from moldau.pipeline.connect.declarations import Declaration, Texts
from moldau.pipeline.connect.transforms.transformation import NON_EMPTY_LIST, Transformation


class InsertHeader(Transformation):
    doc = "Adds a header to each record. The value has the type that it looks like: 12 is a number."
    declarations = (
        Declaration(
            string("header", "", "The name of the header.", importance=Importance.HIGH, check=NON_EMPTY),
            is_required=True,
        ),
        Declaration(
            string(
                "value.literal", "", "The value of the header on all records.", importance=Importance.HIGH
            ),
            is_required=True,
        ),
    )

    def __init__(self, texts: Texts, part: str = "", of: str = "") -> None:
        super().__init__(texts, part, of)
        schema, value = read_text(self.settings["value.literal"])
        self._header = Header(self.settings["header"], value, schema)

    def apply(self, record: Record) -> Record:
        record.headers = (*record.headers, self._header)
        return record


class DropHeaders(Transformation):
    doc = "Removes headers from each record."
    declarations = (
        Declaration(
            strings(
                "headers",
                (),
                "The names of the headers to be removed.",
                importance=Importance.HIGH,
                check=NON_EMPTY_LIST,
            ),
            is_required=True,
        ),
    )

    def __init__(self, texts: Texts, part: str = "", of: str = "") -> None:
        super().__init__(texts, part, of)
        self._names = frozenset(self.settings["headers"])

    def apply(self, record: Record) -> Record:
        if record.headers:
            record.headers = tuple(one for one in record.headers if one.key not in self._names)
        return record
