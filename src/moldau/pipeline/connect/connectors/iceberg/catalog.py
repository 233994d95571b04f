"""The catalog that the settings name, and its failures as those of connectors. Imports pyiceberg."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pyarrow as pa
from pyiceberg import exceptions
from pyiceberg.catalog import Catalog, load_catalog
from requests import exceptions as http
from sqlalchemy import exc as sql

from moldau.pipeline.connect.api import ConnectError, RetriableError
from moldau.pipeline.connect.connectors.iceberg.settings import catalog_properties
from moldau.pipeline.connect.declarations import Texts

_RETRIABLE: Final = (
    exceptions.CommitFailedException,
    exceptions.CommitStateUnknownException,
    exceptions.ServiceUnavailableError,
    exceptions.ServerError,
    exceptions.TooManyRequestsError,
    exceptions.AuthorizationExpiredError,
    exceptions.WaitingForLockException,
    sql.OperationalError,
    http.ConnectionError,
    http.Timeout,
    OSError,
)
_OTHERS: Final = (
    exceptions.RESTError,
    exceptions.NoSuchTableError,
    exceptions.NoSuchNamespaceError,
    exceptions.NotInstalledError,
    exceptions.ResolveError,
    exceptions.ValidationError,
    sql.SQLAlchemyError,
    http.RequestException,
    pa.ArrowException,
    ModuleNotFoundError,
    ValueError,
)


def open_catalog(name: str, config: Texts) -> Catalog:
    """Raises ConnectError, RetriableError if it cannot be reached."""
    with failures(f"The catalog {name}"):
        return load_catalog(name, **catalog_properties(config))


@contextmanager
def failures(of: str) -> Iterator[None]:
    """What catalogs and storages raise, as connectors do. `of` is what was asked for."""
    try:
        yield
    except _RETRIABLE as failure:
        raise RetriableError(f"{of} cannot be used now: {_text(failure)}. It is tried again") from failure
    except _OTHERS as failure:
        raise ConnectError(f"{of} cannot be used: {_text(failure)}") from failure


def _text(failure: Exception) -> str:
    lines = str(failure).strip().splitlines()
    return lines[0] if lines else type(failure).__name__
