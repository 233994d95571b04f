"""The clients of Node.js, each driven over a pipe by a program of `node/`.

Owns where their packages are. Which versions is said in `node/package.json` alone.
"""

import shutil
import subprocess
from pathlib import Path

from compat.client import Feature
from compat.piped_client import PipedClient, PipedDriver

FOLDER = Path(__file__).parent / "node"
LOCK = FOLDER / "package-lock.json"
INSTALLED = FOLDER / "node_modules" / ".installed"
"""The lock file that the packages came from."""
OLDEST_NODE = (20, 19)


class NodePackagesMissing(Exception):
    """Says why; tests skip with this text."""


class KafkajsClient(PipedClient):
    name = "kafkajs"
    lacks = frozenset(
        {
            Feature.INCREMENTAL_CONFIGS,
            Feature.MAX_TIMESTAMP,
            Feature.REPEATED_HEADERS,
            Feature.TIME_AFTER_END,
        }
    )


class PlatformaticClient(PipedClient):
    name = "platformatic"
    # Its zstd is that of Node 22; the last release that runs with Node 20 is tested.
    lacks = frozenset({Feature.LOG_APPEND_TIME, Feature.ZSTD})


def node_driver(kind: type[KafkajsClient | PlatformaticClient], log_path: Path) -> PipedDriver:
    node = shutil.which("node")
    if node is None:
        raise NodePackagesMissing("Node.js (node) is not installed; run tools/install-test-tools")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if tuple(map(int, version.lstrip("v").split(".")[:2])) < OLDEST_NODE:
        raise NodePackagesMissing(f"Node.js {version} is too old; the clients need 20.19 or newer")
    if not INSTALLED.is_file() or INSTALLED.read_bytes() != LOCK.read_bytes():
        raise NodePackagesMissing(
            "the packages that tests/compat/node pins are missing; run tools/install-test-tools"
        )
    return PipedDriver([node, str(FOLDER / f"{kind.name}_driver.mjs")], log_path)
