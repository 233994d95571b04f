"""The settings that source and sink share: how to reach the database, and how names and times are written there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import NON_EMPTY, one_of
from moldau.core.settings.key import Importance, integer, long, password, string, strings
from moldau.pipeline.connect.connectors.jdbc.urls import SQLITE, DatabaseUrl
from moldau.pipeline.connect.declarations import Declaration, Texts

GROUP: Final = "Database"
ISOLATIONS: Final = ("DEFAULT", "READ_UNCOMMITTED", "READ_COMMITTED", "REPEATABLE_READ", "SERIALIZABLE")

CONNECTION: Final = (
    Declaration(
        string(
            "connection.url",
            "",
            "The database as a JDBC URL: jdbc:postgresql:, jdbc:mysql:, jdbc:mariadb: or jdbc:sqlite:.",
            check=NON_EMPTY,
            importance=Importance.HIGH,
        ),
        is_required=True,
        group=GROUP,
        width="LONG",
        display_name="JDBC URL",
    ),
    Declaration(
        string("connection.user", "", "The user of the database.", importance=Importance.HIGH),
        group=GROUP,
        display_name="User",
    ),
    Declaration(
        password("connection.password", "The user's password.", importance=Importance.HIGH),
        group=GROUP,
        display_name="Password",
    ),
    Declaration(
        integer(
            "connection.attempts",
            3,
            "How often a source tries to connect before it reports that the database is away. A sink reports at once: "
            "its records are kept for it.",
            at_least=1,
            importance=Importance.LOW,
        ),
        group=GROUP,
        display_name="Attempts",
    ),
    Declaration(
        long(
            "connection.backoff.ms",
            10_000,
            "The pause between two attempts.",
            at_least=0,
            importance=Importance.LOW,
        ),
        group=GROUP,
        display_name="Pause between attempts (ms)",
    ),
    Declaration(
        string(
            "dialect.name",
            "",
            "The Java connector's name of the dialect. The URL says which database it is: another dialect is refused.",
            importance=Importance.LOW,
        ),
        group=GROUP,
        display_name="Dialect",
    ),
    Declaration(
        string(
            "db.timezone",
            "UTC",
            "The time zone of times in columns without a zone.",
            importance=Importance.MEDIUM,
        ),
        group=GROUP,
        display_name="Time zone",
    ),
    Declaration(
        string(
            "quote.sql.identifiers",
            "always",
            "Whether names of tables and columns are quoted. Without quotes the database may change their case; names "
            "that need quotes have them in any case.",
            check=one_of("always", "never", ignore_case=True),
        ),
        group=GROUP,
        display_name="Quotes",
    ),
)

TABLE_TYPES: Final = Declaration(
    strings(
        "table.types", ("TABLE",), "Which kinds of tables are used: TABLE, VIEW.", importance=Importance.LOW
    ),
    group=GROUP,
    display_name="Types of tables",
)


_STORES: Final = ("sslcert", "sslkey", "sslrootcert", "serverSslCert")
"""Options of URLs with the path of a certificate or key."""


def local_paths_of(config: Texts) -> list[tuple[str, str]]:
    """As `Connector.local_paths` answers: SQLite's file, and what a URL names. Raises ConfigError."""
    if not (text := config.get("connection.url", "")):
        return []
    url = DatabaseUrl.parse(text)
    paths = [url.options[name] for name in _STORES if name in url.options]
    if url.kind == SQLITE:
        paths.append(url.database)
    return [("connection.url", path) for path in paths]


@dataclass(frozen=True)
class ConnectionSettings:
    url: DatabaseUrl
    user: str
    password: str = field(repr=False)
    attempts: int
    backoff_ms: int
    zone: tzinfo
    is_quoted: bool
    isolation: str = ISOLATIONS[0]

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "ConnectionSettings":
        """Raises ConfigError. `values` are parsed."""
        url = DatabaseUrl.parse(values["connection.url"])
        dialect = values["dialect.name"].lower()
        if dialect and not any(dialect.startswith(name) for name in url.dialect_names):
            raise ConfigError(
                f"dialect.name={values['dialect.name']} does not fit the URL, which is one of {url.kind}: leave it out"
            )
        zone = values["db.timezone"]
        try:
            known = ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ConfigError(
                f"db.timezone={zone} is not a known time zone: name one such as Europe/Prague"
            ) from None
        return cls(
            url,
            values["connection.user"] or url.options.get("user", ""),
            values["connection.password"] or url.options.get("password", ""),
            values["connection.attempts"],
            values["connection.backoff.ms"],
            known,
            values["quote.sql.identifiers"].lower() == "always",
            values.get("transaction.isolation.mode", ISOLATIONS[0]).upper(),
        )


def connection_problems(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The name of a setting, and what is wrong with it."""
    try:
        ConnectionSettings.of(values)
    except ConfigError as wrong:
        # The messages begin with the name.
        return [(str(wrong).partition("=")[0].partition(" ")[0], str(wrong))]
    return []
