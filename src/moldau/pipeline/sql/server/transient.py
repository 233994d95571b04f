"""Push and pull queries of this server: how many may run, and which do."""

import asyncio
import itertools
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine import Catalog, Session
from moldau.pipeline.sql.engine.protected_topics import check_source_usable, check_usable
from moldau.pipeline.sql.queries import QueryHost, RowStream, TableNotReady
from moldau.pipeline.sql.queries.prepared import SCAN_SETTING, PullSettings
from moldau.pipeline.sql.server.failures import (
    BAD_REQUEST,
    NOT_READY,
    TOO_MANY_PUSH_QUERIES,
    TOO_MANY_REQUESTS,
    ServiceFailure,
    bad_statement,
)
from moldau.pipeline.sql.server.requests import StartedQuery, StatementRequest, TransientQuery
from moldau.pipeline.sql.server.settings import ServerSettings
from moldau.pipeline.sql.server.statement_texts import single
from moldau.pipeline.sql.server.user_functions import UserFunctions
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.parser import Parsed
from moldau.pipeline.sql.syntax.tree import statements as tree
from moldau.pipeline.sql.syntax.tree.relations import Emit, Query
from moldau.pipeline.sql.types import SqlType

OFFSET_RESET: Final = ("auto.offset.reset", "ksql.streams.auto.offset.reset")
LONG_TEXT: Final = 20_000
"""A longer one is parsed in a thread, so that the event loop does not wait for it."""
TEXTS_MAX: Final = 1_000
"""How many texts are kept as parsed. Clients send the same ones again and again."""


@dataclass(frozen=True, slots=True)
class CatalogView:
    """The catalog as transient queries want it."""

    catalog: Catalog
    user_functions: UserFunctions

    @property
    def version(self) -> int:
        return self.catalog.next_offset + (self.user_functions.generation << 40)

    @property
    def sources(self) -> Mapping[str, SourceInfo]:
        return self.catalog.sources

    @property
    def functions(self) -> FunctionLibrary:
        return self.catalog.library

    @property
    def types(self) -> Mapping[str, SqlType]:
        return self.catalog.types


