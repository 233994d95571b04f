"""A client of a simulated cluster: finds leaders and coordinators, asks, and puts up with everything."""

import asyncio
from itertools import count
from random import Random
from typing import Final, TypeVar

from moldau.cluster.peer_network import read_answer, request_frame
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import PeerError
from moldau.protocol.messages.groups.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from moldau.protocol.messages.topics.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from moldau.protocol.spec import Request, Response
from moldau.testing.simulation.sim_network import SimConnection, SimNetwork

TIMEOUT_S: Final = 3.0
PAUSE_S: Final = 0.15
GROUP, TRANSACTION = 0, 1
TROUBLE: Final = (OSError, TimeoutError, PeerError)

AnyResponse = TypeVar("AnyResponse", bound=Response)


class SimClient:
    def __init__(self, name: str, network: SimNetwork, hosts: list[str], random: Random) -> None:
        self.name = name
        self._network = network
        self._hosts = hosts
        self._random = random
        self._connections: dict[str, SimConnection] = {}
        self._leaders: dict[tuple[str, int], str] = {}
        self._ids = count(1)

    async def ask(
        self,
        host: str,
        request: Request,
        version: int,
        answer: type[AnyResponse],
        timeout_s: float = TIMEOUT_S,
    ) -> AnyResponse:
        """One of `TROUBLE` when there is no answer: then nobody knows what was done."""
        connection = self._connections.pop(host, None)
        if connection is None:
            connection = await self._network.connect(self.name, host, timeout_s)
        correlation_id = next(self._ids)
        frame = request_frame(request, version, correlation_id, self.name)
        answered = await connection.exchange(frame, timeout_s)
        self._connections[host] = connection
        return read_answer(answer, request, version, correlation_id, answered)

    async def leader(self, topic: str, partition: int) -> str:
        """Asks until somebody knows one."""
        while (topic, partition) not in self._leaders:
            await self._look_up(topic)
            if (topic, partition) not in self._leaders:
                await self.pause()
        return self._leaders[topic, partition]

    def forget(self, topic: str, partition: int) -> None:
        self._leaders.pop((topic, partition), None)

    async def pause(self) -> None:
        await asyncio.sleep(PAUSE_S * (0.5 + self._random.random()))

    async def coordinator(self, key: str, key_type: int, asked: str | None = None) -> str:
        """By the word of some broker; at first of the one that is named."""
        request = FindCoordinatorRequest(key=key, key_type=key_type)
        while True:
            try:
                answer = await self.ask(asked or self._some_host(), request, 3, FindCoordinatorResponse)
                if not answer.error_code:
                    return answer.host
            except TROUBLE:
                pass
            asked = None
            await self.pause()

    async def _look_up(self, topic: str) -> None:
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
        try:
            answer = await self.ask(self._some_host(), request, 9, MetadataResponse)
        except TROUBLE:
            return
        hosts = {broker.node_id: broker.host for broker in answer.brokers}
        for found in answer.topics:
            for partition in found.partitions:
                if partition.error_code == ErrorCode.NONE and partition.leader_id in hosts:
                    self._leaders[topic, partition.partition_index] = hosts[partition.leader_id]

    def _some_host(self) -> str:
        return self._random.choice(self._hosts)
