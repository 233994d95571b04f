"""`moldau broker`: reads the configuration, serves, and stops on a signal."""

import asyncio
import contextlib
import gc
import logging
import os
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from moldau.core.errors import ConfigError, StorageFault
from moldau.core.settings.resolve import BrokerLayers
from moldau.core.settings.static_layer import static_layer
from moldau.node.broker_node import BrokerNode
from moldau.node.java_options import with_java_options
from moldau.node.secret_files import warn_of_readable_secrets

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
OBJECTS_PER_COLLECTION = 50_000
"""The response for very many partitions creates tens of thousands of objects without cycles: they must not cause a
collection."""


def run_broker(config_path: str | None, overrides: Sequence[str]) -> int:
    """Serves until SIGTERM or SIGINT. Returns the exit code; errors go to standard error."""
    _log_to_stderr()
    _allow_many_files()
    try:
        layers = static_layer(_read_config(config_path), file=config_path or "", overrides=overrides)
        warn_of_readable_secrets(layers, config_path)
        layers = with_java_options(layers, os.environ)
        with asyncio.Runner(loop_factory=event_loop) as runner:
            return runner.run(_serve(layers))
    except ConfigError as error:
        print(f"moldau broker: {error}", file=sys.stderr)  # noqa: T201
        return EXIT_USAGE
    except StorageFault as fault:
        print(f"moldau broker: {fault}", file=sys.stderr)  # noqa: T201
        return EXIT_FAILED


def event_loop() -> asyncio.AbstractEventLoop:
    """uvloop if it is installed. Everything works on plain asyncio too, at a higher cost per request."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


async def _serve(layers: BrokerLayers) -> int:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    node = BrokerNode(layers)
    await node.start()
    # Objects that exist now live until the end: collections need not examine them again.
    gc.freeze()
    gc.set_threshold(OBJECTS_PER_COLLECTION)
    gc.enable()
    print("ready", *node.endpoints, flush=True)  # noqa: T201
    await stopping.wait()
    await node.stop()
    return EXIT_OK


def _read_config(path: str | None) -> str:
    if path is None:
        return ""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot read the configuration file {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"the configuration file {path} is not UTF-8 text: {error.reason}") from None


def _allow_many_files() -> None:
    """Raises the soft limit of file descriptors, often too low for sockets and log segments, to the hard limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _log_to_stderr() -> None:
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
