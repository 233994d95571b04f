"""Sends requests to other brokers over a small pool of connections to each. Implements `broker.peers.Peers`."""

from itertools import count
from typing import Final, TypeVar

from moldau.cluster.peer_network import PeerChannel, PeerNetwork, read_answer, request_frame
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, PeerError
from moldau.protocol.spec import Request, Response

CONNECT_TIMEOUT_S: Final = 5.0
ANSWER_TIMEOUT_S: Final = 30.0
IDLE_KEPT_MAX: Final = 4
"""Idle connections kept for each broker."""

AnyResponse = TypeVar("AnyResponse", bound=Response)


class BrokerPeers:
    def __init__(self, network: PeerNetwork, client_id: str) -> None:
        self._network = network
        self._client_id = client_id
        self._idle: dict[int, list[PeerChannel]] = {}
        self._correlation_ids = count(1)
        self._is_closed = False

    async def ask(
        self, broker_id: int, request: Request, version: int, answer: type[AnyResponse]
    ) -> AnyResponse:
        idle = self._idle.setdefault(broker_id, [])
        correlation_id = next(self._correlation_ids) & 0x7FFFFFFF
        frame = request_frame(request, version, correlation_id, self._client_id)
        while True:
            is_kept = bool(idle)
            try:
                channel = idle.pop() if idle else await self._network.connect(broker_id, CONNECT_TIMEOUT_S)
                answered = await channel.exchange(frame, ANSWER_TIMEOUT_S)
                found = read_answer(answer, request, version, correlation_id, answered)
            except (OSError, TimeoutError, LookupError, PeerError) as problem:
                if is_kept and isinstance(problem, ConnectionError):
                    continue  # The idle connection had been closed.
                raise ApiError(
                    ErrorCode.BROKER_NOT_AVAILABLE, f"broker {broker_id} did not answer: {problem!r}"
                ) from None
            if len(idle) < IDLE_KEPT_MAX and not self._is_closed:
                idle.append(channel)
            else:
                channel.close()
            return found

    def forget(self, broker_id: int) -> None:
        """Drops the connections to a broker that is gone or has registered again."""
        for channel in self._idle.pop(broker_id, []):
            channel.close()

    def close(self) -> None:
        self._is_closed = True
        for broker_id in list(self._idle):
            self.forget(broker_id)
