"""Parses the text of a `.proto` file into a tree: proto2, proto3 and editions.

Names are not resolved here.
"""

from collections.abc import Callable

from moldau.registry.schemas.protobuf.syntax import (
    MAX_NUMBER,
    SCALARS,
    Aggregate,
    Enum,
    EnumValue,
    Extend,
    Extensions,
    Field,
    Group,
    Import,
    Message,
    Oneof,
    Option,
    ProtoFile,
    Quoted,
    Reserved,
    Rpc,
    Service,
    Several,
    Span,
    Value,
    Word,
)
from moldau.registry.schemas.protobuf.token_reader import TokenReader, shown
from moldau.registry.schemas.protobuf.tokens import Token

DEPTH_MAX = 32
"""How deep messages may be nested, as in Google's compiler."""
_LABELS = ("optional", "required", "repeated")
_ENUM_MAX = 2**31 - 1


class Parser(TokenReader):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0

    def file(self) -> ProtoFile:
        file = ProtoFile()
        while not self._is("end"):
            self._statement(file)
        return file

    def _statement(self, file: ProtoFile) -> None:
        token = self._take()
        match token.text:
            case ";":
                pass
            case "syntax":
                file.syntax = self._version(token, ("proto2", "proto3"))
            case "edition":
                file.edition = self._version(token, ("2023", "2024"))
            case "package":
                file.package = self._dotted()
                self._expect(";")
            case "import":
                kind = self._take().text if self._peek().text in ("public", "weak", "option") else ""
                file.imports.append(Import(self._string(), kind))
                self._expect(";")
            case "option":
                file.options.append(self._option_statement())
            case "message":
                file.messages.append(self._message(self._word("a message")))
            case "enum":
                file.enums.append(self._enum())
            case "extend":
                file.extends.append(self._extend())
            case "service":
                file.services.append(self._service())
            case _:
                raise self._wrong(
                    token,
                    f"{shown(token)} does not start a definition; "
                    "expected message, enum, service, extend, import, option or package",
                )

    def _version(self, token: Token, known: tuple[str, ...]) -> str:
        self._expect("=")
        value = self._string()
        self._expect(";")
        if value not in known:
            raise self._wrong(token, f'unknown {token.text} "{value}"; known are {" and ".join(known)}')
        return value

    def _message(self, name: str) -> Message:
        message = Message(name)
        with_body = {
            "message": lambda: message.messages.append(self._message(self._word("a message"))),
            "enum": lambda: message.enums.append(self._enum()),
            "extend": lambda: message.extends.append(self._extend()),
            "oneof": lambda: message.oneofs.append(self._oneof(message)),
            "option": lambda: message.options.append(self._option_statement()),
            "reserved": lambda: message.reserved.append(self._reserved()),
            "extensions": lambda: message.extensions.append(self._extensions()),
        }
        self._body(with_body, lambda: self._member(message.fields, message.groups))
        return message

    def _body(self, keywords: dict[str, Callable[[], None]], other: Callable[[], None]) -> None:
        """Everything between braces."""
        self._depth += 1
        opening = self._expect("{")
        if self._depth > DEPTH_MAX:
            raise self._wrong(opening, f"definitions are nested deeper than {DEPTH_MAX} levels")
        while not self._skip("}"):
            token = self._peek()
            if token.kind == "end":
                raise self._wrong(opening, "this brace is not closed")
            if self._skip(";"):
                continue
            if token.text in keywords:
                self._take()
                keywords[token.text]()
            else:
                other()
        self._depth -= 1

    def _member(self, fields: list[Field], groups: list[Group]) -> None:
        token = self._peek()
        if token.kind != "word" and token.text != ".":
            raise self._wrong(token, f"{shown(token)} does not start a field; expected a type")
        label = self._take().text if token.text in _LABELS else None
        if self._peek().text == "group":
            self._take()
            groups.append(self._group(label))
            return
        if self._peek().text == "map" and self._after().text == "<":
            fields.append(self._map(label))
            return
        field_type = self._type()
        name, number, options = self._field_rest()
        fields.append(Field(label, field_type, name, number, options))

    def _map(self, label: str | None) -> Field:
        start = self._take()
        if label is not None:
            raise self._wrong(start, f"a map cannot be {label}")
        self._expect("<")
        key = self._take()
        if key.text not in SCALARS - {"double", "float", "bytes"}:
            raise self._wrong(key, f"{key.text} cannot be the key of a map; an integer, bool or string can")
        self._expect(",")
        value = self._type()
        self._expect(">")
        name, number, options = self._field_rest()
        return Field(None, value, name, number, options, key.text)

    def _field_rest(self) -> tuple[str, int, list[Option]]:
        name = self._word("a field")
        self._expect("=")
        number = self._field_number(name)
        options = self._bracketed()
        self._expect(";")
        return name, number, options

    def _field_number(self, name: str) -> int:
        token = self._peek()
        number = self._integer(f"the number of field {name}")
        if not 1 <= number <= MAX_NUMBER:
            raise self._wrong(
                token, f"field {name} has the number {number}; it must be between 1 and {MAX_NUMBER:,}"
            )
        if 19_000 <= number <= 19_999:
            raise self._wrong(
                token,
                f"field {name} has the number {number}; 19000 to 19999 are reserved for Protobuf itself",
            )
        return number

    def _group(self, label: str | None) -> Group:
        name = self._word("a group")
        self._expect("=")
        number = self._field_number(name)
        self._bracketed()
        return Group(label, number, self._message(name))

    def _oneof(self, message: Message) -> Oneof:
        oneof = Oneof(self._word("a oneof"))
        keywords = {"option": lambda: oneof.options.append(self._option_statement())}

        def member() -> None:
            if self._peek().text in (*_LABELS, "map"):
                raise self._wrong(
                    self._peek(), f"a field of oneof {oneof.name} cannot be {self._peek().text}"
                )
            self._member(oneof.fields, oneof.groups)

        self._body(keywords, member)
        return oneof

    def _extend(self) -> Extend:
        extend = Extend(self._type())
        self._body({}, lambda: self._member(extend.fields, extend.groups))
        return extend

    def _enum(self) -> Enum:
        enum = Enum(self._word("an enum"))
        keywords = {
            "option": lambda: enum.options.append(self._option_statement()),
            "reserved": lambda: enum.reserved.append(self._reserved(_ENUM_MAX)),
        }

        def value() -> None:
            name = self._word("an enum value")
            self._expect("=")
            number = self._integer(f"the number of {name}", signed=True)
            enum.values.append(EnumValue(name, number, self._bracketed()))
            self._expect(";")

        self._body(keywords, value)
        return enum

    def _service(self) -> Service:
        service = Service(self._word("a service"))
        keywords = {
            "option": lambda: service.options.append(self._option_statement()),
            "rpc": lambda: service.rpcs.append(self._rpc()),
        }

        def nothing_else() -> None:
            raise self._wrong(self._peek(), f"{shown(self._peek())} is neither rpc nor option")

        self._body(keywords, nothing_else)
        return service

    def _rpc(self) -> Rpc:
        rpc = Rpc(self._word("an rpc"), "", "")
        rpc.request_streams, rpc.request = self._rpc_type()
        self._expect("returns")
        rpc.response_streams, rpc.response = self._rpc_type()
        if self._skip(";"):
            return rpc
        keywords = {"option": lambda: rpc.options.append(self._option_statement())}

        def nothing_else() -> None:
            raise self._wrong(self._peek(), f"{shown(self._peek())} is not an option")

        self._body(keywords, nothing_else)
        return rpc

    def _rpc_type(self) -> tuple[bool, str]:
        self._expect("(")
        streams = self._peek().text == "stream" and self._after().text != ")"
        if streams:
            self._take()
        name = self._type()
        self._expect(")")
        return streams, name

    def _reserved(self, largest: int = MAX_NUMBER) -> Reserved:
        values: list[Span | str] = []
        while True:
            token = self._peek()
            if token.kind == "quoted":
                values.append(self._string())
            elif token.kind == "word":
                values.append(self._take().text)
            else:
                values.append(self._span(largest))
            if not self._skip(","):
                break
        self._expect(";")
        return Reserved(values)

    def _extensions(self) -> Extensions:
        values = [self._span(MAX_NUMBER)]
        while self._skip(","):
            values.append(self._span(MAX_NUMBER))
        options = self._bracketed()
        self._expect(";")
        return Extensions(values, options)

    def _span(self, largest: int) -> Span:
        start = self._integer("the start of a range", signed=True)
        if not self._skip("to"):
            return Span(start, start)
        if self._skip("max"):
            return Span(start, largest)
        token = self._peek()
        end = self._integer("the end of a range", signed=True)
        if end < start:
            raise self._wrong(token, f"the range {start} to {end} ends before it starts")
        return Span(start, end)

    def _option_statement(self) -> Option:
        name = self._option_name()
        self._expect("=")
        value = self._value()
        self._expect(";")
        return Option(name, value)

    def _bracketed(self) -> list[Option]:
        options: list[Option] = []
        if not self._skip("["):
            return options
        while True:
            name = self._option_name()
            self._expect("=")
            options.append(Option(name, self._value()))
            if not self._skip(","):
                break
        self._expect("]")
        return options

    def _option_name(self) -> str:
        parts: list[str] = []
        while True:
            if self._skip("("):
                parts.append(f"({self._type()})")
                self._expect(")")
            else:
                parts.append(self._word("an option"))
            if not self._skip("."):
                return ".".join(parts)

    def _value(self) -> Value:
        if self._is("quoted"):
            return Quoted(self._string())
        token = self._take()
        if token.text in ("-", "+"):
            sign = "-" if token.text == "-" else ""
            return Word(sign + self._take().text)
        if token.kind == "word":
            # A dotted name is not valid here, but Google's compiler reports it with the option's own name.
            return Word(token.text)
        if token.kind == "number":
            return Word(token.text)
        if token.text in ("{", "<"):
            return self._aggregate("}" if token.text == "{" else ">")
        if token.text == "[":
            return self._several()
        raise self._wrong(token, f"{shown(token)} is not the value of an option")

    def _aggregate(self, closing: str) -> Aggregate:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise self._wrong(self._peek(), f"options are nested deeper than {DEPTH_MAX} levels")
        members: list[tuple[str, Value]] = []
        while not self._skip(closing):
            key = self._aggregate_key()
            self._skip(":")
            members.append((key, self._value()))
            if not self._skip(","):
                self._skip(";")
        self._depth -= 1
        return Aggregate(tuple(members))

    def _aggregate_key(self) -> str:
        if not self._skip("["):
            return self._word("a field of an option")
        parts = [self._dotted()]
        while self._skip("/"):
            parts.append(self._dotted())
        self._expect("]")
        return f"[{'/'.join(parts)}]"

    def _several(self) -> Several:
        values: list[Value] = []
        while not self._skip("]"):
            values.append(self._value())
            if not self._skip(",") and self._peek().text != "]":
                raise self._wrong(self._peek(), "values in a list must be separated by commas")
        return Several(tuple(values))
