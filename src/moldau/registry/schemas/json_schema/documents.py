"""Resolves a `$ref`: inside the document, or in one of the references.

Nothing is ever fetched: an address that is in neither is an error.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from moldau.registry.schemas.model import InvalidSchema

_META = ("http://json-schema.org/draft-", "https://json-schema.org/draft/", "https://json-schema.org/draft-")


@dataclass(frozen=True, slots=True)
class Location:
    """A schema inside a document."""

    document: "Document"
    json: Any
    pointer: str
    base: str


class Document:
    """One document, with the ids and anchors it declares."""

    def __init__(self, json: Any, name: str, references: Mapping[str, "Document"]) -> None:
        self.json = json
        self.references = references
        self.base = _id_of(json) or name
        self._ids: dict[str, tuple[Any, str]] = {}
        self._anchors: dict[str, Any] = {}
        self._index(json)

    def _index(self, root: Any) -> None:
        waiting = [(root, self.base)]
        while waiting:
            json, base = waiting.pop()
            if isinstance(json, list):
                waiting += [(item, base) for item in json]
                continue
            if not isinstance(json, dict):
                continue
            if own := _id_of(json):
                base = urljoin(base, own)
                self._ids.setdefault(urldefrag(base).url, (json, base))
                if own.startswith("#"):
                    self._anchors.setdefault(own[1:], json)
            for key in ("$anchor", "$dynamicAnchor"):
                if isinstance(json.get(key), str):
                    self._anchors.setdefault(json[key], json)
            waiting += [(item, base) for key, item in json.items() if key not in ("enum", "const", "default")]

    def find(self, ref: str, base: str) -> Location | None:
        """Returns None for a published meta-schema, which is not compared. Raises InvalidSchema for an unresolved
        `$ref`."""
        address, fragment = urldefrag(ref)
        if not address:
            return self._within(ref, base, fragment)
        full = urljoin(base, address)
        if full.startswith(_META):
            return None
        for document, root, own_base in self._candidates(address, full):
            return document._pointed(root, own_base, fragment, ref)
        raise InvalidSchema(
            f'Not a valid JSON Schema: $ref "{ref}" points to {address}, which is neither in the schema nor in '
            "its references: add a reference with this name."
        )

    def _candidates(self, address: str, full: str) -> list[tuple["Document", Any, str]]:
        found: list[tuple[Document, Any, str]] = []
        for key in (address, full):
            if key in self._ids:
                found.append((self, *self._ids[key]))
            if key in self.references:
                document = self.references[key]
                found.append((document, document.json, document.base))
        if full == urldefrag(self.base).url:
            found.append((self, self.json, self.base))
        for document in self.references.values():
            for key in (full, address):
                if key == urldefrag(document.base).url:
                    found.append((document, document.json, document.base))
                elif key in document._ids:
                    found.append((document, *document._ids[key]))
        return found

    def _within(self, ref: str, base: str, fragment: str) -> Location:
        """A fragment belongs to the nearest schema with its own id, or else to the whole document."""
        json, own_base = self._ids.get(urldefrag(base).url, (self.json, self.base))
        if fragment.startswith("/") and _walk(json, fragment) is _NOWHERE:
            json, own_base = self.json, self.base
        return self._pointed(json, own_base, fragment, ref)

    def _pointed(self, json: Any, base: str, fragment: str, ref: str) -> Location:
        if not fragment:
            return Location(self, json, "", base)
        if not fragment.startswith("/"):
            if fragment in self._anchors:
                return Location(self, self._anchors[fragment], f"#{fragment}", base)
            raise InvalidSchema(f'Not a valid JSON Schema: $ref "{ref}" names an anchor that is not defined.')
        target = _walk(json, fragment)
        if not isinstance(target, dict | bool):
            raise InvalidSchema(f'Not a valid JSON Schema: $ref "{ref}" points to nothing; {_defined(json)}.')
        return Location(self, target, fragment, base)


_NOWHERE = object()


def _walk(json: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(json, dict) and key in json:
            json = json[key]
        elif isinstance(json, list) and key.isdigit() and int(key) < len(json):
            json = json[int(key)]
        else:
            return _NOWHERE
    return json


def _defined(json: Any) -> str:
    names = [
        f"#/{key}/{name}"
        for key in ("definitions", "$defs")
        if isinstance(json, dict) and isinstance(json.get(key), dict)
        for name in json[key]
    ]
    return f"defined are {', '.join(names[:10])}" if names else "the schema defines nothing to point to"


def _id_of(json: Any) -> str | None:
    if not isinstance(json, dict):
        return None
    found = json.get("$id", json.get("id"))
    return found if isinstance(found, str) and found else None
