"""Statements, executed: facts are looked up, the engine decides, and what it decided is done.

A statement that changes what is defined takes its turn in the one thread of changes. Its topics and schemas are made
before its command is written, and are removed again where the command does not take effect.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Final

from moldau.core.errors import MoldauError
from moldau.pipeline.sql.engine import Applied, Catalog, Command, Decision, Needs, Session, decide, needs
from moldau.pipeline.sql.engine.answers import Answer, CurrentStatus
from moldau.pipeline.sql.engine.server_properties import check_sent
from moldau.pipeline.sql.queries.inserts import Inserts
from moldau.pipeline.sql.queries.own_threads import OwnThreads
from moldau.pipeline.sql.queries.preparing import is_user_called
from moldau.pipeline.sql.server.commands.command_log import Log
from moldau.pipeline.sql.server.commands.command_topic import NotRead
from moldau.pipeline.sql.server.commands.command_writer import NotWritten, OutcomeUnknown
from moldau.pipeline.sql.server.connectors import Connectors
from moldau.pipeline.sql.server.failures import (
    BAD_REQUEST,
    BAD_STATEMENT,
    COMMAND_QUEUE_TIMEOUT,
    QUERY_ENDPOINT,
    SERVER_ERROR,
    ServiceFailure,
    bad_statement,
)
from moldau.pipeline.sql.server.rehearsal import Rehearsal
from moldau.pipeline.sql.server.requests import Executed, Runtime, StatementRequest
from moldau.pipeline.sql.server.settings import ServerSettings
from moldau.pipeline.sql.server.statement_rights import require_statement
from moldau.pipeline.sql.server.statement_texts import errors_within, parsed, statement_texts
from moldau.pipeline.sql.server.world import World
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.parser import Parsed
from moldau.pipeline.sql.syntax.tree import statements as tree
from moldau.services.security.access import Access

CHANGES: Final = (
    tree.CreateSource,
    tree.CreateAsSelect,
    tree.InsertSelect,
    tree.DropSource,
    tree.AlterSource,
    tree.CreateType,
    tree.DropType,
    tree.QueryControl,
    tree.AlterSystem,
)
"""What the command topic gets."""
LONG_TEXT: Final = 20_000
"""A longer one is cut and parsed in a thread, so that the event loop does not wait for it."""
ASSERT_EVERY_S: Final = 0.2


class Execution:
    """`runtime_of` looks up what only the running server knows of an answer. `before_deletion` is called with a
    statement's change before its topics are deleted; it returns when no query writes to them any more. `goes_on` says
    what happens after a command, for its answer."""

    def __init__(
        self,
        settings: ServerSettings,
        catalog: Catalog,
        log: Log,
        world: World,
        inserts: Inserts,
        own_threads: OwnThreads,
        connectors: Connectors,
        *,
        runtime_of: Callable[[Answer], Runtime],
        before_deletion: Callable[[Applied], None],
        goes_on: Callable[[Applied], str],
    ) -> None:
        self._settings = settings
        self._catalog = catalog
        self._log = log
        self._world = world
        self._inserts = inserts
        self._own_threads = own_threads
        self._connectors = connectors
        self._runtime_of = runtime_of
        self._before_deletion = before_deletion
        self._goes_on = goes_on
        self._changes = ThreadPoolExecutor(1, "sql-changes")

    def close(self) -> None:
        """Returns when the statement that is being executed is done."""
        self._changes.shutdown(wait=True, cancel_futures=True)

    def session(self, request: StatementRequest) -> Session:
        try:
            check_sent(request.properties, ServerSettings.KEYS)
        except SqlError as wrong:
            raise bad_statement(wrong, request.text) from wrong
        return Session(request.properties, request.variables, self._settings.substitutes_variables)

    async def run(self, request: StatementRequest) -> list[Executed]:
        session = self.session(request)
        texts = await self._texts(request)
        await self._catch_up(request.command_sequence_number)
        if len(texts) > 1:
            await asyncio.to_thread(Rehearsal(self._catalog, self._world).run, texts, session)
        done: list[Executed] = []
        for text in texts:
            try:
                executed, session = await self._step(text, session, request.access)
            except SqlError as wrong:
                failure = bad_statement(wrong, text)
                failure.executed = tuple(done)
                raise failure from wrong
            except ServiceFailure as failure:
                failure.statement = failure.statement or text
                failure.executed = tuple(done)
                raise
            done.append(executed)
        return done

    def run_blocking(self, text: str, session: Session) -> Session:
        """One statement of a file, before the server takes requests. Returns the session after it."""
        one = parsed(text, session)
        with errors_within(one.text):
            if isinstance(one.statement, CHANGES):
                self._change(one, session)
                return session
            return self._decided(one, session).session or session

    async def _texts(self, request: StatementRequest) -> list[str]:
        is_long = len(request.text) > LONG_TEXT
        try:
            if is_long:
                texts = await asyncio.to_thread(statement_texts, request.text)
            else:
                texts = statement_texts(request.text)
        except SqlError as wrong:
            raise bad_statement(wrong, request.text) from wrong
        if len(texts) > self._settings.statements_max:
            raise ServiceFailure(
                BAD_REQUEST,
                f"the request has {len(texts)} statements; the limit is {self._settings.statements_max} "
                "(ksql.max.statements.per.request)",
            )
        return texts

    async def _catch_up(self, command_sequence_number: int | None) -> None:
        if command_sequence_number is None or command_sequence_number < 0:
            return
        try:
            wait_s = self._settings.response_timeout_ms / 1000
            await asyncio.to_thread(self._log.wait_until, command_sequence_number, wait_s)
        except MoldauError as late:
            raise ServiceFailure(COMMAND_QUEUE_TIMEOUT, str(late)) from late

    async def _step(self, text: str, session: Session, access: Access) -> tuple[Executed, Session]:
        is_long = len(text) > LONG_TEXT
        one = await asyncio.to_thread(parsed, text, session) if is_long else parsed(text, session)
        require_statement(access, one.statement, self._settings.service_id)
        with errors_within(one.text):
            return await self._executed(one, session, access)

    async def _executed(self, one: Parsed, session: Session, access: Access) -> tuple[Executed, Session]:
        if isinstance(one.statement, tree.QueryStatement | tree.Print):
            raise ServiceFailure(
                QUERY_ENDPOINT,
                "SELECT and PRINT are no statements of /ksql: send them to /query-stream or /query",
                statement=one.text,
            )
        if isinstance(one.statement, CHANGES):
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._changes, self._change, one, session), session
        decision = await self._reading(one, session)
        if decision.insert is not None:
            row = decision.insert
            try:
                await self._inserts.insert(row.source, row.key, row.value, row.timestamp_ms)
            except SqlError:
                raise
            except MoldauError as failed:
                raise ServiceFailure(SERVER_ERROR, str(failed), statement=one.text) from failed
        if decision.forward is not None:
            told = await asyncio.to_thread(self._connectors.execute, decision.forward.statement, access)
            return Executed(one.text, told, warnings=decision.warnings), session
        answer, runtime = decision.answer, Runtime()
        if decision.insert is not None or decision.session is not None:
            answer = None
        elif answer is not None:
            runtime = await asyncio.to_thread(self._runtime_of, answer)
        executed = Executed(one.text, answer, warnings=decision.warnings, runtime=runtime)
        return executed, decision.session or session

    async def _reading(self, one: Parsed, session: Session) -> Decision:
        """Decides, and again while an assertion waits."""
        if is_user_called(one.statement, self._catalog.library):
            # INSERT VALUES calls it here, and it may block.
            decision = await asyncio.wrap_future(
                self._own_threads.call(one.text, partial(self._decided, one, session))
            )
        elif needs(one.statement, self._catalog) == Needs():
            decision = self._decided(one, session)
        else:
            decision = await asyncio.to_thread(self._decided, one, session)
        loop = asyncio.get_running_loop()
        started = loop.time()
        while (wait := decision.wait) is not None:
            left_s = started + wait.timeout_ms / 1000 - loop.time()
            if left_s <= 0:
                raise ServiceFailure(BAD_STATEMENT, wait.message, statement=one.text)
            await asyncio.sleep(min(ASSERT_EVERY_S, left_s))
            decision = await asyncio.to_thread(self._decided, one, session)
        return decision

    def _decided(self, one: Parsed, session: Session) -> Decision:
        facts = self._world.facts(needs(one.statement, self._catalog))
        return decide(one.text, one.statement, self._catalog, session, facts, self._catalog.library)

    def _change(self, one: Parsed, session: Session) -> Executed:
        made: list[str] = []
        decided: list[Decision] = []

        def prepare() -> Command | None:
            if isinstance(one.statement, tree.CreateAsSelect | tree.InsertSelect):
                self._require_room()
            decision = self._decided(one, session)
            decided.append(decision)
            if decision.command is not None:
                made.extend(self._world.create(decision.topics_to_create, decision.schemas_to_register))
            return decision.command

        try:
            applied = self._log.append(prepare)
        except NotWritten as failed:
            self._world.delete(made)
            raise ServiceFailure(
                SERVER_ERROR, f"The statement was not executed: {failed}.", statement=one.text
            ) from failed
        except (OutcomeUnknown, NotRead) as unknown:
            raise ServiceFailure(
                SERVER_ERROR, f"The statement may take effect later: {unknown}.", statement=one.text
            ) from unknown
        except SqlError:
            self._world.delete(made)
            raise
        decision = decided[-1]
        if applied is None:
            return Executed(one.text, decision.answer, warnings=decision.warnings)
        if not applied.is_done:
            used = {source.topic for source in self._catalog.sources.values()}
            self._world.delete([topic for topic in made if topic not in used])
            raise ServiceFailure(BAD_STATEMENT, applied.message, statement=one.text)
        if decision.topics_to_delete and applied.change is not None and not applied.change.is_nothing:
            # Another server may have dropped it before, and the topic may be another stream's by now.
            self._before_deletion(applied)
            self._world.delete(decision.topics_to_delete, with_subjects=True)
        return Executed(one.text, self._final(decision, applied), applied.offset, decision.warnings)

    def _require_room(self) -> None:
        count = len(self._catalog.queries)
        if count >= self._settings.queries_max:
            raise SqlError(
                f"{count} persistent queries are defined, which is the limit (ksql.query.persistent.active.limit)",
                hint="TERMINATE one that is no longer needed.",
            )

    def _final(self, decision: Decision, applied: Applied) -> Answer | None:
        """The answer with what replaying the command has shown."""
        answer = decision.answer
        if not isinstance(answer, CurrentStatus):
            return answer
        more = self._goes_on(applied)
        return replace(
            answer,
            message=f"{applied.message}\n{more}" if more else applied.message,
            command_id=applied.command.id,
            query_id=applied.query_id,
        )
