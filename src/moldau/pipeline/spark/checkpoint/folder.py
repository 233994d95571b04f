"""A folder of small files, each written atomically: a reader sees the whole file or none.

A local path or any address that pyarrow knows (`hdfs://`, `s3://`, `gs://`). Executors on other machines must reach the
same folder.
"""

import os
import uuid
from pathlib import Path

from pyarrow import fs


class Folder:
    def __init__(self, address: str) -> None:
        self.address = address
        self._files, self._root = _open(address)

    def within(self, name: str) -> "Folder":
        return Folder(f"{self.address.rstrip('/')}/{name}")

    def read(self, name: str) -> bytes | None:
        """None if there is no such file."""
        try:
            with self._files.open_input_file(f"{self._root}/{name}") as file:
                content = file.read()
        except FileNotFoundError:
            return None
        assert isinstance(content, bytes)
        return content

    def write(self, name: str, content: bytes) -> None:
        """Replaces the file atomically."""
        # Differs from every finished file's name, and from the one of a worker that is believed dead and still writes.
        unfinished = f"{self._root}/.{name}.{os.getpid()}.{uuid.uuid4().hex[:8]}"
        try:
            self._put(unfinished, content)
        except FileNotFoundError:
            self._files.create_dir(self._root, recursive=True)
            self._put(unfinished, content)
        self._files.move(unfinished, f"{self._root}/{name}")

    def names(self) -> list[str]:
        listed = self._files.get_file_info(fs.FileSelector(self._root, allow_not_found=True))
        return [info.base_name for info in listed if not info.base_name.startswith(".")]

    def remove(self, name: str) -> None:
        try:
            self._files.delete_file(f"{self._root}/{name}")
        except FileNotFoundError:
            return

    def remove_all(self) -> None:
        if self._files.get_file_info(self._root).type != fs.FileType.NotFound:
            self._files.delete_dir(self._root)

    def _put(self, path: str, content: bytes) -> None:
        with self._files.open_output_stream(path) as file:
            file.write(content)


def _open(address: str) -> tuple[fs.FileSystem, str]:
    if "://" in address:
        files, root = fs.FileSystem.from_uri(address)
        return files, root
    return fs.LocalFileSystem(), str(Path(address).absolute())
