"""`$SYS` topics: figures of this proxy for MQTT clients, under the names that mosquitto gave them.

They are not in Kafka. A subscriber gets them all at once, and afterwards those that have changed, with QoS 0.
"""

from collections.abc import Iterator
from typing import Final

from moldau import __version__
from moldau.proxies.mqtt.server.hub import Hub
from moldau.proxies.mqtt.session.messages import Message, retained_source
from moldau.proxies.mqtt.session.retained import RetainedMessages

PREFIX: Final = "$SYS/broker/"


class SystemTopics:
    """`refresh` looks at the figures; `check_time` does that every `sys.interval.ms`."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._interval_s = hub.settings.sys_interval_ms / 1000
        self._began = hub.loop.time()
        self._due: float | None = self._began if self._interval_s else None
        self._most_clients = 0
        self._current = RetainedMessages()

    def check_time(self, now: float) -> None:
        """From time to time."""
        if self._due is not None and now >= self._due:
            self._due = now + self._interval_s
            self.refresh()

    def matching(self, filter_text: str) -> Iterator[Message]:
        """The figures that a new subscription asks for."""
        return self._current.matching(filter_text)

    def refresh(self) -> None:
        """Sends what has changed to those who are subscribed."""
        hub = self._hub
        for name, value in self._figures():
            topic, payload = PREFIX + name, value.encode()
            before = self._current.get(topic)
            if before is not None and before.payload == payload:
                continue
            message = Message(topic, payload, retain=True)
            self._current.put(message)
            for session, subscriptions in hub.tree.matching(topic):
                hub.delivery.offer(session, message, subscriptions, retained_source(topic))

    def _figures(self) -> Iterator[tuple[str, str]]:
        hub = self._hub
        connected, sessions = len(hub.connections), len(hub.sessions)
        self._most_clients = max(self._most_clients, connected)
        yield "version", f"moldau version {__version__}"
        yield "uptime", f"{int(hub.loop.time() - self._began)} seconds"
        yield "clients/connected", str(connected)
        yield "clients/disconnected", str(max(sessions - connected, 0))
        yield "clients/total", str(max(sessions, connected))
        yield "clients/maximum", str(self._most_clients)
        yield "publish/messages/received", str(hub.publishing.received)
        yield "publish/messages/sent", str(hub.delivery.sent)
        yield "publish/messages/dropped", str(hub.delivery.dropped)
        yield "subscriptions/count", str(hub.tree.count)
        yield "retained messages/count", str(hub.retained.count)
