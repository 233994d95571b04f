"""A disk in memory that can lose power: unsynced data may then be lost, torn or there.

Implements `storage.disk.Disk`. Files and directory entries become durable separately, as in POSIX: a synced file in
an unsynced directory may have no name after a crash. Entries of one directory survive in the order in which they were
made, as on a journaling file system. `cut_power_after` interrupts the run at any change; `fail_writes` makes the disk
bad or full.
"""

import errno
import os
from collections.abc import Iterator, Sequence
from random import Random

from moldau.core.ports import Buffer

_GARBAGE_BYTES_MAX = 64


class PowerCut(Exception):
    """The machine has lost power. Call `crash` and open what is left."""


class _Inode:
    __slots__ = ("content", "floor", "synced")

    def __init__(self, content: bytes = b"") -> None:
        self.content = bytearray(content)
        self.synced = bytes(content)
        self.floor = len(content)
        """How much of `synced` has not been changed since: everything before it is certain."""

    def sync_all(self) -> None:
        self.synced = bytes(self.content)
        self.floor = len(self.synced)

    def after_crash(self, random: Random) -> "_Inode":
        certain = self.synced[: self.floor]
        if random.random() < 0.3 and len(self.synced) > self.floor:
            return _Inode(self.synced)  # a truncation that never reached the disk
        unsynced = bytes(self.content[self.floor :])
        kept = unsynced[: random.randint(0, len(unsynced))]
        if len(kept) < len(unsynced) and random.random() < 0.3:
            # The length reached the disk, the data did not.
            torn = min(len(unsynced) - len(kept), random.randint(1, _GARBAGE_BYTES_MAX))
            kept += random.choice((bytes(torn), random.randbytes(torn)))
        return _Inode(certain + kept)


class _Directory:
    """Names and what they refer to: now, the durable part, and every state between."""

    __slots__ = ("entries", "passed", "synced")

    def __init__(self) -> None:
        self.entries: dict[str, _Node] = {}
        self.synced: dict[str, _Node] = {}
        self.passed: list[dict[str, _Node]] = []

    def changed(self) -> None:
        self.passed.append(dict(self.entries))

    def sync(self) -> None:
        self.synced = dict(self.entries)
        self.passed.clear()

    def sync_all(self) -> None:
        self.sync()
        for node in self.entries.values():
            node.sync_all()

    def after_crash(self, random: Random) -> "_Directory":
        survivor = _Directory()
        for name, node in random.choice((self.synced, *self.passed)).items():
            survivor.entries[name] = node.after_crash(random)
        survivor.sync()
        return survivor


_Node = _Inode | _Directory


class CrashFile:
    """Implements `core.ports.File`."""

    def __init__(self, disk: "CrashDisk", path: str, inode: _Inode, *, writable: bool) -> None:
        self.path = path
        self._disk = disk
        self._inode = inode
        self._writable = writable

    def append(self, data: Buffer) -> None:
        self._check_writable()
        self._disk.step()
        self._inode.content += data

    def read(self, position: int, size: int) -> bytes:
        self._disk.check_power()
        return bytes(self._inode.content[position : position + size])

    def size(self) -> int:
        self._disk.check_power()
        return len(self._inode.content)

    def truncate(self, size: int) -> None:
        self._check_writable()
        self._disk.step()
        content = self._inode.content
        if size < len(content):
            del content[size:]
            self._inode.floor = min(self._inode.floor, size)
        else:
            content.extend(bytes(size - len(content)))

    def sync(self) -> None:
        self._disk.step()
        self._inode.sync_all()

    def fileno(self) -> int:
        return -1

    def _check_writable(self) -> None:
        if not self._writable:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), self.path)


class _Lock:
    def __init__(self, held: set[str], path: str) -> None:
        self._held = held
        self._path = path
        held.add(path)

    def __del__(self) -> None:
        self._held.discard(self._path)


