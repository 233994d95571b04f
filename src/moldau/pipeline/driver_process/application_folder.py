"""The folder of application files that a server writes and its driver process loads: one file for each application."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

OWNER_ONLY: Final = 0o600


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """An application as it shall run."""

    application_id: str
    content: str
    """Of its file: another content is another application."""
    is_paused: bool
    reloads: bool = False
    """It takes another content while it runs (connectors)."""

    @property
    def file_name(self) -> str:
        return f"{self.application_id}.py"


class ApplicationFolder:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def prepare(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def write(self, wanted: Wanted) -> str:
        """The path of the file, written if its content is another."""
        path = self.folder / wanted.file_name
        if not path.is_file() or path.read_text() != wanted.content:
            new = path.with_suffix(".new")
            # It may have passwords.
            new.touch(OWNER_ONLY)
            new.write_text(wanted.content)
            new.replace(path)
        return str(path)

    def remove(self, application_id: str) -> None:
        (self.folder / f"{application_id}.py").unlink(missing_ok=True)

    def left_over(self, wanted: Collection[str]) -> list[str]:
        """Application ids of files that are no longer wanted: they ended while no server hosted them."""
        return [path.stem for path in self.folder.glob("*.py") if path.stem not in wanted]
