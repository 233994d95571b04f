"""The folder that a sink writes to and a source reads, on a disk, in an object store or in HDFS. All its I/O is here.

A file appears with all its bytes. On a disk it is synced before it gets its name; an object is put whole.
"""

import io
import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyarrow import fs

from moldau.pipeline.connect.api import ANY_PATH, ConnectError
from moldau.pipeline.connect.connectors.files.archive_names import TEMPORARY_FOLDER

COPY_BYTES: Final = 4 << 20
LINES_BYTES: Final = 64 << 10
TIMEOUT_S: Final = 30.0
TEMPORARY_SUFFIX: Final = ".tmp"
_S3_SCHEMES: Final = ("s3", "s3a", "s3n")
_REMOTE: Final = (*_S3_SCHEMES, "hdfs", "viewfs", "gs", "gcs", "abfs", "abfss")
"""What the URLs of folders that are on no disk of the machine begin with."""


class Location(NamedTuple):
    """What the settings of a connector say about its folder."""

    url: str
    """`file:///folder`, `/folder`, `s3://bucket/prefix`, `hdfs://host:port/folder`, or another one that Arrow reads."""
    access_key: str | None = None
    secret_key: str | None = None
    session_token: str | None = None
    region: str | None = None
    endpoint: str | None = None
    """`http://host:port` of an S3 that is not Amazon's."""
    is_path_style: bool = True
    proxy: str | None = None
    user: str | None = None
    """Of HDFS."""


def local_paths_of(location: Location, config: Mapping[str, str]) -> list[tuple[str, str]]:
    """As `Connector.local_paths` answers. An object store and HDFS are not on the machine; the spool folder is."""
    found = [("spool.dir", config.get("spool.dir", ""))]
    scheme, separator, rest = location.url.partition("://")
    if separator and scheme.lower() in _REMOTE:
        return found
    name = next((one for one in ("path", "hdfs.url", "store.url") if config.get(one)), "path")
    if not separator and location.url.startswith("/"):
        return [*found, (name, location.url)]
    is_plain = scheme.lower() == "file" and rest.startswith("/") and not set("?#") & set(rest)
    return [*found, (name, unquote(rest) if is_plain else ANY_PATH)]


class StoredFile(NamedTuple):
    path: str
    """Relative to the folder."""
    size: int


