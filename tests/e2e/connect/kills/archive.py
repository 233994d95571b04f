"""The file sink with Parquet, in a folder or in a bucket: a topic, and the files that it becomes."""

from pyarrow import fs, parquet

from e2e.connect.kills.flow import Flow
from e2e.connect.kills.topics import PARTITIONS, NumberedTopic

GROUPS = 3
RECORDS_PER_CHUNK = 1_000
"""Of a topic partition: a chunk is a file in the folder of each group."""
SCHEMA = '{"type":"struct","fields":[{"field":"id","type":"int64"},{"field":"group","type":"string"}]}'
VALUE = f'{{"schema":{SCHEMA},"payload":{{"id":%d,"group":"g%d"}}}}'


def value_of(number: int) -> bytes:
    return (VALUE % (number, number % GROUPS)).encode()


class Archive(Flow):
    tasks = 2
    step = 2 * RECORDS_PER_CHUNK

    def __init__(
        self, name: str, servers: str, place: dict[str, str], files: fs.FileSystem, root: str
    ) -> None:
        """`place`: the settings that say where the archive is; `files` and `root`: the same for the test."""
        self.name = name
        self._topic = NumberedTopic(servers, f"{name}-numbers", value_of)
        self._files, self._root = files, root
        self._rows: dict[str, int] = {}
        """Of files that have been looked at. A file that is written again has the same rows."""
        self.config = {
            **place,
            "topics": self._topic.name,
            "tasks.max": str(self.tasks),
            "format.class": "ParquetFormat",
            "flush.size": str(RECORDS_PER_CHUNK),
            "partitioner.class": "FieldPartitioner",
            "partition.field.name": "group",
            "key.converter": "StringConverter",
            "value.converter": "JsonConverter",
        }

    def put(self) -> None:
        self._topic.put()

    def arrived(self) -> int:
        for path in self._paths():
            if path not in self._rows:
                self._rows[path] = self._read(path).num_rows
        return sum(self._rows.values())

    def finish(self) -> None:
        """Fills the last chunk of each partition."""
        for partition in range(PARTITIONS):
            missing = -len(self._topic.numbers[partition]) % RECORDS_PER_CHUNK
            self._topic.commit([partition] * missing)

    def is_complete(self) -> bool:
        arrived = self.arrived()
        assert arrived <= self._topic.count, "there are records twice"
        return arrived == self._topic.count

    def check(self) -> str:
        paths = self._paths()
        for partition, wanted in enumerate(self._topic.numbers):
            own = [path for path in paths if f"+{partition}+" in path]
            for group in range(GROUPS):
                # Names are in the order of offsets.
                found = [
                    number
                    for path in own
                    if f"/group=g{group}/" in path
                    for number in self._read(path)["id"].to_pylist()
                ]
                assert found == [number for number in wanted if number % GROUPS == group]
        return f"{self._topic.count} records in {len(paths)} files"

    def _paths(self) -> list[str]:
        found = self._files.get_file_info(fs.FileSelector(self._root, allow_not_found=True, recursive=True))
        return sorted(one.path for one in found if one.path.endswith(".parquet"))

    def _read(self, path: str):  # type: ignore[no-untyped-def]
        return parquet.read_table(path, filesystem=self._files, partitioning=None)
