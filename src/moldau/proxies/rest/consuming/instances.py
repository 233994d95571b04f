"""The consumer instances of this proxy, by group and name: creation, lookup, idle time-out.

One request at a time uses an instance; others wait their turn, as long as they would have waited for records.
"""

import asyncio
import logging
import re
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeVar

from confluent_kafka import KafkaException

from moldau.proxies.rest.consuming.instance import Instance
from moldau.proxies.rest.failures import (
    RestFailure,
    illegal_state,
    instance_exists,
    instance_not_found,
    invalid_consumer,
    of_kafka,
    too_many,
    unprocessable,
)
from moldau.proxies.rest.formats.schemas import Schemas
from moldau.proxies.rest.http.call import as_whole
from moldau.proxies.rest.http.negotiation import FORMATS
from moldau.proxies.rest.settings import RestSettings
from moldau.proxies.rest.threads import Threads

T = TypeVar("T")
SESSION_TIMEOUT_MS: Final = 45_000
QUEUED_KBYTES: Final = "16384"
BUSY_S_MAX: Final = 30.0
SWEEP_S_MAX: Final = 5.0
FIELDS: Final = (
    "id",
    "name",
    "format",
    "auto.offset.reset",
    "auto.commit.enable",
    "fetch.min.bytes",
    "consumer.request.timeout.ms",
    "responseMinBytes",
    "requestWaitMs",
)
OLD_WORDS: Final = {"smallest": "earliest", "largest": "latest"}
"""Of version 1."""
GROUP: Final = re.compile(r"[^\x00]{1,200}")
NAME: Final = re.compile(r"[^/\x00-\x1f]{1,200}")

log = logging.getLogger("moldau.rest")


class Place(NamedTuple):
    """Where an instance is found. `owner` is the user that created it; no other one finds it."""

    owner: str
    group: str
    name: str


@dataclass
class Hosted:
    """An instance with its turn-taking. `timeout_ms` is the default wait of its reads."""

    instance: Instance
    timeout_ms: int
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    used_s: float = field(default_factory=time.monotonic)


