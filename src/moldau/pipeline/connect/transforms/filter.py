"""Drops records: of use with a predicate."""

from moldau.pipeline.connect.data.records import Record
from moldau.pipeline.connect.transforms.transformation import Transformation


class Filter(Transformation):
    doc = "Drops all records that it is applied to: give it a predicate."

    def apply(self, record: Record) -> None:
        return None
