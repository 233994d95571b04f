"""Types: `ARRAY<STRUCT<A INTEGER>>`, `DECIMAL(9, 2)`, or a name the user has given one."""

from moldau.pipeline.sql.syntax.parser.token_reader import TokenReader
from moldau.pipeline.sql.syntax.tree.expressions import NamedType
from moldau.pipeline.sql.types import DECIMAL_PRECISION_MAX, SIMPLE, Array, Decimal, Map, SqlType, Struct


class TypeParser(TokenReader):
    def type(self) -> SqlType:
        self.deeper()
        try:
            return self._type()
        finally:
            self.back()

    def _type(self) -> SqlType:
        at = self.at
        if self.goes_on_with("ARRAY", "<"):
            return Array(self._in_angles(1)[0])
        if self.goes_on_with("MAP", "<"):
            return Map(*self._in_angles(2))
        if self.goes_on_with("STRUCT", "<"):
            return self._struct()
        if self.goes_on_with("STRUCT", "<>"):
            raise self.error("a STRUCT needs a field", at)
        if self.accept("DECIMAL") or self.accept("DEC"):
            return self._decimal()
        name = self.name("a type")
        if name in ("ARRAY", "MAP", "STRUCT"):
            example = {
                "ARRAY": "ARRAY<STRING>",
                "MAP": "MAP<STRING, INTEGER>",
                "STRUCT": "STRUCT<NAME STRING>",
            }[name]
            raise self.error(f"{name} needs the types it is made of: {example}", at)
        if self.goes_on_with("(") and name in ("VARCHAR", "STRING"):
            raise self.error(f"{name} has no length", hint=f"Write {name} alone.")
        return SIMPLE.get(name) or NamedType(name, at=at)

    def _decimal(self) -> Decimal:
        at = self.at
        self.expect("(")
        precision = self.integer("the precision")
        self.expect(",")
        scale = self.integer("the scale")
        self.expect(")")
        if not 1 <= precision <= DECIMAL_PRECISION_MAX:
            raise self.error(
                f"the precision of a DECIMAL is between 1 and {DECIMAL_PRECISION_MAX}, not {precision}", at
            )
        if scale > precision:
            raise self.error(f"the scale of a DECIMAL is at most its precision: {scale} > {precision}", at)
        return Decimal(precision, scale)

    def _in_angles(self, count: int) -> list[SqlType]:
        self.take()
        self.expect("<")
        types = [self.type()]
        for _ in range(count - 1):
            self.expect(",")
            types.append(self.type())
        self.expect(">")
        return types

    def _struct(self) -> Struct:
        self.take()
        self.expect("<")
        fields: dict[str, SqlType] = {}
        while True:
            at, name = self.at, self.name("the name of a field")
            if name in fields:
                raise self.error(f"the STRUCT has two fields {name}", at)
            fields[name] = self.type()
            if not self.accept(","):
                self.expect(">")
                return Struct(list(fields.items()))