class TransientQueries:
    def __init__(
        self,
        settings: ServerSettings,
        catalog: Catalog,
        host: QueryHost,
        user_functions: UserFunctions,
        properties: Callable[[], Mapping[str, str]],
    ) -> None:
        """`properties`: what is set for the whole server."""
        self._settings = settings
        self._properties = properties
        self._definitions = CatalogView(catalog, user_functions)
        self._host = host
        self._numbers = itertools.count(1)
        self._running: dict[str, tuple[TransientQuery, RowStream]] = {}
        self._changing = threading.Lock()
        self._pull_times: deque[float] = deque()
        self._parsed: dict[str, Parsed] = {}
        self.started = {"PUSH": 0, "PULL": 0}
        self.failed = {"PUSH": 0, "PULL": 0}

    async def start(self, request: StatementRequest, session: Session) -> StartedQuery:
        try:
            is_long = len(request.text) > LONG_TEXT
            one = (
                await asyncio.to_thread(self._statement, request, session)
                if is_long
                else self._statement(request, session)
            )
        except SqlError as wrong:
            raise bad_statement(wrong, request.text) from wrong
        try:
            match one.statement:
                case tree.QueryStatement():
                    return await self._select(
                        one, _meant(one.statement.query, request), session, request.shows_tombstones
                    )
                case tree.Print():
                    check_usable(one.statement.topic, self._properties(), one.statement.at)
                    self._require_room("PUSH")
                    stream = await asyncio.to_thread(self._host.print_topic, one.statement)
                    stream.query_id = self._new_id(one.statement.topic)
                    self._keep(stream, TransientQuery(stream.query_id, one.text))
                    return StartedQuery(stream, "PRINT", one.text)
        except TableNotReady as waiting:
            raise ServiceFailure(NOT_READY, str(waiting), statement=one.text) from waiting
        except SqlError as wrong:
            raise bad_statement(wrong.within(one.text), one.text) from wrong
        raise ServiceFailure(
            BAD_REQUEST,
            "Only SELECT and PRINT are run here; send other statements to /ksql",
            statement=one.text,
        )

    def close(self, query_id: str) -> bool:
        found = self._running.get(query_id)
        if found is None:
            return False
        found[1].close()
        return True

    def running(self) -> tuple[TransientQuery, ...]:
        return tuple(query for query, _ in list(self._running.values()))

    def _statement(self, request: StatementRequest, session: Session) -> Parsed:
        if request.variables:
            return single(request.text, session)
        known = self._parsed.get(request.text)
        if known is None:
            known = single(request.text, session)
            if len(self._parsed) >= TEXTS_MAX:
                self._parsed.clear()
            self._parsed[request.text] = known
        return known

    async def _select(
        self, one: Parsed, query: Query, session: Session, counts_tombstones: bool
    ) -> StartedQuery:
        settings = self._pull_settings(session)
        prepared = self._host.prepare(one.text, self._definitions, settings, query)
        properties = self._properties()
        for each in prepared.plan.inputs:
            check_source_usable(each.source, properties)
        kind: Literal["PUSH", "PULL"] = "PULL" if prepared.is_pull else "PUSH"
        self._require_room(kind)
        self._require_rate(kind)
        query_id = self._new_id(prepared.table.name)
        started = partial(
            self._host.start,
            prepared,
            offset_reset=self._offset_reset(session),
            query_id=query_id,
            settings=settings,
            counts_tombstones=counts_tombstones,
        )
        try:
            if self._host.is_immediate(prepared):
                stream = started()
            else:
                stream = await asyncio.to_thread(started)
        except BaseException:
            self.failed[kind] += 1
            raise
        self.started[kind] += 1
        names = tuple(one.source.name for one in prepared.plan.inputs)
        known = TransientQuery(query_id, one.text, kind, names, int(time.time() * 1000))
        self._keep(stream, known)
        return StartedQuery(stream, kind, one.text)

    def _offset_reset(self, session: Session) -> str | None:
        said = (
            properties[name]
            for properties in (session.properties, self._properties())
            for name in OFFSET_RESET
            if name in properties
        )
        found = next(said, None)
        return found and found.lower()

    def _pull_settings(self, session: Session) -> PullSettings:
        said = session.properties.get(SCAN_SETTING) or self._properties().get(SCAN_SETTING, "true")
        return PullSettings(said.lower() == "true")

    def _new_id(self, name: str) -> str:
        return f"transient_{name}_{next(self._numbers)}{secrets.randbelow(10**12):012}"

    def _keep(self, stream: RowStream, query: TransientQuery) -> None:
        release = stream.on_close

        def closed() -> None:
            release()
            self._running.pop(query.id, None)

        with self._changing:
            self._running[query.id] = (query, stream)
            stream.on_close = closed
        if stream.end is not None:
            self._running.pop(query.id, None)

    def _require_room(self, kind: Literal["PUSH", "PULL"]) -> None:
        count = sum(query.kind == kind for query in self.running())
        if kind == "PUSH" and count >= self._settings.push_queries_max:
            raise ServiceFailure(
                TOO_MANY_PUSH_QUERIES,
                f"{count} push queries run on this server, which is the limit (ksql.max.push.queries): end one first",
            )
        if kind == "PULL" and count >= self._settings.pull_queries_max:
            raise ServiceFailure(
                TOO_MANY_REQUESTS,
                f"{count} pull queries run on this server, which is the limit "
                "(ksql.query.pull.max.concurrent.requests): try again",
            )

    def _require_rate(self, kind: Literal["PUSH", "PULL"]) -> None:
        limit = self._settings.pull_qps_max
        if kind == "PUSH" or limit >= 2**31 - 1:
            return
        now = time.monotonic()
        while self._pull_times and self._pull_times[0] <= now - 1:
            self._pull_times.popleft()
        if len(self._pull_times) >= limit:
            raise ServiceFailure(
                TOO_MANY_REQUESTS,
                f"this server answers {limit} pull queries a second (ksql.query.pull.max.qps): try again",
            )
        self._pull_times.append(now)


def _meant(query: Query, request: StatementRequest) -> Query:
    """KSQL 5 had no pull queries: its SELECT follows what it reads."""
    return replace(query, emit=Emit.CHANGES) if request.is_ksql_5 and query.emit is None else query
