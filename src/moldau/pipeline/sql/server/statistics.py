"""How persistent queries run, from the driver's status lines, and what else only a running server knows of answers."""

import logging
import time
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from moldau.pipeline.driver_process.process import Status
from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.sql.engine import Catalog, PersistentQuery, QueryState
from moldau.pipeline.sql.engine import answers as engine
from moldau.pipeline.sql.engine.answers import Answer
from moldau.pipeline.sql.server.groups import committed, members_of
from moldau.pipeline.sql.server.hosting.membership import Membership
from moldau.pipeline.sql.server.hosting.query_driver import QueryDriver
from moldau.pipeline.sql.server.hosting.query_errors import NOT_WELL, in_sql
from moldau.pipeline.sql.server.requests import (
    PartitionOffsets,
    QueryError,
    QueryOffsets,
    QueryRuntime,
    Runtime,
    SourceStatistics,
    TopicConsumers,
    TopicOffsets,
)
from moldau.pipeline.sql.server.settings import ServerSettings
from moldau.pipeline.sql.server.transient import TransientQueries

ANSWER_S_MAX: Final = 10.0

log = logging.getLogger("moldau.sql")


class Statistics:
    def __init__(
        self,
        settings: ServerSettings,
        catalog: Catalog,
        admin: AdminClient,
        client: Mapping[str, str],
        driver: QueryDriver,
        membership: Membership,
        transient: TransientQueries,
    ) -> None:
        self._settings = settings
        self._catalog = catalog
        self._admin = admin
        self._client = client
        self._driver = driver
        self._membership = membership
        self._transient = transient

    def query_runtimes(self) -> dict[str, QueryRuntime]:
        host = next((one.host for one in self._membership.hosts() if one.hosts_queries), "")
        return {query.id: self._runtime(query, host) for query in list(self._catalog.queries.values())}

    def runtime_of(self, answer: Answer) -> Runtime:
        """Of all queries that the answer names. Asks the brokers for extended answers only."""
        match answer:
            case engine.SourceDescription():
                return self._of_sources([answer])
            case engine.SourceDescriptions(descriptions=descriptions):
                return self._of_sources(descriptions)
            case engine.QueriesList():
                return Runtime(self.query_runtimes(), self._transient.running())
            case engine.Explanation(query=query) if query is not None:
                return Runtime(self.query_runtimes())
            case engine.TopicsList(is_extended=True):
                return Runtime(topics=self._consumers())
        return Runtime()

    def _of_sources(self, descriptions: Iterable[engine.SourceDescription]) -> Runtime:
        runtimes = self.query_runtimes()
        sources = {
            one.source.name: self._source_statistics(one, runtimes) for one in descriptions if one.is_extended
        }
        return Runtime(runtimes, sources=sources)

    def _runtime(self, query: PersistentQuery, host: str) -> QueryRuntime:
        name = self._settings.application_id(query.id)
        status = self._driver.statuses.get(name)
        is_paused = query.state is QueryState.PAUSED
        if not self._membership.is_host:
            return QueryRuntime(query.id, "PAUSED" if is_paused else "RUNNING", host)
        if status is None:
            return self._not_there(query, name, host)
        state: Literal["RUNNING", "PAUSED", "ERROR"] = "PAUSED" if is_paused else "RUNNING"
        if status["state"] in NOT_WELL:
            state = "ERROR"
        last_error = in_sql(str(status.get("last_error") or ""), query, name)
        return QueryRuntime(
            query.id,
            state,
            host,
            _errors(last_error),
            _detail(status, last_error),
            status["records_in"],
            status["records_out"],
            status["records_in_per_s"],
            status["records_out_per_s"],
            status["lag_records"],
            status["lag_ms"],
            status["restarts"],
            status["records_dead"],
            status["batch_ms"] if status["batches"] else None,
        )

    def _not_there(self, query: PersistentQuery, name: str, host: str) -> QueryRuntime:
        """The driver does not have it: it is starting, or has refused it."""
        refusal = self._driver.refusal(name) or self._driver.problem
        if refusal:
            refusal = in_sql(refusal, query, name)
            error = QueryError(int(time.time() * 1000), refusal, "SYSTEM")
            return QueryRuntime(query.id, "ERROR", host, (error,), refusal)
        state: Literal["RUNNING", "PAUSED"] = "PAUSED" if query.state is QueryState.PAUSED else "RUNNING"
        return QueryRuntime(query.id, state, host, detail="Spark is starting")

    def _source_statistics(
        self, one: engine.SourceDescription, runtimes: Mapping[str, QueryRuntime]
    ) -> SourceStatistics:
        writers = [runtimes[query.id] for query in one.write_queries if query.id in runtimes]
        readers = [runtimes[query.id] for query in one.read_queries if query.id in runtimes]
        if writers:
            messages = sum(query.records_out for query in writers)
            rate = sum(query.records_out_per_s for query in writers)
        else:
            messages = sum(query.records_in for query in readers)
            rate = sum(query.records_in_per_s for query in readers)
        failed = sum(query.failed_records for query in writers or readers)
        offsets = [self._offsets(query) for query in one.write_queries]
        known = tuple(found for found in offsets if found is not None)
        errors = tuple((query.id, each.message) for query in (*writers, *readers) for each in query.errors)
        return SourceStatistics(messages, rate, failed, offsets=known, query_errors=errors)

    def _offsets(self, query: PersistentQuery) -> QueryOffsets | None:
        group = self._settings.application_id(query.id)
        try:
            return QueryOffsets(
                query.id, group, self._topic_offsets(group, [one.topic for one in query.inputs])
            )
        except (KafkaException, TimeoutError) as error:
            log.warning("the offsets of %s are not known: %s", group, error)
            return None

    def _topic_offsets(self, group: str, topics: Iterable[str]) -> tuple[TopicOffsets, ...]:
        known = self._admin.list_topics(timeout=ANSWER_S_MAX).topics
        places = [
            (topic, partition) for topic in topics if topic in known for partition in known[topic].partitions
        ]
        reached = committed(self._client, group, places)
        starts = self._listed(places, OffsetSpec.earliest())
        ends = self._listed(places, OffsetSpec.latest())
        found: dict[str, list[PartitionOffsets]] = {}
        for topic, partition in places:
            place = (topic, partition)
            start = starts.get(place, 0)
            offsets = PartitionOffsets(partition, start, ends.get(place, 0), reached.get(place, start))
            found.setdefault(topic, []).append(offsets)
        return tuple(TopicOffsets(topic, tuple(partitions)) for topic, partitions in found.items())

    def _listed(self, places: Iterable[tuple[str, int]], spec: OffsetSpec) -> dict[tuple[str, int], int]:
        asked = {TopicPartition(topic, partition): spec for topic, partition in places}
        if not asked:
            return {}
        answers = self._admin.list_offsets(asked, request_timeout=ANSWER_S_MAX)
        found = {}
        for place, future in answers.items():
            try:
                found[place.topic, place.partition] = future.result(ANSWER_S_MAX).offset
            except KafkaException as gone:
                log.debug("%s-%d: %s", place.topic, place.partition, gone)
        return found

    def _consumers(self) -> dict[str, TopicConsumers]:
        """Members and groups that read each topic."""
        try:
            groups = members_of(self._admin)
        except KafkaException as error:
            log.warning("the consumers of topics are not known: %s", error)
            return {}
        found: dict[str, TopicConsumers] = {}
        for members in groups.values():
            for topic in frozenset[str]().union(*(member.topics for member in members)):
                before = found.get(topic, TopicConsumers())
                count = sum(topic in member.topics for member in members)
                found[topic] = TopicConsumers(before.consumers + count, before.groups + 1)
        return found


def _errors(message: str) -> tuple[QueryError, ...]:
    return (QueryError(int(time.time() * 1000), message, "UNKNOWN"),) if message else ()


def _detail(status: Status, last_error: str) -> str:
    match status["state"]:
        case PipelineState.CREATED | PipelineState.STARTING:
            return "the query is starting"
        case PipelineState.RESTARTING:
            return f"the query has failed and is started again: {last_error}"
        case PipelineState.FAILED:
            return f"the query cannot run: {last_error}"
    return ""