class FileStore:
    def __init__(self, location: Location) -> None:
        """Raises ConnectError for a URL that cannot be used here."""
        self.url = location.url
        try:
            self._fs, self._root = _opened(location)
        except (OSError, ValueError, pa.ArrowException) as failure:
            raise ConnectError(f"{location.url} cannot be used: {failure}") from failure
        self._local = Path(self._root) if isinstance(self._fs, fs.LocalFileSystem) else None

    def check(self) -> None:
        """Raises ConnectError if there is no such bucket or folder and none can be made."""
        try:
            if self._local is not None:
                self._local.mkdir(parents=True, exist_ok=True)
                return
            bucket = self._root.partition("/")[0] if isinstance(self._fs, fs.S3FileSystem) else "/"
            kind = self._fs.get_file_info(bucket).type
        except OSError as failure:
            raise ConnectError(f"{self.url} cannot be used: {failure}") from failure
        if kind is fs.FileType.NotFound:
            raise ConnectError(f"{self.url} cannot be used: there is no bucket {bucket}. Create it")

    def put(self, path: str, content: IO[bytes]) -> None:
        """Replaces a file of that name. Raises OSError, and leaves what was there before; ConnectError for a file that
        would not be in the folder."""
        if path.startswith("/") or ".." in path.split("/"):
            raise ConnectError(
                f"The file {path} would not be in {self.url}: a field of a record, topics.dir or path.format has made "
                "a name with .. in it. Correct it, or partition by another field"
            )
        content.seek(0)
        if self._local is not None:
            self._put_on_disk(path, content)
            return
        target = self._path(path)
        if isinstance(self._fs, fs.HadoopFileSystem):
            name = path.rpartition("/")[2]
            temporary = self._path(f"{TEMPORARY_FOLDER}/{_temporary_name(name)}")
            self._fs.create_dir(target.rpartition("/")[0])
            self._write(temporary, content)
            if self._fs.get_file_info(target).type is not fs.FileType.NotFound:
                self._fs.delete_file(target)
            self._fs.move(temporary, target)
        else:
            self._write(target, content)

    def files(self) -> list[StoredFile]:
        """All of them. Names are not sorted."""
        found = self._fs.get_file_info(fs.FileSelector(self._root, allow_not_found=True, recursive=True))
        start = len(self._root.rstrip("/")) + 1
        return [StoredFile(one.path[start:], one.size) for one in found if one.type is fs.FileType.File]

    def open(self, path: str) -> IO[bytes]:
        """To read. Raises OSError."""
        return self._fs.open_input_file(self._path(path))  # type: ignore[no-any-return]

    def stream(self, path: str) -> IO[bytes]:
        """To read from the beginning to the end, with read-ahead."""
        stream = self._fs.open_input_stream(self._path(path), compression=None, buffer_size=COPY_BYTES)
        # Arrow's streams have no lines.
        return io.BufferedReader(stream, LINES_BYTES)

    def remove_temporary(self, prefix: str) -> None:
        """What writers that were killed have left: temporary files whose names begin so."""
        folder = fs.FileSelector(self._path(TEMPORARY_FOLDER), allow_not_found=True)
        if isinstance(self._fs, fs.S3FileSystem):
            return
        for one in self._fs.get_file_info(folder):
            if one.base_name.startswith(prefix) and one.base_name.endswith(TEMPORARY_SUFFIX):
                self._fs.delete_file(one.path)

    def _path(self, path: str) -> str:
        return f"{self._root.rstrip('/')}/{path}"

    def _write(self, path: str, content: IO[bytes]) -> None:
        with self._fs.open_output_stream(path, compression=None) as out:
            shutil.copyfileobj(content, out, COPY_BYTES)

    def _put_on_disk(self, path: str, content: IO[bytes]) -> None:
        assert self._local is not None
        target = self._local / path
        temporary = self._local / TEMPORARY_FOLDER / _temporary_name(target.name)
        made_folders = [one for one in (target.parent, *target.parent.parents) if not one.exists()]
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.parent.mkdir(exist_ok=True)
        with open(temporary, "wb", COPY_BYTES) as out:
            shutil.copyfileobj(content, out, COPY_BYTES)
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, target)
        for folder in (target.parent, *(one.parent for one in made_folders)):
            _sync_folder(folder)


def _temporary_name(name: str) -> str:
    return f"{name}.{secrets.token_hex(6)}{TEMPORARY_SUFFIX}"


def _sync_folder(folder: Path) -> None:
    """A new name is on the disk when its folder is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _opened(location: Location) -> tuple[fs.FileSystem, str]:
    url = location.url
    parts = urlsplit(url)
    if not parts.scheme:
        if not url.startswith("/"):
            raise ValueError("it is no URL and no absolute path: tasks may run on any machine, in any folder")
        return fs.LocalFileSystem(), url
    if parts.scheme in _S3_SCHEMES and not parts.query:
        return _s3(location), f"{parts.netloc}{parts.path}".rstrip("/")
    if parts.scheme == "hdfs":
        return fs.HadoopFileSystem(
            parts.hostname or "default", parts.port or 0, user=location.user
        ), parts.path or "/"
    found, root = fs.FileSystem.from_uri(url)
    return found, root


def _s3(location: Location) -> fs.S3FileSystem:
    more: dict[str, Any] = {}
    if location.endpoint:
        scheme, separator, host = location.endpoint.rstrip("/").rpartition("://")
        more |= {"endpoint_override": host, "scheme": scheme if separator else "https"}
    given: Mapping[str, Any] = {
        "access_key": location.access_key,
        "secret_key": location.secret_key,
        "session_token": location.session_token,
        "region": location.region,
        "proxy_options": location.proxy,
    }
    more |= {name: value for name, value in given.items() if value}
    return fs.S3FileSystem(
        **more,
        force_virtual_addressing=not location.is_path_style,
        request_timeout=TIMEOUT_S,
        connect_timeout=TIMEOUT_S,
        background_writes=False,
    )
