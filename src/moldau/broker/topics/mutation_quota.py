"""The quota on creating and deleting partitions (KIP-599), for the length of one request."""

from moldau.broker.request.client_session import RequestContext
from moldau.broker.request.throttling import quota_user
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError


class MutationQuota:
    def __init__(self, ctx: RequestContext, *, strict_since: int) -> None:
        """Older versions do not know the error: they are carried out, and wait afterwards."""
        self._quotas = ctx.broker.quotas
        self._clock = ctx.broker.clock
        self._connection = ctx.client.connection
        self._user = quota_user(ctx.client)
        self._client_id = ctx.client.client_id or ""
        self._is_strict = ctx.version >= strict_since
        self._is_exceeded = False

    def check(self) -> None:
        """ApiError once the quota is used up. A change that exceeds it is still made: the next one is not."""
        if self._is_strict and self._wait_ms():
            self._is_exceeded = True
            raise ApiError(ErrorCode.THROTTLING_QUOTA_EXCEEDED, "The throttling quota has been exceeded.")

    def record(self, partitions: int) -> None:
        self._quotas.mutated(self._user, self._client_id, partitions, self._clock.monotonic_ms())

    def throttle_ms(self) -> int:
        """How long the client has to wait after this request. It is made to. A client that knows the error waits once
        it has got it."""
        wait_ms = 0 if self._is_strict and not self._is_exceeded else self._wait_ms()
        if wait_ms:
            self._connection.rest(wait_ms / 1000)
        return wait_ms

    def _wait_ms(self) -> int:
        return self._quotas.wait_for_mutations_ms(self._user, self._client_id, self._clock.monotonic_ms())
