"""The parts of a running proxy, for each other."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from moldau.proxies.mqtt.session.retained import RetainedMessages
from moldau.proxies.mqtt.session.session import Session
from moldau.proxies.mqtt.session.subscriptions import SubscriptionTree

if TYPE_CHECKING:
    from moldau.proxies.mqtt.kafka.backlog import Backlog
    from moldau.proxies.mqtt.kafka.catch_up import CatchUp
    from moldau.proxies.mqtt.kafka.live_reader import LiveReader
    from moldau.proxies.mqtt.kafka.publisher import Publisher
    from moldau.proxies.mqtt.kafka.state_log import StateLog
    from moldau.proxies.mqtt.mapping.rules import Rules
    from moldau.proxies.mqtt.server.connection import Connection
    from moldau.proxies.mqtt.server.delivery import Delivery
    from moldau.proxies.mqtt.server.publishing import Publishing
    from moldau.proxies.mqtt.server.security import Security
    from moldau.proxies.mqtt.server.sessions import Sessions
    from moldau.proxies.mqtt.server.sharing import Sharing
    from moldau.proxies.mqtt.server.subscribing import Subscribing
    from moldau.proxies.mqtt.server.system_topics import SystemTopics
    from moldau.proxies.mqtt.settings import MqttSettings


class Hub:
    """Holds the parts; each is set by the proxy before the first client is let in."""

    settings: MqttSettings
    rules: Rules
    security: Security
    backlog: Backlog
    publisher: Publisher
    state: StateLog
    live: LiveReader
    catch_up: CatchUp
    sessions: Sessions
    publishing: Publishing
    subscribing: Subscribing
    delivery: Delivery
    sharing: Sharing
    system_topics: SystemTopics

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.tree: SubscriptionTree[Session] = SubscriptionTree()
        """Of connected sessions only."""
        self.retained = RetainedMessages()
        """Of all proxies that share them."""
        self.connections: set[Connection] = set()

    @staticmethod
    def now_ms() -> int:
        """The wall clock: what is stored outlives this process."""
        return time.time_ns() // 1_000_000
