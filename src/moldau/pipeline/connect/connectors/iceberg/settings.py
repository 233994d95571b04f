"""The settings of the Iceberg connectors, under the names of Iceberg's own sink for Kafka Connect."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import one_of
from moldau.core.settings.key import Importance, boolean, integer, long, string, strings
from moldau.pipeline.connect.api import ANY_PATH
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.validation import shown
from moldau.pipeline.connect.declarations import Declaration, Texts, open_declarations

CATALOG_PREFIX: Final = "iceberg.catalog."
CREATE_PREFIX: Final = "iceberg.tables.auto-create-props."
TABLE_PREFIX: Final = "iceberg.table."
ROUTE_REGEX: Final = ".route-regex"
PARTITION_BY: Final = ".partition-by"
_HIGH: Final = Importance.HIGH
_LOW: Final = Importance.LOW
_CATALOGS: Final = ("rest", "sql", "jdbc", "hive", "glue")
_REMOTE: Final = ("http", "https", "thrift", "postgresql", "mysql", "mariadb")
"""What the addresses of catalogs that are on no disk of the machine begin with."""
_STORES: Final = ("s3", "s3a", "s3n", "gs", "gcs", "abfs", "abfss", "wasb", "wasbs", "hdfs", "oss")
"""What the addresses of warehouses that are on no disk of the machine begin with."""
NAME_BYTES_MAX: Final = 240
"""Of a table that a record names: catalogs and folders do not take longer ones."""
_NOT_IN_ROUTE: Final = re.compile(r"[/\\\s\x00-\x1f\x7f]")
_NOT_A_NAME: Final = re.compile(r"[^0-9A-Za-z_]")

CATALOG: Final = (
    Declaration(
        string("iceberg.catalog", "iceberg", "The name of the catalog."),
        group="Catalog",
        display_name="Catalog",
    ),
    Declaration(
        string(
            "iceberg.catalog.type",
            "",
            "The kind of catalog: rest, sql, hive or glue. All settings that begin with iceberg.catalog. are those of "
            "pyiceberg's catalogs, without the prefix.",
            importance=_HIGH,
        ),
        is_required=True,
        group="Catalog",
        display_name="Kind of catalog",
        recommends=lambda _: ["rest", "sql", "hive", "glue"],
    ),
    Declaration(
        string(
            "iceberg.catalog.uri",
            "",
            "The address of the catalog, such as http://catalog:8181, thrift://metastore:9083 or "
            "postgresql+psycopg://user@host/catalog.",
            importance=_HIGH,
        ),
        group="Catalog",
        display_name="Address",
    ),
    Declaration(
        string(
            "iceberg.catalog.warehouse",
            "",
            "The folder or bucket of new tables, such as s3://bucket/warehouse or file:///data/warehouse.",
            importance=_HIGH,
        ),
        group="Catalog",
        display_name="Warehouse",
    ),
)

SINK: Final = (
    *CATALOG,
    Declaration(
        strings(
            "iceberg.tables",
            (),
            "The tables to write to, as namespace.table. Empty: one for each topic, in iceberg.namespace.",
        ),
        group="Tables",
        display_name="Tables",
    ),
    Declaration(
        string("iceberg.namespace", "default", "The namespace of tables that are named after topics."),
        group="Tables",
        display_name="Namespace",
    ),
    Declaration(
        string(
            "iceberg.tables.route-field",
            "",
            "A field of the value that decides about the table: see iceberg.tables.dynamic-enabled. Otherwise a record "
            "goes to each table whose iceberg.table.NAME.route-regex matches the field.",
        ),
        group="Tables",
        display_name="Route field",
    ),
    Declaration(
        boolean(
            "iceberg.tables.dynamic-enabled",
            False,
            "The route field has the name of the table. A record without it, or with null in it, is left out.",
        ),
        group="Tables",
        display_name="Dynamic tables",
    ),
    Declaration(
        boolean("iceberg.tables.auto-create-enabled", True, "Tables that do not exist are created."),
        group="Tables",
        display_name="Create tables",
    ),
    Declaration(
        boolean(
            "iceberg.tables.evolve-schema-enabled",
            True,
            "New fields become columns, wider types change the column's, and a column becomes optional when "
            "records lack it. Otherwise fields without a column are left out.",
        ),
        group="Tables",
        display_name="Evolve schemas",
    ),
    Declaration(
        boolean(
            "iceberg.tables.schema-force-optional",
            False,
            "All columns of a new table allow null, also where the schema of records does not.",
            importance=_LOW,
        ),
        group="Tables",
        display_name="All optional",
    ),
    Declaration(
        strings(
            "iceberg.tables.default-partition-by",
            (),
            "How new tables are partitioned: names of columns, or year(c), month(c), day(c), hour(c), bucket(c, 16), "
            "truncate(c, 8). iceberg.table.NAME.partition-by is for one table.",
        ),
        group="Tables",
        display_name="Partition by",
    ),
    Declaration(
        long(
            "iceberg.control.commit.interval-ms",
            60_000,
            "How often a snapshot with the new records is committed. Each snapshot has its own files: a short interval "
            "makes many small ones.",
            at_least=0,
            importance=_HIGH,
        ),
        group="Commits",
        display_name="Commit interval (ms)",
    ),
    Declaration(
        integer(
            "iceberg.write.buffer-bytes",
            128 << 20,
            "The memory that a task may fill before it commits without waiting for the interval.",
            at_least=1 << 20,
            importance=_LOW,
        ),
        group="Commits",
        display_name="Buffer (bytes)",
    ),
)

SOURCE: Final = (
    *CATALOG,
    Declaration(
        strings("iceberg.tables", None, "The tables to read, as namespace.table.", importance=_HIGH),
        is_required=True,
        group="Tables",
        display_name="Tables",
    ),
    Declaration(
        string("topic", "", "The topic to write to. Empty: the name of the table behind topic.prefix."),
        group="Topics",
        display_name="Topic",
    ),
    Declaration(
        string("topic.prefix", "", "What topics begin with that are named after tables."),
        group="Topics",
        display_name="Prefix of topics",
    ),
    Declaration(
        string(
            "start.from",
            "earliest",
            "Where a table without offsets begins: earliest has all its rows, latest those of later snapshots.",
            check=one_of("earliest", "latest"),
        ),
        group="Reading",
        display_name="Start from",
    ),
    Declaration(
        string(
            "behavior.on.rewrite",
            "fail",
            "What to do with a snapshot that deletes or overwrites rows, which a topic of added rows cannot express: "
            "fail, or ignore it with what it adds. Compaction changes no rows and is always passed over.",
            check=one_of("fail", "ignore"),
        ),
        group="Reading",
        display_name="Rewritten rows",
    ),
    Declaration(
        integer("record.batch.max.size", 1_000, "The largest number of records in one poll.", at_least=1),
        group="Reading",
        display_name="Records in a poll",
    ),
    Declaration(
        long("poll.interval.ms", 10_000, "How often the catalog is asked for new snapshots.", at_least=1),
        group="Reading",
        display_name="Interval (ms)",
    ),
)


def of_catalog(config: Texts) -> list[Declaration]:
    """Those that are passed on."""
    return open_declarations(
        config, lambda name: name.startswith(CATALOG_PREFIX), "A setting of pyiceberg's catalog."
    )


def of_tables(config: Texts) -> list[Declaration]:
    """Of single tables, with the name of the table in them, and of all new ones."""
    return [
        *open_declarations(
            config,
            lambda name: name.startswith(TABLE_PREFIX) and name.endswith((ROUTE_REGEX, PARTITION_BY)),
            "Of one table: a regular expression for the route field, or how the table is partitioned when it is made.",
        ),
        *open_declarations(config, lambda name: name.startswith(CREATE_PREFIX), "A property of new tables."),
    ]


def catalog_properties(config: Texts) -> dict[str, str]:
    """What pyiceberg takes."""
    properties = {
        name.removeprefix(CATALOG_PREFIX): text
        for name, text in config.items()
        if name.startswith(CATALOG_PREFIX) and text
    }
    if properties.get("type") == "jdbc":
        properties["type"] = "sql"
    return properties


def local_paths_of(config: Texts) -> list[tuple[str, str]]:
    """As `Connector.local_paths` answers. A catalog that is asked over the network says where its tables are."""
    kind = config.get(f"{CATALOG_PREFIX}type", "").strip()
    found = []
    for name, given in config.items():
        if not name.startswith("iceberg.") or not (text := given.strip()):
            continue
        scheme = text.partition(":")[0].lower() if ":" in text else ""
        own_name = name.removeprefix(CATALOG_PREFIX)
        if own_name == "type":
            is_local = text not in _CATALOGS
        elif own_name == "uri":
            # Options of a database's address may name files.
            is_local = scheme.partition("+")[0] not in _REMOTE or (
                "?" in text and not scheme.startswith("http")
            )
        elif own_name == "warehouse":
            # Catalogs of REST have names for them.
            is_local = scheme not in _STORES and (bool(scheme) or kind != "rest" or text.startswith("/"))
        elif name.endswith(("path", "location", "dir")):
            is_local = scheme not in _STORES
        else:
            is_local = own_name.startswith("py-") or scheme == "file" or text.startswith("/")
        if is_local:
            found.append((name, text if text.startswith("/") else ANY_PATH))
    return found


@dataclass(frozen=True, slots=True)
class TableSettings:
    """How tables are made and changed."""

    creates: bool
    evolves: bool
    forces_optional: bool
    partition_by: Sequence[str]
    partition_by_table: Mapping[str, Sequence[str]]
    properties: Mapping[str, str]

    @classmethod
    def of(cls, values: Mapping[str, Any], config: Texts) -> "TableSettings":
        by_table = {
            name.removeprefix(TABLE_PREFIX).removesuffix(PARTITION_BY): _split_terms(text)
            for name, text in config.items()
            if name.startswith(TABLE_PREFIX) and name.endswith(PARTITION_BY)
        }
        return cls(
            creates=values["iceberg.tables.auto-create-enabled"],
            evolves=values["iceberg.tables.evolve-schema-enabled"],
            forces_optional=values["iceberg.tables.schema-force-optional"],
            partition_by=_split_terms(",".join(values["iceberg.tables.default-partition-by"])),
            partition_by_table=by_table,
            properties={
                name.removeprefix(CREATE_PREFIX): text
                for name, text in config.items()
                if name.startswith(CREATE_PREFIX)
            },
        )


def _split_terms(text: str) -> list[str]:
    """At commas outside of parentheses."""
    return [one.strip() for one in re.split(r",(?![^(]*\))", text) if one.strip()]


@dataclass(frozen=True, slots=True)
class Routes:
    """Which tables a record belongs to."""

    tables: Sequence[str]
    namespace: str
    field: str
    is_dynamic: bool
    regexes: Mapping[str, re.Pattern[str]]

    @classmethod
    def of(cls, values: Mapping[str, Any], config: Texts) -> "Routes":
        """Raises ConfigError for settings that do not fit together."""
        tables, field = values["iceberg.tables"], values["iceberg.tables.route-field"]
        is_dynamic = values["iceberg.tables.dynamic-enabled"]
        if is_dynamic and not field:
            raise ConfigError(
                "iceberg.tables.dynamic-enabled needs iceberg.tables.route-field: name the field with the table's name"
            )
        for one in tables:
            check_table_name(one)
        regexes = {}
        for one in tables:
            text = config.get(f"{TABLE_PREFIX}{one}{ROUTE_REGEX}")
            if text is not None:
                try:
                    regexes[one] = re.compile(text)
                except re.error as wrong:
                    name = f"{TABLE_PREFIX}{one}{ROUTE_REGEX}"
                    raise ConfigError(f"Invalid value {text} for configuration {name}: {wrong}") from None
        return cls(tables, values["iceberg.namespace"], field, is_dynamic, regexes)

    def tables_of(self, topic: str, route: Any) -> Sequence[str]:
        """`route` is the value of the route field. Raises DataError if it should name a table and does not."""
        if self.is_dynamic:
            return [] if route is None else [self._named(route)]
        if self.field and self.tables:
            matches = self.regexes
            return [
                one
                for one in self.tables
                if route is not None and one in matches and matches[one].fullmatch(str(route))
            ]
        return self.tables or [f"{self.namespace}.{_NOT_A_NAME.sub('_', topic)}"]

    def _named(self, route: Any) -> str:
        name = route.lower() if isinstance(route, str) else ""
        if not _is_table_name(name) or _NOT_IN_ROUTE.search(name) or len(name.encode()) > NAME_BYTES_MAX:
            raise DataError(
                f"the field {self.field} is {shown(route)}, and with iceberg.tables.dynamic-enabled=true it names the "
                f"table, as namespace.table without slashes, in at most {NAME_BYTES_MAX} bytes"
            )
        return name


def _is_table_name(name: str) -> bool:
    return "." in name and all(name.split("."))


def check_table_name(name: str) -> None:
    if not _is_table_name(name):
        raise ConfigError(
            f"Invalid value {name} for configuration iceberg.tables: it takes namespace.table, such as shop.orders"
        )
