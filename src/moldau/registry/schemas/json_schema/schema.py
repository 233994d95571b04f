"""The JSON Schema a registry holds."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import jsonschema_rs

from moldau.registry.schemas.json_schema.differences import compared
from moldau.registry.schemas.json_schema.documents import Document
from moldau.registry.schemas.json_schema.loader import Loader
from moldau.registry.schemas.json_schema.types import Node
from moldau.registry.schemas.json_schema.words import clash
from moldau.registry.schemas.json_text import read, write
from moldau.registry.schemas.model import (
    Clash,
    Direction,
    Existing,
    InvalidSchema,
    ParsedSchema,
)

_DRAFTS = {
    "draft-04": "http://json-schema.org/draft-04/schema#",
    "draft-06": "http://json-schema.org/draft-06/schema#",
    "draft-07": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
_DRAFT_UNSAID = "draft-07"


class JsonSchema(ParsedSchema):
    schema_type = "JSON"

    def __init__(self, text: str, references: Mapping[str, ParsedSchema]) -> None:
        self.text = text
        self.references = references
        self._json = read(text, "JSON Schema")
        if not isinstance(self._json, dict | bool):
            raise InvalidSchema("Not a valid JSON Schema: it must be an object, true or false.")
        self._draft = _draft_of(self._json)
        self.document = Document(self._json, "", _documents(references))

    @cached_property
    def root(self) -> Node:
        """Raises InvalidSchema when it is not a schema, or a `$ref` cannot be resolved."""
        _check(self._json, self._draft)
        return Loader(siblings_count=self._draft.startswith("20")).load(self.document)

    def check(self, *, fields: bool = False) -> None:
        if fields:
            _check_names(self._json)
        _ = self.root

    @cached_property
    def canonical(self) -> str:
        return write(self._json)

    @property
    def name(self) -> str | None:
        title = self._json.get("title") if isinstance(self._json, dict) else None
        return title if isinstance(title, str) else None

    def has_field(self, name: str) -> bool:
        properties = self._json.get("properties") if isinstance(self._json, dict) else None
        return isinstance(properties, dict) and name in properties

    def normalized(self) -> "JsonSchema":
        return JsonSchema(write(self._json, sort_keys=True), self.references)

    def resolved(self) -> str:
        return self.canonical

    def clashes(self, other: Existing, direction: Direction) -> list[Clash]:
        assert isinstance(other.schema, JsonSchema)
        pair = (other.schema.root, self.root)
        original, update = pair if direction is Direction.BACKWARD else reversed(pair)
        found = compared(original, update)
        return list(dict.fromkeys(clash(difference, direction, other.version) for difference in found))


def _draft_of(json: Any) -> str:
    """A schema without a draft is read as draft 7. An unknown draft is not fetched."""
    named = json.get("$schema") if isinstance(json, dict) else None
    if not isinstance(named, str):
        return _DRAFT_UNSAID
    return next((draft for draft in _DRAFTS if draft in named), _DRAFT_UNSAID)


def _check(json: Any, draft: str) -> None:
    """Validates against the meta-schema of its draft, which is built in."""
    named = {**json, "$schema": _DRAFTS[draft]} if isinstance(json, dict) else json
    try:
        jsonschema_rs.meta.validate(named)
    except jsonschema_rs.ValidationError as error:
        where = "#" + "".join(f"/{part}" for part in error.instance_path)
        raise InvalidSchema(
            f"Not a valid JSON Schema ({draft}): at {where}, {error.message[:300]}."
        ) from None
    except ValueError as error:
        raise InvalidSchema(f"Not a valid JSON Schema ({draft}): {error}.") from None


def _check_names(json: Any) -> None:
    properties = json.get("properties") if isinstance(json, dict) else None
    for name in properties if isinstance(properties, dict) else ():
        if name.startswith("$$"):
            raise InvalidSchema(
                f"Not a valid JSON Schema: the property {name} starts with $$, which is reserved."
            )


def _documents(references: Mapping[str, ParsedSchema]) -> dict[str, Document]:
    """Includes those of references: a `$ref` in a reference is resolved in that reference."""
    found: dict[str, Document] = {}
    for name, schema in references.items():
        if not isinstance(schema, JsonSchema):
            raise InvalidSchema(
                f"The reference {name} is a schema of type {schema.schema_type}; "
                "a JSON Schema can refer to JSON Schemas only."
            )
        found[name] = schema.document
    return found
