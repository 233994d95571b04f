"""The composition root: puts a broker's parts together, starts them in order and stops them in reverse.

Owns lifetimes, no state of its own. Everything is created here once and handed to whoever needs it.
"""

import asyncio
import logging
import os
import secrets
from dataclasses import dataclass

from moldau.broker.answer_cache import AnswerCache
from moldau.broker.api_table import ApiTable
from moldau.broker.catalog import TopicCatalog
from moldau.broker.configs import ConfigStore
from moldau.broker.disks import Disks
from moldau.broker.fetch_sessions import FetchSessions
from moldau.broker.flusher import Flusher
from moldau.broker.handlers import HANDLERS
from moldau.broker.listeners import Address, AdvertisedListeners
from moldau.broker.parked_fetches import ParkedFetches
from moldau.broker.partitions import HostedPartitions
from moldau.broker.parts import Broker
from moldau.broker.producer_ids import ProducerIds
from moldau.broker.session import ClientSession
from moldau.broker.topic_admin import TopicAdmin
from moldau.coordination.sqlite import SqliteStore
from moldau.core.errors import ConfigError
from moldau.core.ids import BrokerId
from moldau.core.ports import Clock
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listeners import (
    Listener,
    SecurityProtocol,
    advertised_endpoints,
    broker_listeners,
)
from moldau.core.settings.resolve import BrokerLayers
from moldau.net.listener import ConnectionLimits, Endpoint, Listeners
from moldau.node.housekeeping import Housekeeping
from moldau.node.loop_scheduler import LoopScheduler
from moldau.node.os_clock import OsClock
from moldau.node.stall_watch import StallWatch

_log = logging.getLogger("moldau.node")

FILE_WORKERS = 4
STORE_FILE = "moldau-metadata.sqlite"
