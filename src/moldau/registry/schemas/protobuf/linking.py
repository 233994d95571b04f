"""Links a file and everything it needs as descriptors, with Google's library.

A registry accepts types from any reference, whatever the imports say; a descriptor must import every file it uses. So
this module adds missing imports and removes imports that cannot be resolved.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from moldau.registry.schemas.model import InvalidSchema
from moldau.registry.schemas.protobuf import builtin
from moldau.registry.schemas.protobuf.symbols import Symbols
from moldau.registry.schemas.protobuf.syntax import ProtoFile
from moldau.registry.schemas.protobuf.to_descriptor import DescriptorWriter


class Linker:
    """`files` are the available files, by path."""

    def __init__(self, files: Mapping[str, ProtoFile]) -> None:
        self._files = files

    def descriptor(self, file: ProtoFile, path: str, symbols: Symbols | None = None) -> FileDescriptorProto:
        writer = DescriptorWriter(file, symbols or Symbols(file, self._files))
        found = writer.file(path)
        kept = [index for index, name in enumerate(found.dependency) if self._find(name) is not None]
        imports = [found.dependency[index] for index in kept]
        missing = sorted(writer.used.keys() - self._reached(imports))
        new_index = {old: new for new, old in enumerate(kept)}
        found.dependency[:] = [*imports, *missing]
        for indexes in (found.public_dependency, found.weak_dependency):
            indexes[:] = [new_index[index] for index in indexes if index in new_index]
        return found

    def not_imported(self, file: ProtoFile, symbols: Symbols) -> Collection[str]:
        """The paths of files that the file uses but does not import."""
        writer = DescriptorWriter(file, symbols)
        writer.file("")
        return sorted(writer.used.keys() - self._reached(one.path for one in file.imports))

    def pool(self, file: FileDescriptorProto) -> DescriptorPool:
        """Raises InvalidSchema with what the library rejected."""
        pool = DescriptorPool()
        for needed in self._in_order(file):
            try:
                pool.Add(needed)
                pool.FindFileByName(needed.name)
            except (TypeError, KeyError, ValueError) as error:
                reason = (
                    str(error).replace("Couldn't build proto file into descriptor pool: ", "").strip("'\" .")
                )
                raise InvalidSchema(f"Not a valid Protobuf schema: {reason}.") from None
        return pool

    def _in_order(self, file: FileDescriptorProto) -> Iterator[FileDescriptorProto]:
        """Orders the files so that each comes after those it needs."""
        begun: set[str] = set()
        stack = [(file, False)]
        while stack:
            found, is_ready = stack.pop()
            if is_ready:
                yield found
            elif found.name not in begun:
                begun.add(found.name)
                stack.append((found, True))
                stack += [
                    (self._descriptor_of(path), False) for path in found.dependency if path not in begun
                ]

    def _descriptor_of(self, path: str) -> FileDescriptorProto:
        file = self._find(path)
        assert file is not None, "imports that cannot be resolved were removed"
        if path in builtin.MODULE_PATHS and file is builtin.builtin(path):
            return builtin.builtin_descriptor(path)
        return self.descriptor(file, path)

    def _reached(self, paths: Iterable[str]) -> set[str]:
        """The files an import makes visible: the file itself and its public imports."""
        found: set[str] = set()
        waiting = list(paths)
        while waiting:
            path = waiting.pop()
            file = self._find(path)
            if path in found or file is None:
                continue
            found.add(path)
            waiting += [one.path for one in file.imports if one.kind == "public"]
        return found

    def _find(self, path: str) -> ProtoFile | None:
        return self._files.get(path) or (builtin.builtin(path) if path in builtin.PATHS else None)
