"""Every type and extension that a file can name: its own, those of its references, and the built-in ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from moldau.registry.schemas.protobuf.builtin import PATHS, builtin
from moldau.registry.schemas.protobuf.syntax import Enum, Extend, Field, Message, ProtoFile


@dataclass(frozen=True, slots=True)
class Symbol:
    full: str
    package: str
    node: Message | Enum
    path: str | None
    """The path of the file it is in; None for the file whose symbols these are."""

    @property
    def is_local(self) -> bool:
        return self.path is None

    @property
    def local_name(self) -> str:
        """Its name inside its package."""
        return self.full.removeprefix(f"{self.package}.") if self.package else self.full

    @property
    def scope(self) -> list[str]:
        return self.local_name.split(".")


class Symbols:
    def __init__(self, file: ProtoFile, imported: Mapping[str, ProtoFile]) -> None:
        self.package = file.package or ""
        self.types: dict[str, Symbol] = {}
        self.extensions: dict[str, Field] = {}
        for path, other in imported.items():
            self._add(other, path)
        self._add(file, None)

    def _add(self, file: ProtoFile, path: str | None) -> None:
        package = file.package or ""
        self._add_extensions(package, file.extends)
        for enum in file.enums:
            self._add_type(package, [enum.name], enum, path)
        waiting = [([message.name], message) for message in reversed(file.messages)]
        while waiting:
            names, message = waiting.pop()
            self._add_type(package, names, message, path)
            self._add_extensions(_joined(package, names), message.extends)
            for enum in message.enums:
                self._add_type(package, [*names, enum.name], enum, path)
            nested = [*message.messages, *(group.message for group in message.groups)]
            waiting += [([*names, inner.name], inner) for inner in nested]

    def _add_type(self, package: str, names: Sequence[str], node: Message | Enum, path: str | None) -> None:
        full = _joined(package, names)
        self.types[full] = Symbol(full, package, node, path)

    def _add_extensions(self, scope: str, extends: Iterable[Extend]) -> None:
        for extend in extends:
            for field in extend.fields:
                self.extensions[_joined(scope, [field.name])] = field

    def find(self, name: str, scope: Sequence[str], package: str | None = None) -> Symbol | None:
        """Resolves `name` inside the message `scope`, searching from the innermost scope outwards."""
        full = self._resolved(name, scope, self.types, package)
        if full is not None:
            return self.types[full]
        # Built-in types are known without an import.
        full = self._resolved(name, scope, _builtin_types(), package)
        return _builtin_types()[full] if full else None

    def find_extension(self, name: str, scope: Sequence[str]) -> str | None:
        return self._resolved(name, scope, self.extensions, None)

    def _resolved(
        self, name: str, scope: Sequence[str], known: Mapping[str, object], package: str | None
    ) -> str | None:
        if name.startswith("."):
            return name[1:] if name[1:] in known else None
        package = self.package if package is None else package
        parts = [*(package.split(".") if package else []), *scope]
        for length in range(len(parts), -1, -1):
            full = _joined(".".join(parts[:length]), [name])
            if full in known:
                return full
        return None


@lru_cache(maxsize=1)
def _builtin_types() -> dict[str, Symbol]:
    return Symbols(ProtoFile(), {path: builtin(path) for path in sorted(PATHS)}).types


def _joined(package: str, names: Sequence[str]) -> str:
    return ".".join([package, *names] if package else names)
