"""Keeps the driver process at what the catalog says: while this server is the host, each query runs."""

import logging
from collections.abc import Callable, Collection, Mapping
from typing import Any

from confluent_kafka.admin import AdminClient

from moldau.pipeline.driver_process.application_folder import Wanted
from moldau.pipeline.driver_process.driver_host import DriverHost, pairs
from moldau.pipeline.sql.engine import Catalog
from moldau.pipeline.sql.engine.state import Definitions
from moldau.pipeline.sql.server.hosting.application_files import ApplicationFiles
from moldau.pipeline.sql.server.hosting.leftovers import remove_leftovers
from moldau.pipeline.sql.server.hosting.query_errors import StateChanges
from moldau.pipeline.sql.server.processing_log.failure_log import FailureLog
from moldau.pipeline.sql.server.settings import Configuration

log = logging.getLogger("moldau.sql")


class QueryDriver(DriverHost):
    files: ApplicationFiles

    def __init__(
        self,
        configuration: Configuration,
        catalog: Catalog,
        admin: AdminClient,
        function_paths: Callable[[], tuple[str, ...]],
        failures_of: Callable[[str], FailureLog | None],
    ) -> None:
        super().__init__(ApplicationFiles(configuration.settings, failures_of), name="sql", log=log)
        self._configuration = configuration
        self._settings = configuration.settings
        self._catalog = catalog
        self._admin = admin
        self._function_paths = function_paths
        self._changes = StateChanges()
        self._made_of: Definitions | None = None
        self._made: Mapping[str, Wanted] = {}

    def wanted(self) -> Mapping[str, Wanted]:
        """Made again only when something is defined that was not before."""
        definitions = self._catalog.definitions
        if self._made_of is not definitions:
            self._made = self.files.wanted(self._catalog, self._function_paths())
            self._made_of = definitions
        return self._made

    def starts_alone(self) -> bool:
        return not self._settings.is_lazy

    def may_clean(self) -> bool:
        """Not if a query may be missing only because its command could not be applied here: its state must stay."""
        return not self._catalog.failures

    def removed(self, application_id: str, others: Collection[str]) -> None:
        remove_leftovers(self._admin, self.files.checkpoints, application_id, others)

    def heard(self, application_id: str) -> None:
        for query in list(self._catalog.queries.values()):
            if self._settings.application_id(query.id) == application_id:
                self._changes.heard(query, application_id, self.statuses.get(application_id))

    def order(self) -> Mapping[str, Any]:
        settings = self._settings
        client = dict(self._configuration.client)
        servers = client.pop("bootstrap.servers")
        return {
            "settings": {
                "bootstrap_servers": servers,
                "checkpoint_dir": str(self.files.checkpoints),
                "instances": settings.instances,
                "trigger_ms": settings.trigger_ms,
                "dead_letters": not settings.fails_on_bad_records,
                "dead_letter_topic": settings.dead_letter_topic,
                "on_change": "keep",
                "client_settings": client,
            },
            "spark": {"master": settings.spark_master, "conf": pairs(settings.spark_conf)},
            "warm": not settings.is_lazy,
        }
