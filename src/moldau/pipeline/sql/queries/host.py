"""QueryHost: all transient queries of a process, and what they share."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from moldau.pipeline.sql.queries.following import Following
from moldau.pipeline.sql.queries.inserts import Inserts
from moldau.pipeline.sql.queries.messages import Place
from moldau.pipeline.sql.queries.own_threads import TELL_AFTER_S, OwnThreads
from moldau.pipeline.sql.queries.prepared import Definitions, Prepared, PullSettings, QueryKind
from moldau.pipeline.sql.queries.preparing import parsed_query, prepared
from moldau.pipeline.sql.queries.printing import LINE, Printing
from moldau.pipeline.sql.queries.pull import answer_rows, hand_over
from moldau.pipeline.sql.queries.reader import Reader
from moldau.pipeline.sql.queries.row_stream import COMPLETE, End, EndReason, RowStream
from moldau.pipeline.sql.queries.straight_run import run_of
from moldau.pipeline.sql.queries.tables import Tables
from moldau.pipeline.sql.queries.topics import Topics
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.tree.relations import Query
from moldau.pipeline.sql.syntax.tree.statements import Print
from moldau.pipeline.sql.translation.row import OnFailure, log_failure

PREPARED_MAX: Final = 1_000
OWN_THREADS_MAX: Final = 100


class QueryHost:
    """`client_settings` are librdkafka's, as for pipelines: with the prefix `consumer.` or `producer.` for one kind of
    client. `registry_url` is for PRINT; formats of sources carry their own. `on_failure` is told of records and
    expressions that fail: the processing log. `own_threads_max`: how many queries may call functions of the user."""

    def __init__(
        self,
        bootstrap_servers: str,
        client_settings: Mapping[str, str] | None = None,
        *,
        registry_url: str | None = None,
        on_failure: OnFailure = log_failure,
        own_threads_max: int = OWN_THREADS_MAX,
        tell_after_s: float = TELL_AFTER_S,
    ) -> None:
        settings = client_settings or {}
        self._on_failure = on_failure
        self._registry_url = registry_url
        self.tables = Tables(bootstrap_servers, settings, on_failure)
        self.inserts = Inserts(bootstrap_servers, settings)
        self._topics = Topics(bootstrap_servers, settings)
        self._following = Following(bootstrap_servers, settings)
        self.own_threads = OwnThreads(
            bootstrap_servers, settings, threads_max=own_threads_max, tell_after_s=tell_after_s
        )
        self._scans = ThreadPoolExecutor(2, thread_name_prefix="sql-scan")
        self._prepared: OrderedDict[Any, Prepared] = OrderedDict()
        self._lock = threading.Lock()
        self._streams: set[RowStream] = set()
        self._is_closed = False

    def prepare(
        self,
        text: str,
        definitions: Definitions,
        settings: PullSettings = PullSettings(),  # noqa: B008
        query: Query | None = None,
    ) -> Prepared:
        """Of the text of one SELECT, by itself, with or without a semicolon. Remembers what it has prepared, by text,
        settings and the definitions' version, so that an unchanged statement costs microseconds. `query`: the parsed
        text, where the caller has it. SqlError: the query has no meaning, or is not possible as a pull query."""
        known = (text, None if query is None else query.emit, settings, definitions.version)
        with self._lock:
            found = self._prepared.get(known)
            if found is not None:
                self._prepared.move_to_end(known)
                return found
        try:
            made = prepared(query or parsed_query(text), definitions, settings, self._on_failure)
        except SqlError as wrong:
            raise wrong.within(text) from None
        with self._lock:
            self._prepared[known] = made
            while len(self._prepared) > PREPARED_MAX:
                self._prepared.popitem(last=False)
        return made

    def start(
        self,
        prepared: Prepared,
        *,
        offset_reset: str | None = None,
        query_id: str = "",
        settings: PullSettings = PullSettings(),  # noqa: B008
        counts_tombstones: bool = True,
    ) -> RowStream:
        """Returns when the query runs: a push query from `latest` gives all that is written from then on. Asks brokers,
        or waits for a table, so call it in a thread unless `is_immediate`. `offset_reset` is `auto.offset.reset` if the
        user has set it: None is ksqlDB's default, streams from the latest and tables from the earliest. SqlError or
        TableNotReady where it cannot start. `counts_tombstones`: whether LIMIT counts them, as they are shown."""
        stream = RowStream(
            prepared.columns,
            query_id=query_id,
            limit=prepared.plan.limit,
            counts_tombstones=counts_tombstones,
        )
        if prepared.plan.limit == 0:
            stream.finish(End(EndReason.LIMIT))
            return stream
        match prepared.kind:
            case QueryKind.PULL_TABLE:
                self._answer(prepared, stream, settings)
            case QueryKind.PULL_STREAM:
                self._run(prepared, stream, "earliest")
            case QueryKind.PUSH:
                self._run(prepared, stream, offset_reset)
        return stream

    def is_immediate(self, prepared: Prepared) -> bool:
        """Whether `start` takes microseconds: a lookup by key in a table that is loaded."""
        lookup = prepared.lookup
        if prepared.calls_user:
            return False
        return lookup is not None and lookup.keys is not None and self.tables.is_ready(prepared.table.name)

    def print_topic(self, statement: Print) -> RowStream:
        """PRINT. The rows are lines: each has one column, the text. Asks brokers, so call it in a thread."""
        if statement.interval < 1:
            raise SqlError(f"INTERVAL is at least 1, not {statement.interval}", statement.at)
        stream = RowStream((LINE,))
        if statement.limit == 0:
            stream.finish(End(EndReason.LIMIT))
            return stream
        places = self._topics.places([statement.topic])
        positions = dict.fromkeys(places, 0) if statement.from_beginning else self._topics.ends(places)
        printing = Printing(statement, stream, self._registry_url)
        self._keep(stream)
        self._following.start(Reader(stream, printing.take, positions), from_end=not statement.from_beginning)
        return stream

    def close(self) -> None:
        """Ends all queries, and waits until their threads have ended."""
        with self._lock:
            self._is_closed = True
            streams = list(self._streams)
        for stream in streams:
            stream.close()
        self._following.close()
        self.own_threads.close()
        self._scans.shutdown()
        self.tables.close()
        self.inserts.close()

    def _answer(self, prepared: Prepared, stream: RowStream, settings: PullSettings) -> None:
        assert prepared.lookup is not None
        content = self.tables.content(prepared.table, settings.wait_s_max)
        rows = answer_rows(content, prepared.lookup)
        if prepared.calls_user:
            self._keep(stream)
            self.own_threads.hand_over(stream, rows)
            return
        if prepared.lookup.keys is None:
            hand_over(stream, rows, self._scans)
            return
        stream.offer(rows)
        stream.finish(COMPLETE)

    def _run(self, prepared: Prepared, stream: RowStream, offset_reset: str | None) -> None:
        """Reads the topics of a query and gives its rows."""
        if offset_reset not in ("earliest", "latest", None):
            hint = "It is earliest or latest."
            raise SqlError(f"auto.offset.reset cannot be {offset_reset}", hint=hint)
        inputs = [one.source for one in prepared.plan.inputs]
        tables = {source.topic for source in inputs if source.is_table}
        topics = {source.topic for source in inputs}
        from_start = {"earliest": topics, "latest": set(), None: tables}[offset_reset]
        places = self._topics.places(topics)
        is_pull = prepared.is_pull
        ends = self._topics.ends(places if is_pull else [one for one in places if one[0] not in from_start])
        positions: dict[Place, int] = {
            place: 0 if place[0] in from_start else ends[place] for place in places
        }
        run = run_of(prepared.plan, self._on_failure)
        first = tables if from_start == tables != topics else ()
        reader = Reader(
            stream,
            self.own_threads.watched(stream, run.take) if prepared.calls_user else run.take,
            positions,
            first_topics=first,
            stops=ends if is_pull else None,
            is_ordered=run.is_stateful,
        )
        self._keep(stream)
        if prepared.calls_user:
            self.own_threads.follow(reader)
        else:
            self._following.start(reader, from_end=not from_start)

    def _keep(self, stream: RowStream) -> None:
        with self._lock:
            if self._is_closed:
                raise SqlError("the server is stopping, so no query starts", hint="Ask another server.")
            self._streams = {one for one in self._streams if one.end is None}
            self._streams.add(stream)
