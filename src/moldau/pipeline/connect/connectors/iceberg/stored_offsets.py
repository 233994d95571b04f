"""The offsets that tables have of a connector, looked up to alter its offsets. Imports pyiceberg."""

from collections.abc import Iterable, Iterator, Mapping

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

from moldau.pipeline.connect.api import ConnectError, TopicPartition
from moldau.pipeline.connect.connectors.iceberg.commits import Ends, ends_in, property_of
from moldau.pipeline.connect.connectors.iceberg.settings import Routes
from moldau.pipeline.connect.connectors.iceberg.table_writer import summaries


def require_effect(
    catalog: Catalog,
    routes: Routes,
    connector: str,
    offsets: Mapping[TopicPartition, int | None],
    *,
    is_reset: bool,
) -> None:
    """Raises ConnectError if a table has records from the new offsets on: it would leave them out."""
    for name in _tables(catalog, routes):
        for place, end in sorted(_ends(catalog, name, connector).items()):
            wanted = 0 if is_reset else offsets.get(place, end)
            if (wanted or 0) < end:
                raise ConnectError(
                    f"The table {name} has the records of {place.topic}-{place.partition} up to offset {end}, and "
                    f"leaves out those of the connector {connector} below: it would not write them again. Give offset "
                    f"{end}, or a higher one. To write all again, drop the table first, or create the connector under "
                    "another name"
                )


def _tables(catalog: Catalog, routes: Routes) -> Iterator[str]:
    """Those that the connector may have written to."""
    if routes.tables and not routes.is_dynamic:
        yield from routes.tables
        return
    namespaces: Iterable[tuple[str, ...]] = [tuple(routes.namespace.split("."))]
    if routes.is_dynamic:
        namespaces = catalog.list_namespaces()
    for namespace in namespaces:
        try:
            found = catalog.list_tables(namespace)
        except NoSuchNamespaceError:
            continue
        yield from (".".join(one) for one in found)


def _ends(catalog: Catalog, name: str, connector: str) -> Ends:
    try:
        table = catalog.load_table(name)
    except NoSuchTableError:
        return {}
    return ends_in(summaries(table), table.metadata.properties, property_of(connector))