class Instances:
    """Used by the event loop only; blocking calls go to threads."""

    def __init__(
        self, settings: RestSettings, properties: Mapping[str, str], schemas: Schemas, threads: Threads
    ) -> None:
        self._settings = settings
        self._properties = dict(properties)
        self._schemas = schemas
        self._threads = threads
        self._hosted: dict[Place, Hosted | None] = {}
        """None while it is being created."""
        self._sweeper: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._hosted)

    def start(self) -> None:
        self._sweeper = asyncio.create_task(self._sweep())

    async def close(self) -> None:
        """Leaves all groups. What clients had not confirmed is read again by others."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        hosted = [each for each in self._hosted.values() if each is not None]
        self._hosted.clear()
        await asyncio.gather(*(self._end(each, received=False) for each in hosted))

    async def create(self, owner: str, group: str, wanted: Mapping[str, Any]) -> str:
        """Returns its name. Raises RestFailure."""
        if not GROUP.fullmatch(group):
            raise invalid_consumer("the name of a group is a text of at most 200 characters.")
        parsed = _Wanted(wanted)
        settings = self._settings
        name = parsed.name or self._new_name()
        key = Place(owner, group, name)
        if key in self._hosted:
            raise instance_exists(group, name)
        if len(self._hosted) >= settings.consumer_instances_max:
            raise too_many(
                f"this proxy has {len(self._hosted)} consumer instances already (consumer.instances.max). Delete those "
                "that are not used any more."
            )
        properties = self._consumer_properties(group, parsed)

        def make() -> Instance:
            return Instance(properties, parsed.format, self._schemas, auto_commit=parsed.auto_commit)

        self._hosted[key] = None
        try:
            instance = await self._on(self._threads.control, make)
        except (KafkaException, ValueError, TypeError) as error:
            raise invalid_consumer(str(error)) from None
        finally:
            if self._hosted.get(key) is None:
                self._hosted.pop(key, None)
        instance.fetch_bytes_min = parsed.fetch_bytes_min
        timeout_ms = settings.consumer_request_timeout_ms if parsed.timeout_ms is None else parsed.timeout_ms
        self._hosted[key] = Hosted(instance, timeout_ms)
        return name

    def find(self, place: Place) -> Hosted:
        """Raises RestFailure 40403."""
        hosted = self._hosted.get(place)
        if hosted is None:
            raise instance_not_found(place.group, place.name)
        hosted.used_s = time.monotonic()
        return hosted

    async def delete(self, place: Place) -> None:
        hosted = self.find(place)
        del self._hosted[place]
        await self._end(hosted, received=True)

    async def use(self, place: Place, work: Callable[[Instance], T]) -> T:
        """Runs it on a thread when the instance is free. Raises RestFailure."""
        return await self._in_turn(place, work, self._threads.control, BUSY_S_MAX)

    async def read(self, place: Place, timeout_s: float, work: Callable[[Instance, float], T]) -> T:
        """Like `use`, for work that waits for records. The wait for its turn counts."""
        deadline = time.monotonic() + timeout_s
        return await self._in_turn(
            place,
            lambda instance: work(instance, max(deadline - time.monotonic(), 0.0)),
            self._threads.reads,
            timeout_s,
        )

    async def _in_turn(self, place: Place, work: Callable[[Instance], T], pool: Any, patience_s: float) -> T:
        hosted = self.find(place)
        try:
            async with asyncio.timeout(max(patience_s, 0.1)):
                await hosted.lock.acquire()
        except TimeoutError:
            raise illegal_state(
                f"another request is using consumer instance {place.name!r} of group {place.group!r}. Send its "
                "requests one after the other, or create an instance for each reader."
            ) from None
        running = asyncio.ensure_future(self._locked(hosted, place, work, pool))
        # A client that goes away does not stop the thread, and the instance stays locked until it is done.
        return await asyncio.shield(running)

    async def _locked(self, hosted: Hosted, place: Place, work: Callable[[Instance], T], pool: Any) -> T:
        try:
            if self._hosted.get(place) is not hosted:
                raise instance_not_found(place.group, place.name)
            return await self._on(pool, lambda: work(hosted.instance))
        except KafkaException as error:
            raise of_kafka(error) from None
        except RuntimeError as error:
            raise illegal_state(str(error)) from None
        finally:
            hosted.used_s = time.monotonic()
            hosted.lock.release()

    async def _end(self, hosted: Hosted, *, received: bool) -> None:
        async with hosted.lock:
            await self._on(self._threads.control, lambda: hosted.instance.close(received=received))

    async def _on(self, pool: Any, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(pool, work)

    async def _sweep(self) -> None:
        """Deletes instances that nobody has used for long."""
        timeout_s = self._settings.consumer_instance_timeout_ms / 1000
        while True:
            await asyncio.sleep(min(timeout_s / 4, SWEEP_S_MAX))
            oldest_s = time.monotonic() - timeout_s
            for key, hosted in list(self._hosted.items()):
                if hosted is None or hosted.used_s > oldest_s or hosted.lock.locked():
                    continue
                del self._hosted[key]
                log.info(
                    "instance %s of group %s was idle for %g s and is deleted", key.name, key.group, timeout_s
                )
                try:
                    await self._end(hosted, received=False)
                except KafkaException:
                    log.exception("closing instance %s of group %s failed", key.name, key.group)

    def _new_name(self) -> str:
        own = f"{self._settings.instance_id}-" if self._settings.instance_id else ""
        return f"rest-consumer-{own}{uuid.uuid4()}"

    def _consumer_properties(self, group: str, wanted: "_Wanted") -> dict[str, Any]:
        poll_ms = max(300_000, self._settings.consumer_instance_timeout_ms) + SESSION_TIMEOUT_MS
        return {
            "queued.max.messages.kbytes": QUEUED_KBYTES,
            "max.poll.interval.ms": str(poll_ms),
            "auto.offset.reset": "latest",
            **self._properties,
            **({"auto.offset.reset": wanted.offset_reset} if wanted.offset_reset else {}),
            "enable.auto.commit": "true" if wanted.auto_commit else "false",
            "group.id": group,
        }


class _Wanted:
    """A request for an instance, checked. Raises RestFailure 422 and 42204."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        if unknown := [name for name in given if name not in FIELDS]:
            raise unprocessable(f"Unrecognized field: {unknown[0]}. Known are {', '.join(FIELDS[:7])}.")
        self.name = given.get("id") if given.get("id") is not None else given.get("name")
        names = [each for each in (given.get("id"), given.get("name")) if each is not None]
        if not all(isinstance(each, str) and NAME.fullmatch(each) for each in names):
            raise invalid_consumer("name is a text of at most 200 characters without slashes.")
        shown = given.get("format")
        self.format = "binary" if shown is None else str(shown).lower()
        if self.format not in FORMATS:
            raise unprocessable(f"Invalid format type. {shown!r} is none of {', '.join(FORMATS)}.")
        self.offset_reset = given.get("auto.offset.reset")
        if isinstance(self.offset_reset, str):
            self.offset_reset = OLD_WORDS.get(self.offset_reset, self.offset_reset)
        if self.offset_reset not in (None, "earliest", "latest", "none"):
            raise invalid_consumer("auto.offset.reset is one of earliest, latest, none.")
        if self.offset_reset == "none":
            self.offset_reset = "error"
        commit = str(given.get("auto.commit.enable", True)).lower()
        if commit not in ("true", "false", "none"):
            raise invalid_consumer("auto.commit.enable is true or false.")
        self.auto_commit = commit != "false"
        self.fetch_bytes_min = self._number(given, "fetch.min.bytes", "responseMinBytes", -1)
        timeout_ms = self._number(given, "consumer.request.timeout.ms", "requestWaitMs", -1)
        self.timeout_ms = None if timeout_ms < 0 else timeout_ms

    @staticmethod
    def _number(given: Mapping[str, Any], name: str, alias: str, default: int) -> int:
        value = given.get(name, given.get(alias))
        if value is None:
            return default
        try:
            number = int(value) if isinstance(value, str) else as_whole(value)
        except ValueError:
            number = None
        if number is None or not -1 <= number <= 100_000_000:
            raise RestFailure(
                42204, f"Invalid consumer configuration: {name} is a number between -1 and 100000000."
            )
        return number
