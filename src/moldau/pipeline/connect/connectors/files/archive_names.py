"""The names of files in an archive: TOPIC+PARTITION+OFFSET.EXTENSION, where the offset is that of the first record.

HDFS has TOPIC+PARTITION+FIRST+LAST.EXTENSION. Names are the whole protocol between sink and source.
"""

import re
from typing import Final, NamedTuple, Self

HIVE_NULL: Final = "__HIVE_DEFAULT_PARTITION__"
TEMPORARY_FOLDER: Final = "+tmp"
_NAME: Final = re.compile(
    r"(?P<topic>[^+/]+)\+(?P<partition>\d+)\+(?P<first>\d+)(?:\+\d+)?(?P<extension>\.[^+/]+)"
)
_UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f\"#%'*/:=?\\{\[\]^+]")


class ArchiveName(NamedTuple):
    topic: str
    partition: int
    first_offset: int
    extension: str

    @classmethod
    def parse(cls, name: str) -> Self | None:
        """None for a file that the sink has not written."""
        found = _NAME.fullmatch(name)
        if found is None:
            return None
        return cls(found["topic"], int(found["partition"]), int(found["first"]), found["extension"])

    def text(self, pad_width: int, last_offset: int | None = None) -> str:
        offsets = [self.first_offset] if last_offset is None else [self.first_offset, last_offset]
        padded = "+".join(str(one).zfill(pad_width) for one in offsets)
        return f"{self.topic}+{self.partition}+{padded}{self.extension}"


def folder_text(text: str) -> str:
    """A value as part of a path, escaped as Hive does. It cannot leave its folder."""
    if not text:
        return HIVE_NULL
    escaped = _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", text)
    return escaped.replace(".", "%2E") if set(escaped) == {"."} else escaped


def is_hidden(path: str) -> bool:
    """Files that are being written or are not data, by the custom of Hadoop, at any depth of a relative path."""
    return any(part.startswith((".", "_", "+")) for part in path.split("/"))
