"""Generates the decoder of one message in one version, as straight-line Python source.

A table walked at run time costs three to seven times as much as the same steps written out (one unpack for a
run of fixed fields, no call per field). So they are written out, once per class and version, on first use.

Decoders are safe with hostile input. Every length is compared with the bytes left before anything is
allocated. The number of elements in a message is limited, because an object in memory is many times its size
on the wire. Every error ends in PeerError (`codec.decode` converts the IndexError and struct.error of a short
buffer). Declarations do not recurse, so they bound the nesting.
"""

import struct
from collections.abc import Callable
from typing import Any, Final

from moldau.core.errors import PeerError
from moldau.core.ports import Buffer
from moldau.protocol.layout import FIXED, STRING_BYTES_MAX, Layout, Source
from moldau.protocol.spec import Field, Message, fields_of
from moldau.protocol.varints import continue_unsigned_varint, read_unsigned_varint

ELEMENTS_MAX: Final = 250_000
"""Array elements and tagged fields in one message, at all depths together."""

Decoder = Callable[[Buffer, int, int], tuple[Any, int]]
"""(buffer, position, end) -> (message, position after it)"""


def compile_decoder(message: type[Message], version: int) -> Decoder:
    source = _DecoderSource(Layout(message, version))
    source.emit(f"left = {ELEMENTS_MAX}")
    source.emit(f"return {source.structure(message, '', 0)}, p")
    decoder: Decoder = source.compile("decode(buffer, p, end)")
    return decoder


