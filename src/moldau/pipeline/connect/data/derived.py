"""What is computed from a schema once, and used for every record that has the schema."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from moldau.pipeline.connect.data.schema import Schema

T = TypeVar("T")

SCHEMAS_MAX = 64


class Derived(Generic[T]):
    """Remembers the results for the schemas that were used last. Equal schemas have one result."""

    def __init__(self, make: Callable[[Schema], T], size_max: int = SCHEMAS_MAX) -> None:
        self._make = make
        self._size_max = size_max
        self._found: OrderedDict[Schema, T] = OrderedDict()
        self._last: tuple[Schema, T] | None = None

    def of(self, schema: Schema) -> T:
        last = self._last
        if last is not None and last[0] is schema:
            return last[1]
        found = self._found
        if schema in found:
            made = found[schema]
            found.move_to_end(schema)
        else:
            made = found[schema] = self._make(schema)
            if len(found) > self._size_max:
                found.popitem(last=False)
        self._last = (schema, made)
        return made
