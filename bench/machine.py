"""The machine and the versions a figure was taken on."""

import importlib.metadata
import os
import platform
import re
import subprocess
from pathlib import Path

from load_client import librdkafka_version
from systems import kafka_version


def describe_machine() -> dict[str, str]:
    cpu = _first_match("/proc/cpuinfo", r"model name\s*: (.*)")
    memory_kb = int(_first_match("/proc/meminfo", "MemTotal: *([0-9]+)"))
    return {
        "CPU": f"{os.cpu_count()} x {cpu}",
        "memory": f"{memory_kb / 2**20:.1f} GiB",
        "kernel": platform.release(),
        "Python": platform.python_version(),
        "Java": _java_version(),
        "Moldau": importlib.metadata.version("moldau"),
        "Apache Kafka": kafka_version(),
        "librdkafka": librdkafka_version(),
    }


def _first_match(path: str, pattern: str) -> str:
    found = re.search(pattern, Path(path).read_text())
    return found[1].strip() if found else "unknown"


def _java_version() -> str:
    try:
        told = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    except FileNotFoundError:
        return "none"
    return told.splitlines()[0] if told else "unknown"
