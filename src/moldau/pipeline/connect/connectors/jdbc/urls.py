"""`connection.url`: a JDBC URL taken apart. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from moldau.core.errors import ConfigError

POSTGRESQL: Final = "postgresql"
MYSQL: Final = "mysql"
SQLITE: Final = "sqlite"

_KINDS: Final = {
    "postgresql": POSTGRESQL,
    "postgres": POSTGRESQL,
    "mysql": MYSQL,
    "mariadb": MYSQL,
    "sqlite": SQLITE,
}
_DIALECTS: Final = {POSTGRESQL: ("postgres",), MYSQL: ("mysql", "mariadb"), SQLITE: ("sqlite",)}
_PORTS: Final = {POSTGRESQL: 5432, MYSQL: 3306}
_FORMS: Final = (
    "jdbc:postgresql://host:5432/database, jdbc:mariadb://host:3306/database, jdbc:mysql://host:3306/database or "
    "jdbc:sqlite:/path/to/file"
)


@dataclass(frozen=True)
class DatabaseUrl:
    kind: str
    database: str
    """SQLite: the path of the file."""
    options: Mapping[str, str]
    host: str = ""
    port: int = 0

    @classmethod
    def parse(cls, text: str) -> "DatabaseUrl":
        """Raises ConfigError, which shows the forms."""
        scheme, _, rest = text.strip().removeprefix("jdbc:").partition(":")
        kind = _KINDS.get(scheme.lower())
        if not text.strip().startswith("jdbc:") or kind is None or not rest:
            raise ConfigError(
                f"connection.url {_shown(text)} is not the URL of a database: it takes {_FORMS}"
            )
        if kind == SQLITE:
            path, _, query = rest.partition("?")
            return cls(kind, path, dict(parse_qsl(query)))
        if not rest.startswith("//"):
            rest = f"//localhost/{rest}"
        try:
            parts = urlsplit(rest)
            port = parts.port or _PORTS[kind]
        except ValueError as wrong:
            raise ConfigError(f"connection.url {_shown(text)} cannot be read: {wrong}") from None
        if "," in parts.netloc:
            raise ConfigError(f"connection.url {_shown(text)} names several hosts: name one")
        options = dict(parse_qsl(parts.query))
        if parts.username:
            options.setdefault("user", unquote(parts.username))
        if parts.password:
            options.setdefault("password", unquote(parts.password))
        return cls(kind, unquote(parts.path.strip("/")), options, parts.hostname or "localhost", port)

    @property
    def dialect_names(self) -> tuple[str, ...]:
        """How the names of the Java connector's dialects for it begin."""
        return _DIALECTS[self.kind]

    def __str__(self) -> str:
        """For messages: without options, which may have a password."""
        if self.kind == SQLITE:
            return f"SQLite's {self.database}"
        return f"{self.kind}://{self.host}:{self.port}/{self.database}"


def _shown(text: str) -> str:
    """Without user, password and options."""
    start, _, rest = text.partition("?")[0].rpartition("@")
    return repr(rest if start else text.partition("?")[0])
