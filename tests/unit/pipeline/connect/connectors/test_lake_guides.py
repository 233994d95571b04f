"""The guide pages of connectors have a row for each setting, with its default, as it is declared."""

from pathlib import Path
from typing import Any

import pytest

from moldau.pipeline.connect.declarations import Declaration
from moldau.pipeline.connect.plugins import find_connector

GUIDES = Path(__file__).parents[5] / "docs" / "guides" / "connectors"
PAGES = {
    "elasticsearch": ("ElasticsearchSink",),
    "files": ("FileSink", "FileSource"),
    "http": ("HttpSink", "HttpSource"),
    "iceberg": ("IcebergSink", "IcebergSource"),
    "postgres-cdc": ("PostgresCdc",),
}


def row(declaration: Declaration) -> str:
    key = declaration.key
    meaning = key.doc.replace("|", "\\|")
    return f"| `{key.name}` | {'required' if declaration.is_required else shown(key.default)} | {meaning} |"


def shown(default: Any) -> str:
    match default:
        case None | "" | ():
            return ""
        case bool():
            return f"`{str(default).lower()}`"
        case tuple():
            return f"`{','.join(default)}`"
    return f"`{default}`"


@pytest.mark.parametrize("page", PAGES)
def test_settings_are_as_declared(page: str) -> None:
    text = (GUIDES / f"{page}.md").read_text()
    declared = {row(one) for name in PAGES[page] for one in find_connector(name).connector.declarations}
    written = {line for line in text.splitlines() if line.startswith("| `") and line.count(" | ") == 2}
    rest = {line for line in written if not line.startswith(("| `FileS", "| `S3S", "| `HdfsS"))}
    assert sorted(declared - written) == []
    assert sorted(rest - declared) == []
