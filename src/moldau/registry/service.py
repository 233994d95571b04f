"""One instance of the registry, without HTTP: reads the topic, decides and writes, and takes part in the election.

Three threads: the reader replays, the election watches the group, the writer handles one write at a time. A write
decides, writes its facts in one transaction, and is answered when they have been read back. So the state it decides
on always includes every earlier write.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeVar

from confluent_kafka import KafkaException

from moldau.core.errors import MoldauError
from moldau.registry.decisions.associations import Associations
from moldau.registry.decisions.decision import Decision
from moldau.registry.decisions.deletion import Deletion
from moldau.registry.decisions.governance import Governance
from moldau.registry.decisions.registration import Registration
from moldau.registry.decisions.schema_parser import SchemaParser
from moldau.registry.decisions.scope import Scope
from moldau.registry.failures import NotPrimary, RegistryFailure, timed_out
from moldau.registry.log.election import Election
from moldau.registry.log.records import PrimaryFact, encode
from moldau.registry.log.schema_log import SchemaLog
from moldau.registry.log.schema_writer import SchemaWriter, WriterLost
from moldau.registry.settings import RegistrySettings
from moldau.registry.state import RegistryState

TAKEOVER_PAUSE_S: Final = 1.0
"""The wait between a failed takeover and the next attempt."""

Answer = TypeVar("Answer")
log = logging.getLogger("moldau.registry")


class Registry:
    def __init__(self, settings: RegistrySettings, client: Mapping[str, str], url: str) -> None:
        """`url` is the address other instances use for this one."""
        self.settings = settings
        self.url = url
        self.state = RegistryState()
        self.scope = Scope(
            self.state, settings.default_level, settings.validate_fields, settings.validate_new_schemas
        )
        self.parser = SchemaParser(self.state, kept_max=settings.schema_cache_size)
        self.registration = Registration(self.state, self.scope, self.parser)
        self.deletion = Deletion(self.state, self.scope)
        self.associations = Associations(self.state, self.scope)
        self.governance = Governance(self.state, self.scope, settings.mode_mutability)
        self._client = {**client, "client.id": url}
        self._log = SchemaLog(
            self._client,
            settings.topic,
            self.state.replay,
            replication_factor=settings.topic_replication_factor,
        )
        self._election = Election(
            self._client,
            settings.topic,
            settings.group_id,
            session_timeout_ms=settings.session_timeout_ms,
            heartbeat_interval_ms=settings.heartbeat_interval_ms,
            on_turn=self._turn,
        )
        self._writes = ThreadPoolExecutor(1, "registry-writer")
        self._lock = threading.Lock()
        self._writer: SchemaWriter | None = None
        self._is_elected = False
        self._takeover: Future[None] | None = None
        self._takeover_not_before = 0.0

    @property
    def cluster_id(self) -> str:
        return self._log.cluster_id

    @property
    def is_primary(self) -> bool:
        return self._writer is not None

    def start(self) -> None:
        """Returns when everything has been read. Writes may still have to wait for an election."""
        self._log.open(self.settings.init_timeout_ms / 1000)
        if self.settings.leader_eligibility:
            self._election.start()

    def stop(self) -> None:
        if self.settings.leader_eligibility:
            self._election.stop()
        self._writes.shutdown(wait=True, cancel_futures=True)
        self._log.close()

    def write(self, decide: Callable[[], Decision[Answer]]) -> "Future[Answer]":
        """Raises NotPrimary when another instance must be asked."""
        return self._writes.submit(self._write, decide)

    def wait_for_primary(self, other_than: PrimaryFact | None, timeout_s: float) -> PrimaryFact | None:
        """Returns the current writer: this instance, or the one that last announced itself. None: no new one within
        that time."""

        def found() -> PrimaryFact | None:
            if self.is_primary:
                return PrimaryFact(self.settings.group_id, self.url)
            told = self.state.primary
            # An announcement of this instance from an earlier term, or before a restart, does not count.
            is_stale = told is None or told is other_than or told.url in (None, self.url)
            return None if is_stale else told

        self._log.wait_for(lambda: found() is not None, timeout_s)
        return found()

    def _write(self, decide: Callable[[], Decision[Answer]]) -> Answer:
        writer = self._writer
        if writer is None:
            raise NotPrimary("this instance is not the primary")
        decision = decide()
        if not decision.facts:
            return decision.answer
        try:
            offset = writer.write([encode(fact) for fact in decision.facts])
        except WriterLost as lost:
            self._step_down(str(lost))
            raise timed_out(
                f"The write was interrupted: {lost}. It may or may not have been committed; try again."
            ) from lost
        try:
            self._log.wait_until(offset, self.settings.timeout_ms / 1000)
        except RegistryFailure as failure:
            # The next decision would miss this write; a takeover reads it back first.
            self._step_down(failure.message)
            raise
        return decision.answer

    def _turn(self, is_elected: bool) -> None:
        """Called often by the election's thread."""
        with self._lock:
            self._is_elected = is_elected
            if not is_elected:
                self._release_writer("another instance was elected, or none is")
            elif self._writer is None and self._may_take_over():
                self._takeover = self._writes.submit(self._take_over)

    def _may_take_over(self) -> bool:
        pending = self._takeover is not None and not self._takeover.done()
        return not pending and time.monotonic() >= self._takeover_not_before

    def _take_over(self) -> None:
        """Fences the others first, then writes its own record: once that is read back, so is everything before it."""
        timeout_s = self.settings.timeout_ms / 1000
        try:
            writer = SchemaWriter(
                self._client,
                self.settings.topic,
                f"{self.settings.group_id}-{self.settings.topic}",
                timeout_s=timeout_s,
                message_bytes_max=self.settings.message_bytes_max,
            )
            offset = writer.write([encode(PrimaryFact(self.settings.group_id, self.url))])
            self._log.wait_until(offset, timeout_s)
        except (MoldauError, KafkaException) as error:
            # Retried while elected; until it succeeds nothing is written.
            log.warning("cannot become the primary yet: %s", error)
            self._takeover_not_before = time.monotonic() + TAKEOVER_PAUSE_S
            return
        with self._lock:
            if self._is_elected:
                self._writer = writer
                log.info("this instance is the primary: %s", self.url)
        self._log.wake()

    def _step_down(self, reason: str) -> None:
        with self._lock:
            self._release_writer(reason)
            self._takeover_not_before = time.monotonic() + TAKEOVER_PAUSE_S

    def _release_writer(self, reason: str) -> None:
        if self._writer is not None:
            self._writer = None
            log.info("this instance is no longer the primary: %s", reason)
