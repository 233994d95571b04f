"""The load client: compiled once into the cache, run as a process of its own, its line of figures read.

Owns the build and the call. What to run against which broker is the business of the cases.
"""

import functools
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from systems import cached_folder, digest_of

SOURCES = Path(__file__).parent / "client"
RUN_TIMEOUT_S = 900
FLAGS = ("-O2", "-Wall", "-Wextra")
ALLOCATOR = "-l:libtcmalloc_minimal.so.4"
"""The client allocates each record in one thread and frees it in another; in glibc the two wait for one lock,
the more so the faster the broker is."""
ALLOCATOR_SETTINGS = {
    "TCMALLOC_RELEASE_RATE": "0",
    "TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES": str(256 << 20),
}


class LoadFailed(Exception):
    """The client could not be built, or did not get everything delivered; the text says why."""


@dataclass(frozen=True)
class LoadResult:
    """Figures of one run; latencies are 0 where the mode measures none."""

    records: int
    bytes: int
    seconds: float
    cpu_seconds: float
    librdkafka: str
    p50_us: float = 0
    p90_us: float = 0
    p99_us: float = 0
    p999_us: float = 0
    max_us: float = 0

    @property
    def records_per_s(self) -> float:
        return self.records / self.seconds

    @property
    def megabytes_per_s(self) -> float:
        return self.bytes / self.seconds / 1e6


def load(mode: str, bootstrap: str, topic: str, **options: str | int) -> LoadResult:
    """Runs one mode of `client/load.c`; option names are its own, with `_` for `-`."""
    process = start_load(mode, bootstrap, topic, **options)
    try:
        return finished_load(process)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def start_load(mode: str, bootstrap: str, topic: str, **options: str | int) -> subprocess.Popen[str]:
    settings = {"brokers": bootstrap, "topic": topic, **options}
    arguments = [f"{name.replace('_', '-')}={value}" for name, value in settings.items()]
    command = [str(load_program()), mode, *arguments]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | ALLOCATOR_SETTINGS,
    )


def finished_load(process: subprocess.Popen[str]) -> LoadResult:
    try:
        output, complaint = process.communicate(timeout=RUN_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise LoadFailed(f"the load client did not end within {RUN_TIMEOUT_S} s") from None
    if process.returncode != 0:
        raise LoadFailed(f"{complaint.strip()} (code {process.returncode})")
    figures: dict[str, Any] = json.loads(output)
    figures.pop("mode")
    return LoadResult(**figures)


def load_program() -> Path:
    return compiled("load", "-lrdkafka", "-lpthread", ALLOCATOR)


def librdkafka_version() -> str:
    """Asked of the compiled client: what it is linked with, not what a package list says."""
    command = [load_program(), "version"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@functools.cache
def compiled(program: str, *libraries: str) -> Path:
    """The program of `client/<program>.c`, built when its source or the compiler's flags are new."""
    source = SOURCES / f"{program}.c"
    contents = [path.read_bytes() for path in (source, *sorted(SOURCES.glob("*.h")))]
    digest = digest_of(*contents, " ".join([*FLAGS, *libraries]).encode())

    def build(folder: Path) -> None:
        compiler = os.environ.get("CC", "cc")
        command = [compiler, *FLAGS, "-o", str(folder / program), str(source), *libraries]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise LoadFailed(f"no C compiler ({compiler}); run bench/install-tools") from None
        if done.returncode != 0:
            hint = (
                "; run bench/install-tools" if "rdkafka" in done.stderr or "tcmalloc" in done.stderr else ""
            )
            raise LoadFailed(f"{source.name} does not compile{hint}\n{done.stderr}")

    return cached_folder("bench", digest, build) / program
