"""Parses one Avro IDL text into its definitions, as JSON in which types refer to each other by full name."""

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from moldau.registry.schemas.avro.idl.token_reader import TokenReader, shown
from moldau.registry.schemas.avro.idl.tokens import Token
from moldau.registry.schemas.avro.types import PRIMITIVES

Json = dict[str, Any]
LOGICAL: Final[dict[str, Json]] = {
    "date": {"type": "int", "logicalType": "date"},
    "time_ms": {"type": "int", "logicalType": "time-millis"},
    "timestamp_ms": {"type": "long", "logicalType": "timestamp-millis"},
    "local_timestamp_ms": {"type": "long", "logicalType": "local-timestamp-millis"},
    "uuid": {"type": "string", "logicalType": "uuid"},
}
NAMED: Final = ("record", "error", "enum", "fixed")


class Import(NamedTuple):
    kind: str
    """`idl`, `protocol` or `schema`."""
    path: str


@dataclass(slots=True)
class IdlText:
    namespace: str | None = None
    main: Any = None
    """The type in the `schema` statement."""
    definitions: list[Json] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)


class Optional(NamedTuple):
    """`string?`: a union whose order depends on the default."""

    type: Any

    def union(self, *, null_first: bool = True) -> list[Any]:
        return ["null", self.type] if null_first else [self.type, "null"]


class Parser(TokenReader):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._namespace: str | None = None
        self._found = IdlText()

    def parse(self) -> IdlText:
        """Parses a protocol, skipping its messages, or definitions with the schema they belong to."""
        start = self._token
        properties = self._properties()
        if self._skip("protocol"):
            name = self._identifier("a protocol")
            self._namespace = _namespace_of(name, properties.get("namespace"))
            self._expect("{")
            while not self._skip("}"):
                self._declaration()
        else:
            if properties:
                raise self._wrong(start, "an annotation must come before a protocol, a type or a field")
            if self._skip("namespace"):
                self._namespace = self._identifier("a namespace")
                self._expect(";")
            if self._skip("schema"):
                self._found.main = _settled(self._type())
                self._expect(";")
            while self._token.kind != "end":
                self._declaration()
        self._found.namespace = self._namespace
        if self._token.kind != "end":
            raise self._wrong(self._token, f"{shown(self._token)} comes after the end of the protocol")
        return self._found

    def _declaration(self) -> None:
        if self._skip("import"):
            kind = self._take()
            if kind.text not in ("idl", "protocol", "schema"):
                raise self._wrong(kind, "an import must name an idl, a protocol or a schema")
            self._found.imports.append(Import(kind.text, self._quoted()))
            self._expect(";")
            return
        doc, properties = self._token.doc, self._properties()
        kind = self._token
        if kind.kind == "word" and kind.text in NAMED:
            self._take()
            self._found.definitions.append(self._named(kind.text, doc, properties))
        else:
            self._message()

    def _named(self, kind: str, doc: str | None, properties: Json) -> Json:
        identifier = self._identifier(f"a {kind}")
        namespace = _namespace_of(identifier, properties.pop("namespace", self._namespace))
        aliases = properties.pop("aliases", None)
        found: Json = {"type": kind, "name": identifier.rpartition(".")[2], "namespace": namespace or ""}
        if doc is not None:
            found["doc"] = doc
        if kind == "enum":
            found |= self._enum()
        elif kind == "fixed":
            self._expect("(")
            found["size"] = self._integer()
            self._expect(")")
            self._expect(";")
        else:
            outer, self._namespace = self._namespace, namespace
            found["fields"] = self._fields()
            self._namespace = outer
        if aliases is not None:
            found["aliases"] = aliases
        return found | properties

    def _enum(self) -> Json:
        self._expect("{")
        symbols: list[str] = []
        while not self._skip("}"):
            if symbols:
                self._expect(",")
            self._properties()
            symbols.append(self._identifier("a symbol"))
        found: Json = {"symbols": symbols}
        if self._skip("="):
            found["default"] = self._identifier("a symbol")
            self._expect(";")
        return found

    def _fields(self) -> list[Json]:
        self._expect("{")
        fields: list[Json] = []
        while not self._skip("}"):
            doc, node = self._token.doc, self._type()
            fields.append(self._variable(node, doc))
            while self._skip(","):
                fields.append(self._variable(node, doc))
            self._expect(";")
        return fields

    def _variable(self, node: Any, doc: str | None) -> Json:
        doc = doc if self._token.doc is None else self._token.doc
        properties = self._properties()
        found: Json = {"name": self._identifier("a field")}
        has_default = self._skip("=")
        default = self._json() if has_default else None
        found["type"] = node.union(null_first=default is None) if isinstance(node, Optional) else node
        if doc is not None:
            found["doc"] = doc
        if has_default:
            found["default"] = default
        return found | properties

    def _message(self) -> None:
        """Parses a message and drops it: a schema has no messages."""
        if not self._skip("void"):
            self._type()
        self._identifier("a message")
        self._expect("(")
        if not self._skip(")"):
            self._variable(self._type(), None)
            while self._skip(","):
                self._variable(self._type(), None)
            self._expect(")")
        if self._skip("throws"):
            self._identifier("an error")
            while self._skip(","):
                self._identifier("an error")
        else:
            self._skip("oneway")
        self._expect(";")

    def _type(self) -> Any:
        properties = self._properties()
        token = self._take()
        if token.kind == "word" and token.text in ("array", "map") and self._skip("<"):
            inner = _settled(self._type())
            self._expect(">")
            return {"type": token.text, "items" if token.text == "array" else "values": inner, **properties}
        if token.kind == "word" and token.text == "union" and self._skip("{"):
            branches = [_settled(self._type())]
            while self._skip(","):
                branches.append(_settled(self._type()))
            self._expect("}")
            return branches
        found = self._plain(token, properties)
        return Optional(found) if self._skip("?") else found

    def _plain(self, token: Token, properties: Json) -> Any:
        if token.kind == "word" and token.text in PRIMITIVES:
            return {"type": token.text, **properties} if properties else token.text
        if token.kind == "word" and token.text in LOGICAL:
            return LOGICAL[token.text] | properties
        if token.kind == "word" and token.text == "decimal" and self._skip("("):
            precision = self._integer()
            scale = self._integer() if self._skip(",") else 0
            self._expect(")")
            return {
                "type": "bytes",
                "logicalType": "decimal",
                "precision": precision,
                "scale": scale,
            } | properties
        if token.kind not in ("word", "name"):
            raise self._wrong(token, f"{shown(token)} is not a type")
        if properties:
            raise self._wrong(
                token,
                f"a reference to {token.text} cannot be annotated; annotate the type, or the field's name",
            )
        return full_name(token.text, self._namespace)

    def _properties(self) -> Json:
        found: Json = {}
        while self._skip("@"):
            name = self._identifier("an annotation")
            self._expect("(")
            found[name] = self._json()
            self._expect(")")
        return found


def full_name(name: str, namespace: str | None) -> str:
    return f"{namespace}.{name}" if namespace and "." not in name else name


def _namespace_of(identifier: str, otherwise: Any) -> str | None:
    namespace = identifier.rpartition(".")[0] or otherwise
    return namespace if isinstance(namespace, str) and namespace else None


def _settled(node: Any) -> Any:
    return node.union() if isinstance(node, Optional) else node