class _DecoderSource(Source):
    """Local variables of the generated function: `buffer`, `p` (position), `end`, `n` (the last length), `e`
    (where it ends), `left` (elements still allowed), `tag`, `stop_<depth>` (where a tagged field ends),
    `<field>_<depth>` (values)."""

    def __init__(self, layout: Layout) -> None:
        names = {
            "uvarint": read_unsigned_varint,
            "more": continue_unsigned_varint,
            "unpack_from": struct.unpack_from,
            **_complaints(layout.title),
        }
        super().__init__(layout, names)

    def struct_call(self, compiled: struct.Struct, variables: list[str]) -> None:
        if compiled.format == ">B":
            self.emit(f"{variables[0]} = buffer[p]")
        else:
            targets = "".join(f"{variable}, " for variable in variables)
            self.emit(f"{targets}= {self.name(compiled.unpack_from, 'unpack')}(buffer, p)")
        self.emit(f"p += {compiled.size}")

    def structure(self, structure: type[Any], path: str, depth: int) -> str:
        """Emits code that reads all fields; returns the expression that builds the object."""
        for field in self.layout.in_line(structure):
            self._value(field, f"{path}{field.name}", depth)
        if self.layout.flexible:
            self._tags(self.layout.tagged(structure), path, depth)
        self.flush()
        arguments = [
            f"{field.name}_{depth}" if self.layout.has(field) else self.default(field)
            for field in fields_of(structure)
        ]
        return f"{self.name(structure, structure.__name__)}({', '.join(arguments)})"

    def _value(self, field: Field, path: str, depth: int) -> None:
        variable = f"{field.name}_{depth}"
        null = self.layout.has_null(field)
        if field.is_array:
            self._length("i")
            self._unless_null(null, path, variable, lambda: self._array(field, path, variable, depth))
        elif isinstance(field.of, type):
            self._nested(field.of, null, path, variable, depth)
        elif field.of in FIXED:
            self.fixed(variable, FIXED[field.of][0])
        else:
            self._text(field.of, null, path, variable)

    def _length(self, code: str) -> None:
        # The first byte of a varint always exists, so it is read together with the run before it.
        if not self.layout.flexible:
            self.fixed("n", code)
            return
        self.fixed("n", "B")
        self.emit("if n > 127: n, p = more(buffer, p, n)")
        self.emit("n -= 1")

    def _unless_null(self, null: bool, path: str, variable: str, body: Callable[[], None]) -> None:
        if not null:
            self.emit(f"if n < 0: raise null({path!r})")
            body()
            return
        self.emit(f"if n < 0: {variable} = None")
        with self.block("else:"):
            body()

    def _text(self, of: str, null: bool, path: str, variable: str) -> None:
        def body() -> None:
            self.emit("e = p + n")
            limit = f"n > {STRING_BYTES_MAX} or " if of == "string" and self.layout.flexible else ""
            self.emit(f"if {limit}e > end: raise too_long({path!r}, n, end - p)")
            self.emit(f"{variable} = {_TEXT[of]}")
            self.emit("p = e")

        self._length("h" if of == "string" else "i")
        self._unless_null(null, path, variable, body)

    def _array(self, field: Field, path: str, variable: str, depth: int) -> None:
        self._count(path, self.layout.size_min(field.of))
        if field.of == "uuid":
            self.emit(f"{variable} = [bytes(buffer[e:e + 16]) for e in range(p, p + 16 * n, 16)]")
            self.emit("p += 16 * n")
        elif field.of in FIXED:
            code, size = FIXED[field.of]
            self.emit(f"{variable} = list(unpack_from(f'>{{n}}{code}', buffer, p))")
            self.emit(f"p += {size} * n")
        else:
            self.emit(f"{variable} = []")
            with self.block("for _ in range(n):"):
                self.emit(f"{variable}.append({self._element(field.of, path, depth)})")

    def _count(self, path: str, size_min: int) -> None:
        self.emit(f"if n * {size_min} > end - p: raise too_many({path!r}, n, end - p)")
        self.emit("left -= n")
        self.emit(f"if left < 0: raise too_many_in_all({path!r})")

    def _element(self, of: str | type[Any], path: str, depth: int) -> str:
        if isinstance(of, type):
            return self.structure(of, f"{path}.", depth + 1)
        variable = f"element_{depth}"
        self._text(of, False, path, variable)
        return variable

    def _nested(self, of: type[Any], null: bool, path: str, variable: str, depth: int) -> None:
        def body() -> None:
            self.emit(f"{variable} = {self.structure(of, f'{path}.', depth + 1)}")

        if not null:
            body()
            return
        # A byte before a nullable structure says whether it is present (KIP-893).
        self.fixed("n", "b")
        self._unless_null(null, path, variable, body)

    def _tags(self, tagged: list[Field], path: str, depth: int) -> None:
        stop = f"stop_{depth}"
        self.fixed("n", "B")
        for field in tagged:
            self.emit(f"{field.name}_{depth} = {self.default(field)}")
        with self.block("if n:"):
            self.emit("if n > 127: n, p = more(buffer, p, n)")
            self._count(f"{path}tags", 2)
            with self.block("for _ in range(n):"):
                self.emit("tag, p = uvarint(buffer, p)")
                self.emit("n, p = uvarint(buffer, p)")
                self.emit(f"{stop} = p + n")
                self.emit(f"if {stop} > end: raise too_long('{path}tags', n, end - p)")
                for field in tagged:
                    with self.block(f"if tag == {field.tag}:"):
                        self._value(field, f"{path}{field.name}", depth)
                        self.emit(f"if p != {stop}: raise mismatch('{path}{field.name}', {stop} - p)")
                        self.emit("continue")
                self.emit(f"p = {stop}")


_TEXT = {
    "string": "str(buffer[p:e], 'utf-8')",
    "bytes": "bytes(buffer[p:e])",
    "records": "memoryview(buffer)[p:e]",
}


def _complaints(title: str) -> dict[str, Any]:
    def null(path: str) -> PeerError:
        return PeerError(f"{title}: {path} is null, which this version does not allow")

    def too_long(path: str, size: int, left: int) -> PeerError:
        return PeerError(f"{title}: {path} claims {size} bytes where {left} are left")

    def too_many(path: str, count: int, left: int) -> PeerError:
        return PeerError(
            f"{title}: {path} claims {count} elements, which cannot fit in the {left} bytes left"
        )

    def too_many_in_all(path: str) -> PeerError:
        return PeerError(f"{title}: more than {ELEMENTS_MAX} elements in one message, reached in {path}")

    def mismatch(path: str, difference: int) -> PeerError:
        return PeerError(f"{title}: tagged field {path} is {abs(difference)} bytes off its declared size")

    return {
        "null": null,
        "too_long": too_long,
        "too_many": too_many,
        "too_many_in_all": too_many_in_all,
        "mismatch": mismatch,
    }
