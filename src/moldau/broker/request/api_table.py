"""The APIs this broker serves: their versions and their handlers.

The table is the only source of the ApiVersions answer: an API is advertised because its handler is listed.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

from moldau.core.chunks import Chunk
from moldau.protocol.spec import Request

if TYPE_CHECKING:
    from moldau.broker.request.client_session import ClientSession, RequestContext

Handler: TypeAlias = "Callable[[RequestContext, Any], Any]"
"""Takes the decoded request. Returns the answer, or an awaitable of it if it must wait."""
FrameHandler: TypeAlias = "Callable[[ClientSession, memoryview, int, int, int], list[Chunk] | None]"
"""Takes (session, frame, body position, version, correlation id). For Produce and Fetch, which carry the
data."""

API_VERSIONS_KEY: Final = 18
VERSION_NEVER: Final = 2**15


@dataclass(frozen=True, slots=True)
class ApiSpec:
    """One API. Exactly one of `handle` and `handle_frame` is set."""

    request: type[Request]
    key: int
    name: str
    min_version: int
    max_version: int
    flexible_from: int
    advertised_min_version: int
    handle: "Handler | None"
    handle_frame: "FrameHandler | None"
    is_advertised: bool
    is_cached: bool
    """Equal requests get equal answers until the cluster's metadata changes."""

    @classmethod
    def of(
        cls,
        request: type[Request],
        handle: "Handler | None" = None,
        *,
        handle_frame: "FrameHandler | None" = None,
        advertised_min_version: int | None = None,
        is_advertised: bool = True,
        is_cached: bool = False,
    ) -> Self:
        """Versions come from the message's declaration. `advertised_min_version`: where clients must see a
        lower one."""
        assert (handle is None) != (handle_frame is None), f"{request.__name__} needs one handler"
        lowest, highest = request.VERSIONS.low, request.VERSIONS.high
        return cls(
            request=request,
            key=request.API_KEY,
            name=request.__name__.removesuffix("Request"),
            min_version=lowest,
            max_version=highest,
            flexible_from=request.FLEXIBLE.low if request.FLEXIBLE.high >= 0 else VERSION_NEVER,
            advertised_min_version=lowest if advertised_min_version is None else advertised_min_version,
            handle=handle,
            handle_frame=handle_frame,
            is_advertised=is_advertised,
            is_cached=is_cached,
        )


class ApiTable:
    def __init__(self, specs: Iterable[ApiSpec]) -> None:
        self.specs = tuple(sorted(specs, key=lambda spec: spec.key))
        self._by_key = {spec.key: spec for spec in self.specs}
        assert len(self._by_key) == len(self.specs), "two handlers claim one API key"
        self.find: Callable[[int], ApiSpec | None] = self._by_key.get
