"""Compiles expressions to one Python function: a line for each operation, a block for each branch.

The names of the function are v1, v2 ... for values and c1, c2 ... for constants and functions, so no text of a user
ever becomes part of the source.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.pipeline.code.tree import Apply, Argument, Branch, Code, Constant, Function, Logic

FAILURES: Final = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError)
"""What an operation may raise on a value it cannot work with."""

INDENT_MAX: Final = 80
"""Python itself takes no more than a hundred levels."""

BLOCKS_MAX: Final = 8
"""Up to so many operands or cases become blocks within blocks. More become a loop that runs once and is left."""

OnFailure = Callable[[int, Exception], None]
"""Is told which of the expressions failed, and why; its value is null."""


def compile_value(code: Code, parameters: Sequence[str]) -> Callable[..., Any]:
    """A function of the parameters that gives the value; what an operation raises is the caller's."""
    writer = _Writer(parameters)
    writer.line(f"return {writer.value(code)}")
    return writer.function()


def compile_row(
    codes: Sequence[Code], parameters: Sequence[str], on_failure: OnFailure
) -> Callable[..., Any]:
    """A function of the parameters that gives a tuple. Each value is computed by itself: one that fails is null."""
    writer = _Writer(parameters)
    told = writer.constant(on_failure)
    names = []
    for index, code in enumerate(codes):
        if not isinstance(code, Apply | Branch | Logic):
            names.append(writer.value(code))
            continue
        name = writer.fresh()
        writer.line("try:")
        with_block = writer.block()
        writer.line(f"{name} = {writer.value(code)}")
        writer.end(with_block)
        writer.line(f"except {writer.constant(FAILURES)} as failure:")
        with_block = writer.block()
        writer.line(f"{name} = None")
        writer.line(f"{told}({index}, failure)")
        writer.end(with_block)
        names.append(name)
    writer.line(f"return ({''.join(f'{name}, ' for name in names)})")
    return writer.function()


class _Writer:
    def __init__(self, parameters: Sequence[str]) -> None:
        self._parameters = {name: f"p{number}" for number, name in enumerate(parameters, 1)}
        self._head = ", ".join(self._parameters.values())
        self._reads: list[str] = []
        self._read: dict[str, str] = {}
        self._lines: list[str] = []
        self._constants: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._count = 0
        self._indent = 1

    def function(self) -> Callable[..., Any]:
        body = "\n".join(self._reads + self._lines)
        source = f"def compiled({self._head}):\n{body}\n"
        namespace = {"__builtins__": {}, **self._constants}
        exec(compile(source, "<expression>", "exec"), namespace)  # noqa: S102
        made: Callable[..., Any] = namespace["compiled"]
        made.__doc__ = source
        return made

    def line(self, text: str) -> None:
        self._lines.append("    " * self._indent + text)

    def block(self) -> int:
        self._indent += 1
        if self._indent > INDENT_MAX:
            raise ConfigError(f"an expression is nested more than {INDENT_MAX} branches deep")
        return self._indent - 1

    def end(self, indent: int) -> None:
        self._indent = indent

    def fresh(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def constant(self, value: Any) -> str:
        """The name of a constant; the same for the same object."""
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = f"c{len(self._constants) + 1}"
            self._constants[name] = value
        return name

    def value(self, code: Code) -> str:
        """Writes what computes the value, and gives the name or text that stands for it."""
        match code:
            case Constant(value):
                plain = value is None or type(value) in (bool, int)
                return repr(value) if plain else self.constant(value)
            case Argument(name):
                return self._parameters[name]
            case Apply():
                return self._apply(code)
            case Logic():
                return self._logic(code)
            case Branch():
                return self._branch(code)
            case Function():
                return self._function(code)
        raise TypeError(f"{code!r} is no code")

    def _apply(self, code: Apply) -> str:
        operation = code.operation
        names = [self.value(argument) for argument in code.arguments]
        if operation.is_read and operation.text is not None:
            return self._read_once(operation.text.format(*names))
        function = None if operation.function is None else self.constant(operation.function)
        if operation.text is not None:
            result = operation.text.format(*names, f=function)
        else:
            result = f"{function}({', '.join(names)})"
        name = self.fresh()
        nullable = [given for given, of in zip(names, code.arguments, strict=True) if not _never_null(of)]
        if operation.takes_null or not nullable:
            self.line(f"{name} = {result}")
        else:
            tests = " or ".join(f"{given} is None" for given in dict.fromkeys(nullable))
            self.line(f"{name} = {operation.on_null} if {tests} else {result}")
        return name

    def _read_once(self, text: str) -> str:
        name = self._read.get(text)
        if name is None:
            name = self._read[text] = self.fresh()
            self._reads.append(f"    {name} = {text}")
        return name

    def _logic(self, code: Logic) -> str:
        """Stops at the first operand that decides; null unless one did, if any is null."""
        name, indent = self.fresh(), self._indent
        decides = "is True" if code.is_or else "is False"
        is_long = self._is_loop(len(code.operands))
        self.line(f"{name} = {self.value(code.operands[0])}")
        is_certain = _never_null(code.operands[0])
        for operand in code.operands[1:]:
            if is_long:
                self.line(f"if {name} {decides}: break")
            else:
                self.line(f"if not ({name} {decides}):")
                self.block()
            given = self.value(operand)
            test = "" if is_certain else f"if {given} {decides} or {name} is not None: "
            self.line(f"{test}{name} = {given}")
            is_certain = is_certain and _never_null(operand)
        self.end(indent)
        return name

    def _branch(self, code: Branch) -> str:
        name, indent = self.fresh(), self._indent
        is_long = self._is_loop(len(code.cases))
        for condition, result in code.cases:
            self.line(f"if {self.value(condition)} is True:")
            inside = self.block()
            self.line(f"{name} = {self.value(result)}")
            if is_long:
                self.line("break")
            self.end(inside)
            if not is_long:
                self.line("else:")
                self.block()
        self.line(f"{name} = {self.value(code.otherwise)}")
        self.end(indent)
        return name

    def _is_loop(self, count: int) -> bool:
        """Begins a loop that runs once, where blocks would be too deep."""
        if count > BLOCKS_MAX:
            self.line("for _ in (0,):")
            self.block()
        return count > BLOCKS_MAX

    def _function(self, code: Function) -> str:
        name, outer = self.fresh(), dict(self._parameters)
        inner = {parameter: self.fresh() for parameter in code.parameters}
        self._parameters.update(inner)
        self.line(f"def {name}({', '.join(inner.values())}):")
        indent = self.block()
        self.line(f"return {self.value(code.body)}")
        self.end(indent)
        self._parameters = outer
        return name


def _never_null(code: Code) -> bool:
    match code:
        case Constant(value):
            return value is not None
        case Function():
            return True
        case Apply(operation, arguments):
            is_total = operation.takes_null or operation.on_null != "None"
            return operation.never_null and (is_total or all(map(_never_null, arguments)))
        case Logic(_, operands):
            return all(map(_never_null, operands))
    return False
