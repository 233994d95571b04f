"""The folder of a project: its configuration, and migrations as files with a number and a name."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moldau.cli.failures import Failure
from moldau.cli.options import read_properties

CONFIG_FILE: Final = "ksql-migrations.properties"
FOLDER: Final = "migrations"
NAME_CHARACTERS_MAX: Final = 200
URL: Final = "ksql.server.url"
_FILE: Final = re.compile(r"V(?P<version>\d{6})__(?P<name>.+)\.sql")
_UNWRITABLE: Final = re.compile(r"[^\w .-]")
_CONFIG: Final = """\
# The SQL server, or ksqlDB server
ksql.server.url={url}

# Where applied migrations are recorded on the server
# ksql.migrations.stream.name=MIGRATION_EVENTS
# ksql.migrations.table.name=MIGRATION_SCHEMA_VERSIONS
# The topics of the two. Default: the server's ksql.service.id, "ksql_" and the name
# ksql.migrations.stream.topic.name=
# ksql.migrations.table.topic.name=
# ksql.migrations.topic.replicas=1

# Where the files are. Default: the folder migrations beside this file
# ksql.migrations.dir.override=

# For basic authentication
# ksql.auth.basic.username=
# ksql.auth.basic.password=
"""


@dataclass(frozen=True)
class Migration:
    version: int
    name: str
    file: Path

    def text(self) -> str:
        return self.file.read_text(encoding="utf-8")

    @property
    def checksum(self) -> str:
        """As ksql-migrations computes it."""
        return hashlib.md5(self.file.read_bytes(), usedforsecurity=False).hexdigest()

    def __str__(self) -> str:
        return f"{self.version}: {self.name}"


@dataclass(frozen=True)
class Project:
    config_file: Path
    settings: Mapping[str, str]

    @classmethod
    def load(cls, config_file: Path) -> "Project":
        if not config_file.is_file():
            raise Failure(
                f"there is no file {config_file}.",
                "Run this in the folder of a project, or pass --config-file. "
                "`moldau sql migrate new-project` makes one.",
            )
        settings = read_properties(str(config_file))
        if not settings.get(URL):
            raise Failure(
                f"{config_file} does not say where the server is.", f"Add a line {URL}=http://HOST:PORT."
            )
        return cls(config_file, settings)

    @property
    def url(self) -> str:
        return self.settings[URL]

    @property
    def stream(self) -> str:
        return self.settings.get("ksql.migrations.stream.name", "MIGRATION_EVENTS")

    @property
    def table(self) -> str:
        return self.settings.get("ksql.migrations.table.name", "MIGRATION_SCHEMA_VERSIONS")

    def stream_topic(self, service_id: str) -> str:
        return self.settings.get("ksql.migrations.stream.topic.name") or f"{service_id}ksql_{self.stream}"

    def table_topic(self, service_id: str) -> str:
        return self.settings.get("ksql.migrations.table.topic.name") or f"{service_id}ksql_{self.table}"

    @property
    def replicas(self) -> str:
        return self.settings.get("ksql.migrations.topic.replicas", "1")

    @property
    def folder(self) -> Path:
        told = self.settings.get("ksql.migrations.dir.override")
        return Path(told) if told else self.config_file.parent / FOLDER

    def migrations(self) -> list[Migration]:
        """In the order of their versions."""
        if not self.folder.is_dir():
            raise Failure(f"there is no folder {self.folder}.", "Create it; migrations belong there.")
        found: dict[int, Migration] = {}
        for file in sorted(self.folder.glob("*.sql")):
            named = _FILE.fullmatch(file.name)
            if named is None or int(named["version"]) == 0:
                raise Failure(
                    f"{file} has a name that no migration can have.",
                    "Rename it to V000001__What_it_does.sql.",
                )
            migration = Migration(int(named["version"]), named["name"].replace("_", " "), file)
            twin = found.setdefault(migration.version, migration)
            if twin is not migration:
                raise Failure(f"{twin.file} and {file} have the same version.", "Rename one of them.")
        return [found[version] for version in sorted(found)]

    def add(self, description: str, version: int | None = None) -> Path:
        """Creates an empty migration."""
        name = description.strip().replace(" ", "_")
        if not name or _UNWRITABLE.search(name) or len(name) > NAME_CHARACTERS_MAX:
            raise Failure(
                f"'{description}' cannot be the name of a file.",
                f"Use letters, digits, spaces, '_', '-' and '.', at most {NAME_CHARACTERS_MAX}.",
            )
        known = [migration.version for migration in self.migrations()]
        version = version if version is not None else max(known, default=0) + 1
        if version in known:
            raise Failure(
                f"there is a migration with version {version}.", "Leave --version out to get the next."
            )
        file = self.folder / f"V{version:06}__{name}.sql"
        file.touch()
        return file


def new_project(folder: Path, url: str) -> Path:
    """Returns the configuration file."""
    config = folder / CONFIG_FILE
    if config.exists():
        raise Failure(f"{config} exists.", "Choose another folder.")
    try:
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        config.write_text(_CONFIG.format(url=url), encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot create {config}: {error.strerror}.") from error
    return config
