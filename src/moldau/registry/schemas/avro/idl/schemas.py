"""Turns Avro IDL and its imports into one schema as JSON.

Pure: the caller reads the files.
"""

import posixpath
from collections.abc import Callable, Iterator
from typing import Any

from moldau.registry.schemas.avro.idl.parser import NAMED, Json, Parser, full_name
from moldau.registry.schemas.avro.types import PRIMITIVES
from moldau.registry.schemas.json_text import read as read_json
from moldau.registry.schemas.json_text import write
from moldau.registry.schemas.model import InvalidSchema


class SeveralTypes(InvalidSchema):
    """The IDL has several types, and the caller must name one."""


Reader = Callable[[str], str]
"""Returns the text of the file at a path."""


def schema_of(path: str, read: Reader, name: str | None = None) -> str:
    """Returns the schema in the IDL at `path`: the type with the given name, the file's own `schema`, or the one type
    that no other uses.

    An undefined type stays a name: a registry may know it as a reference.
    """
    try:
        types = _Types(read)
        own, main = types.add_idl(path)
        root = types.named(name, own) if name is not None else main
        return write(types.in_place(types.alone(own) if root is None else root))
    except RecursionError:
        raise InvalidSchema("The Avro IDL is nested too deeply: flatten it.") from None


class _Types:
    def __init__(self, read: Reader) -> None:
        self._read = read
        self._known: dict[str, Json] = {}
        self._paths: set[str] = set()
        self._written: set[str] = set()

    def add_idl(self, path: str) -> tuple[list[str], Any]:
        """The full names it defines, and the type of its `schema` statement."""
        self._paths.add(path)
        found = Parser(self._read(path)).parse()
        for imported in found.imports:
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), imported.path))
            if target in self._paths:
                continue
            if imported.kind == "idl":
                self.add_idl(target)
                continue
            self._paths.add(target)
            json = read_json(self._read(target), f"file {target}")
            if imported.kind == "schema":
                self._flattened(json, None)
            elif isinstance(json, dict):
                for definition in json.get("types", ()):
                    self._flattened(definition, json.get("namespace"))
        own = [full_name(definition["name"], definition["namespace"]) for definition in found.definitions]
        for full, definition in zip(own, found.definitions, strict=True):
            self._define(full, definition)
        return own, found.main

    def named(self, name: str, own: list[str]) -> str:
        for full in self._known:
            if name in (full, full.rpartition(".")[2]):
                return full
        raise InvalidSchema(f"The Avro IDL has no type {name}; it has {', '.join(own) or 'none'}.")

    def alone(self, own: list[str]) -> str:
        own = [full for full in own if self._known[full]["type"] != "error"]
        used = {name for full in own for name in _names_in(self._known[full]) if name != full}
        candidates = [full for full in own if full not in used]
        if len(candidates) == 1:
            return candidates[0]
        which = ", ".join(candidates or own) or "none"
        raise SeveralTypes(f"The Avro IDL does not say which type to use; it has {which}.")

    def in_place(self, node: Any) -> Any:
        """Writes every type in full where it first occurs, and as a name from then on."""
        if isinstance(node, str):
            if node not in self._known or node in self._written:
                return node
            self._written.add(node)
            return self.in_place(self._known[node])
        if isinstance(node, list):
            return [self.in_place(branch) for branch in node]
        found = dict(node)
        for key in ("items", "values"):
            if key in found and node["type"] in ("array", "map"):
                found[key] = self.in_place(found[key])
        if node["type"] in ("record", "error"):
            found["fields"] = [{**field, "type": self.in_place(field["type"])} for field in node["fields"]]
        return found

    def _define(self, full: str, definition: Json) -> None:
        if full in self._known:
            raise InvalidSchema(f"The Avro IDL defines {full} twice, here or in an import.")
        self._known[full] = definition

    def _flattened(self, node: Any, namespace: str | None) -> Any:
        """Avro's JSON with the definitions extracted, so that types refer to each other by full name."""
        if isinstance(node, str):
            return node if node in PRIMITIVES else full_name(node, namespace)
        if isinstance(node, list):
            return [self._flattened(branch, namespace) for branch in node]
        if not isinstance(node, dict):
            raise InvalidSchema(f"The Avro IDL imports a file that is not an Avro schema: {str(node)[:60]}.")
        kind = node.get("type")
        if kind in ("array", "map"):
            key = "items" if kind == "array" else "values"
            return {**node, key: self._flattened(node.get(key), namespace)}
        if kind not in NAMED:
            return node if kind in PRIMITIVES else self._flattened(kind, namespace)
        full = full_name(str(node.get("name")), node.get("namespace", namespace))
        own_namespace, _, simple = full.rpartition(".")
        found = {**node, "name": simple, "namespace": own_namespace}
        if kind in ("record", "error"):
            fields = node.get("fields") or ()
            found["fields"] = [
                {**one, "type": self._flattened(one.get("type"), own_namespace)} for one in fields
            ]
        self._define(full, found)
        return full


def _names_in(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, list):
        for branch in node:
            yield from _names_in(branch)
    elif isinstance(node, dict):
        for key in ("type", "items", "values"):
            if isinstance(node.get(key), str | list | dict):
                yield from _names_in(node[key])
        for field in node.get("fields", ()):
            yield from _names_in(field["type"])