class CrashDisk:
    def __init__(self) -> None:
        self.now_ms = 0
        """The value of `modified_ms` for every file."""
        self._root = _Directory()
        self._locks: set[str] = set()
        self._is_off = False
        self._steps_left: int | None = None
        self._write_fault: int | None = None

    # --- for tests

    def cut_power_after(self, steps: int) -> None:
        """Raises PowerCut at the nth change from now on, before it happens."""
        self._steps_left = steps

    def fail_writes(self, error_number: int | None) -> None:
        """Every change fails with this errno until called with None."""
        self._write_fault = error_number

    def crash(self, random: Random) -> "CrashDisk":
        """Returns the disk as the next start finds it. Do not use this one any more."""
        self._is_off = True
        after = CrashDisk()
        after.now_ms = self.now_ms
        after._root = self._root.after_crash(random)
        return after

    def outlive_process(self) -> "CrashDisk":
        """Returns the disk as the next process finds it when this process died and the machine did not: nothing
        written is lost, and the dead process can no longer change it."""
        self._is_off = True
        after = CrashDisk()
        after.now_ms = self.now_ms
        after._root = self._root
        return after

    def check_power(self) -> None:
        if self._is_off:
            raise PowerCut

    def step(self) -> None:
        """One change to the disk."""
        self.check_power()
        if self._steps_left is not None:
            self._steps_left -= 1
            if self._steps_left < 0:
                self._is_off = True
                raise PowerCut
        if self._write_fault is not None:
            raise OSError(self._write_fault, os.strerror(self._write_fault))

    # --- Disk

    def open(self, path: str, *, create: bool = False, writable: bool = True) -> CrashFile:
        self.check_power()
        directory, name = self._parent(path)
        node = directory.entries.get(name)
        if isinstance(node, _Directory):
            raise _error(errno.EISDIR, path)
        if node is None:
            if not create:
                raise _error(errno.ENOENT, path)
            self.step()
            node = directory.entries[name] = _Inode()
            directory.changed()
        return CrashFile(self, path, node, writable=writable)

    def read_bytes(self, path: str) -> bytes:
        file = self.open(path, writable=False)
        return file.read(0, file.size())

    def write_atomically(self, path: str, data: bytes, *, durable: bool = True) -> None:
        temporary = path + ".tmp"
        file = self.open(temporary, create=True)
        file.truncate(0)
        file.append(data)
        if durable:
            file.sync()
        self.rename(temporary, path)
        if durable:
            self.sync_directory(os.path.dirname(path))

    def exists(self, path: str) -> bool:
        self.check_power()
        try:
            directory, name = self._parent(path)
        except OSError:
            return False
        return not name or name in directory.entries

    def list(self, directory: str) -> Sequence[str]:
        return sorted(self._directory(directory).entries)

    def entries(self, directory: str) -> Iterator[tuple[str, int]]:
        for name, node in sorted(self._directory(directory).entries.items()):
            if isinstance(node, _Inode):
                yield name, len(node.content)

    def make_directory(self, path: str) -> None:
        self.check_power()
        directory = self._root
        for name in _names(path):
            node = directory.entries.get(name)
            if node is None:
                self.step()
                node = directory.entries[name] = _Directory()
                directory.changed()
            if isinstance(node, _Inode):
                raise _error(errno.EEXIST, path)
            directory = node

    def rename(self, source: str, target: str) -> None:
        self.step()
        old_parent, old_name = self._parent(source)
        new_parent, new_name = self._parent(target)
        if old_name not in old_parent.entries:
            raise _error(errno.ENOENT, source)
        new_parent.entries[new_name] = old_parent.entries.pop(old_name)
        old_parent.changed()
        if new_parent is not old_parent:
            new_parent.changed()

    def remove(self, path: str) -> None:
        self.step()
        directory, name = self._parent(path)
        node = directory.entries.get(name)
        if not isinstance(node, _Inode):
            raise _error(errno.ENOENT if node is None else errno.EISDIR, path)
        del directory.entries[name]
        directory.changed()

    def remove_tree(self, path: str) -> None:
        self.step()
        self._directory(path)
        parent, name = self._parent(path)
        del parent.entries[name]
        parent.changed()

    def sync_directory(self, path: str) -> None:
        self.step()
        self._directory(path).sync()

    def sync_all(self, path: str) -> None:
        self.step()
        self._root.sync_all()

    def lock(self, path: str) -> object:
        self.open(path, create=True)
        if path in self._locks:
            raise BlockingIOError(errno.EAGAIN, "locked", path)
        return _Lock(self._locks, path)

    def modified_ms(self, path: str) -> int:
        self.open(path, writable=False)
        return self.now_ms

    def _parent(self, path: str) -> tuple[_Directory, str]:
        return self._directory(os.path.dirname(path)), os.path.basename(path)

    def _directory(self, path: str) -> _Directory:
        self.check_power()
        directory = self._root
        for name in _names(path):
            node = directory.entries.get(name)
            if not isinstance(node, _Directory):
                raise _error(errno.ENOENT if node is None else errno.ENOTDIR, path)
            directory = node
        return directory


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name]


def _error(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)
