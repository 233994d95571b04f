"""Generates the encoder of one message in one version, as straight-line Python source; `decoding` says why.

Encoders trust types, which mypy checks, and check only what depends on the version: a value that this version
cannot carry is a ValueError, unless the field is declared ignorable. An answer is built once for all
versions, so fields that the client's version lacks are left out.
"""

import struct
from collections.abc import Callable
from typing import Any

from moldau.protocol.layout import FIXED, STRING_BYTES_MAX, Layout, Source
from moldau.protocol.spec import Field, Message, Response, fields_of
from moldau.protocol.varints import write_unsigned_varint

Encoder = Callable[[Any, bytearray], None]
"""(message, buffer to append to)"""


def compile_encoder(message: type[Message], version: int) -> Encoder:
    source = _EncoderSource(Layout(message, version), omits_silently=issubclass(message, Response))
    source.structure(message, "m", "", 0)
    source.emit("return")
    encoder: Encoder = source.compile("encode(m, out)")
    return encoder


class _EncoderSource(Source):
    """Local variables of the generated function: `m` (the message), `out`, `b` and `n` (a value's bytes and
    length), `array_<depth>`, `element_<depth>`, and `outer_<depth>` (what a tagged field is appended to)."""

    def __init__(self, layout: Layout, *, omits_silently: bool) -> None:
        self._omits_silently = omits_silently
        names = {"uvarint": write_unsigned_varint, "pack": struct.pack, **_complaints(layout.title)}
        super().__init__(layout, names)

    def struct_call(self, compiled: struct.Struct, variables: list[str]) -> None:
        if compiled.format == ">B":
            self.emit(f"out.append({variables[0]})")
        else:
            self.emit(f"out += {self.name(compiled.pack, 'pack')}({', '.join(variables)})")

    def structure(self, structure: type[Any], variable: str, path: str, depth: int) -> None:
        for field in fields_of(structure):
            if not self.layout.has(field) and not field.ignorable and not self._omits_silently:
                changed = self._differs(field, f"{variable}.{field.name}")
                self.prepare(f"if {changed}: raise absent('{path}{field.name}')")
        for field in self.layout.in_line(structure):
            self._value(field, f"{variable}.{field.name}", f"{path}{field.name}", depth)
        if self.layout.flexible:
            self._tags(self.layout.tagged(structure), variable, path, depth)

    def _differs(self, field: Field, value: str) -> str:
        if field.default is None:
            return f"{value} is not None"
        if field.is_array:
            return f"({value} is None or len({value}) > 0)"
        default = self.default(field)
        if isinstance(field.of, type):
            # It is nearly always the shared default itself, and comparing structures is slow.
            return f"({value} is not {default} and {value} != {default})"
        return f"{value} != {default}"

    def _value(self, field: Field, value: str, path: str, depth: int) -> None:
        null = self.layout.has_null(field)
        if not null and field.nullable.high >= 0:
            self.prepare(f"if {value} is None: raise null({path!r})")
        if field.is_array:
            self._array(field, null, value, path, depth)
        elif isinstance(field.of, type):
            self._nested(field.of, null, value, path, depth)
        elif field.of in FIXED:
            self.fixed(value, FIXED[field.of][0])
        else:
            self._text(field.of, null, value, path)

    def _length(self, code: str) -> None:
        if self.layout.flexible:
            self.emit("if n < 127: out.append(n + 1)")
            self.emit("else: uvarint(out, n + 1)")
        else:
            self.fixed("n", code)

    def _text(self, of: str, null: bool, value: str, path: str) -> None:
        encoded = f"{value}.encode()" if of == "string" else value
        if null:
            self.prepare(f"b = b'' if {value} is None else {encoded}")
            self.prepare(f"n = -1 if {value} is None else len(b)")
        else:
            self.prepare(f"b = {encoded}")
            self.prepare("n = len(b)")
        if of == "string":
            self.prepare(f"if n > {STRING_BYTES_MAX}: raise too_long({path!r}, n)")
        self._length("h" if of == "string" else "i")
        self.emit("out += b")

    def _array(self, field: Field, null: bool, value: str, path: str, depth: int) -> None:
        array = f"array_{depth}"
        self.prepare(f"{array} = {value}")
        if null:
            self.prepare(f"n = -1 if {array} is None else len({array})")
        else:
            self.prepare(f"n = len({array})")
        self._length("i")
        with self.block("if n > 0:"):
            if field.of == "uuid":
                self.emit(f"out += b''.join({array})")
            elif field.of in FIXED:
                self.emit(f"out += pack(f'>{{n}}{FIXED[field.of][0]}', *{array})")
            else:
                self._elements(field.of, array, path, depth)

    def _elements(self, of: str | type[Any], array: str, path: str, depth: int) -> None:
        element = f"element_{depth}"
        with self.block(f"for {element} in {array}:"):
            if isinstance(of, type):
                self.structure(of, element, f"{path}.", depth + 1)
            else:
                self._text(of, False, element, path)

    def _nested(self, of: type[Any], null: bool, value: str, path: str, depth: int) -> None:
        if not null:
            self.structure(of, value, f"{path}.", depth + 1)
            return
        # A byte before a nullable structure says whether it is present (KIP-893).
        self.emit(f"if {value} is None: out.append(255)")
        with self.block("else:"):
            self.fixed("1", "B")
            self.structure(of, value, f"{path}.", depth + 1)

    def _tags(self, tagged: list[Field], variable: str, path: str, depth: int) -> None:
        if not tagged:
            self.fixed("0", "B")
            return
        changed = {field.name: self._differs(field, f"{variable}.{field.name}") for field in tagged}
        self.emit(f"n = {' + '.join(f'({condition})' for condition in changed.values())}")
        self.emit("out.append(n)")
        outer = f"outer_{depth}"
        with self.block("if n:"):
            for field in tagged:
                with self.block(f"if {changed[field.name]}:"):
                    self.emit(f"{outer} = out")
                    self.emit("out = bytearray()")
                    self._value(field, f"{variable}.{field.name}", f"{path}{field.name}", depth)
                    self.emit(f"uvarint({outer}, {field.tag})")
                    self.emit(f"uvarint({outer}, len(out))")
                    self.emit(f"{outer} += out")
                    self.emit(f"out = {outer}")


def _complaints(title: str) -> dict[str, Any]:
    def absent(path: str) -> ValueError:
        return ValueError(
            f"{title} has no field {path}; leave it at its default or use a version that has it"
        )

    def null(path: str) -> ValueError:
        return ValueError(f"{title}: {path} must not be None in this version")

    def too_long(path: str, size: int) -> ValueError:
        return ValueError(f"{title}: {path} has {size} bytes, a string may have {STRING_BYTES_MAX}")

    return {"absent": absent, "null": null, "too_long": too_long}
