"""A client that sends exactly the packets, or bytes, that a test wants to send."""

import itertools
import socket
from collections import deque
from typing import Any, Self, TypeVar

from moldau.proxies.mqtt.codec.decoding import decode
from moldau.proxies.mqtt.codec.encoding import encode
from moldau.proxies.mqtt.codec.framing import FrameReader
from moldau.proxies.mqtt.codec.packets import (
    V5,
    V311,
    ConnAck,
    Connect,
    Packet,
    PingReq,
    PingResp,
    PubAck,
    PubComp,
    Publish,
    PubRec,
    PubRel,
    SubAck,
    Subscribe,
    Wanted,
)

PATIENCE_S = 60
_serial = itertools.count(1)

P = TypeVar("P", bound=Packet)


def fresh(prefix: str) -> str:
    """A name no other test uses."""
    return f"{prefix}{next(_serial)}"


class Wire:
    """One connection. `receive` waits with a generous deadline; None means that the server has closed it."""

    def __init__(self, port: int, version: int = V311) -> None:
        self.version = version
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self._reader = FrameReader(1 << 28)
        self._packets: deque[Packet] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send_raw(self, data: bytes) -> None:
        self._socket.sendall(data)

    def send(self, *packets: Packet) -> None:
        self.send_raw(b"".join(encode(packet, self.version) for packet in packets))

    def receive(self) -> Packet | None:
        while not self._packets:
            try:
                data = self._socket.recv(1 << 16)
            except ConnectionResetError:
                data = b""
            if not data:
                return None
            for first, body in self._reader.feed(data):
                self._packets.append(decode(first, body, self.version))
            assert self._reader.failure is None
        return self._packets.popleft()

    def expect(self, kind: type[P]) -> P:
        """The next packet, which has to be of this kind. Messages that come before another one keep for later."""
        aside: list[Packet] = []
        packet = self.receive()
        while isinstance(packet, Publish) and kind is not Publish:
            aside.append(packet)
            packet = self.receive()
        self._packets.extendleft(reversed(aside))
        assert isinstance(packet, kind), packet
        return packet

    def is_closed(self) -> bool:
        """Waits until the server has closed the connection; packets before that are ignored."""
        try:
            while self.receive() is not None:
                pass
        except TimeoutError:
            return False
        return True

    def is_silent(self) -> bool:
        """Nothing has come that the server sent before it saw the PINGREQ sent now."""
        self.send(PingReq())
        return isinstance(self.receive(), PingResp)

    def connect(self, client_id: str | None = None, **fields: Any) -> ConnAck:
        self.send(
            Connect(
                fresh("client") if client_id is None else client_id, **{"version": self.version, **fields}
            )
        )
        answer = self.expect(ConnAck)
        assert answer.code == 0, answer
        return answer

    def subscribe(self, *filters: str | Wanted, qos: int = 2, **fields: Any) -> SubAck:
        wanted = [one if isinstance(one, Wanted) else Wanted(one, qos) for one in filters]
        self.send(Subscribe(1, wanted, **fields))
        return self.expect(SubAck)

    def publish(self, topic: str, payload: bytes, qos: int = 1, packet_id: int = 1, **fields: Any) -> None:
        """Returns when the server has acknowledged it; QoS 2 to its end."""
        self.send(Publish(topic, payload, qos, packet_id=packet_id if qos else 0, **fields))
        if qos == 1:
            assert self.expect(PubAck).packet_id == packet_id
        if qos == 2:
            assert self.expect(PubRec).packet_id == packet_id
            self.send(PubRel(packet_id))
            assert self.expect(PubComp).packet_id == packet_id

    def message(self) -> Publish:
        """The next message, acknowledged to its end."""
        packet = self.expect(Publish)
        if packet.qos == 1:
            self.send(PubAck(packet.packet_id))
        if packet.qos == 2:
            self.send(PubRec(packet.packet_id))
            assert self.expect(PubRel).packet_id == packet.packet_id
            self.send(PubComp(packet.packet_id))
        return packet

    def close(self) -> None:
        """As a network that fails."""
        self._socket.close()


__all__ = ["V5", "V311", "Wire", "fresh"]
