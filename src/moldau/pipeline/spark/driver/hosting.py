"""The applications and connectors of one process: each is added, started, paused, stopped and removed on its own.

Keeps them by name: the application id, or the file name of a file that could not be loaded. They share the Spark
session of the process. Each has a `PipelineApp` or a `ConnectorApp` that runs it.
"""

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, ConfigError
from moldau.pipeline.connect.runtime.plan import ConnectorPlan
from moldau.pipeline.lifecycle import PipelineMetrics, PipelineState
from moldau.pipeline.spark.application import PipelineApp
from moldau.pipeline.spark.connectors.connector_app import ConnectorApp
from moldau.pipeline.spark.driver.loading import LOAD_S_MAX, Loaded, Loader
from moldau.pipeline.spark.session import SparkSettings
from moldau.pipeline.spark.settings import AppSettings
from moldau.pipeline.views.view_host import ViewHost

ENDS: Final = frozenset({PipelineState.STOPPED, PipelineState.FAILED})
RESTING: Final = ENDS | {PipelineState.CREATED}
"""It does not run and can be started."""


@dataclass
class Hosted:
    """One application. `app` is None if its file could not be loaded; `refused` says why."""

    name: str
    file: str
    app: PipelineApp | ConnectorApp | None = None
    views: ViewHost | None = None
    refused: str | None = None
    wanted: PipelineState = PipelineState.RUNNING
    """The state that was requested last: running, paused or stopped."""

    @property
    def state(self) -> PipelineState:
        return PipelineState.FAILED if self.app is None else self.app.state

    def status(self) -> dict[str, Any]:
        """`lag_records` is None while it is not known: before the first batch, and while nothing runs. A connector has
        the states of its tasks instead of measurements."""
        if isinstance(self.app, ConnectorApp):
            own = self.app.status()
            return {"application_id": self.name, **own, "file": self.file, "wanted": self.wanted}
        if self.app is None:
            metrics = PipelineMetrics(state=PipelineState.FAILED, last_error=self.refused)
        else:
            metrics = self.app.metrics
        told = {"application_id": self.name, **asdict(metrics)}
        if metrics.state is not PipelineState.RUNNING:
            told |= {"lag_records": None, "lag_ms": None, "records_in_per_s": 0.0, "records_out_per_s": 0.0}
        letters = None if self.app is None else self.app.settings.dead_letters_go_to
        return {**told, "dead_letter_topic": letters, "file": self.file, "wanted": self.wanted}


class Host:
    """`settings` are the fields of `AppSettings` except the application id, the same for all. Files in `folders` may be
    added while the process runs."""

    def __init__(
        self,
        settings: Mapping[str, Any],
        spark: SparkSettings,
        folders: Sequence[Path] = (),
        *,
        with_views: bool = False,
        load_s_max: float = LOAD_S_MAX,
    ) -> None:
        self._settings = dict(settings)
        self._spark = spark
        self._folders = [folder.resolve() for folder in folders]
        self._with_views = with_views
        self._changing = threading.RLock()
        self._loader = Loader(load_s_max)
        self._hosted: Mapping[str, Hosted] = {}
        """Replaced, never mutated, because other threads read it without the lock."""

    @property
    def takes_more(self) -> bool:
        return bool(self._folders)

    def all(self) -> list[Hosted]:
        return list(self._hosted.values())

    def __getitem__(self, name: str) -> Hosted:
        """Raises ApiError for an unknown name."""
        known = self._hosted
        found = known.get(name)
        names = ", ".join(sorted(known)) or "none"
        if found is None:
            raise ApiError(
                ErrorCode.RESOURCE_NOT_FOUND, f"this process has no application {name!r}; it has: {names}"
            )
        return found

    def add(self, file: str, wanted: PipelineState = PipelineState.RUNNING) -> Hosted:
        """Loads a file and starts the application, unless another state is wanted. Raises ConfigError if it cannot."""
        self._require_new(file)
        loaded = self._loader.load(file)
        with self._changing:
            return self._put(file, loaded, wanted)

    def _require_new(self, file: str) -> None:
        if any(one.app is not None and same_file(one.file, file) for one in self._hosted.values()):
            raise ConfigError(f"{file} is in this process already")

    def _put(self, file: str, loaded: Loaded, wanted: PipelineState) -> Hosted:
        with self._changing:
            if any(same_file(one.file, file) for one in self._hosted.values()):
                raise ConfigError(f"{file} is in this process already")
            name = loaded.application_id
            if name in self._hosted:
                raise ConfigError(
                    f"{file} defines the application {name}, which {self._hosted[name].file} already defines: "
                    "an application runs only once. Give one of them another application id"
                )
            hosted = Hosted(name, file, wanted=wanted)
            self._make(hosted, loaded)
            self._hosted = {**self._hosted, name: hosted}
            self._set_off(hosted)
            return hosted

    def add_refused(self, file: str, why: str) -> Hosted:
        """Shows a file that could not be added at the start as a failed application."""
        with self._changing:
            name = file if Path(file).name in self._hosted else Path(file).name
            hosted = Hosted(name, file, refused=why)
            self._hosted = {**self._hosted, name: hosted}
            return hosted

    def add_from_folders(self, file: str) -> Hosted:
        """For requests over HTTP: only files in the folders that were named at the start."""
        path = Path(file)
        candidates = [path] if path.is_absolute() else [folder / path for folder in self._folders]
        for candidate in candidates:
            real = candidate.resolve()
            if real.is_file() and any(real.parent == folder for folder in self._folders):
                return self._add_again(str(real))
        where = ", ".join(map(str, self._folders)) or "none was named"
        raise ConfigError(
            f"{file} is no file of the folders this process was started with ({where}): put it there, or name its "
            "folder when you start `moldau streams run`"
        )

    def start(self, name: str) -> Hosted:
        """Loads the file again, so that a corrected file takes effect. Resumes a paused application."""
        hosted = self[name]
        if hosted.app is None:
            return self._add_again(hosted.file)
        if hosted.state is PipelineState.PAUSED:
            return self.resume(name)
        self._require_resting(hosted)
        loaded = self._load_again(hosted)
        with self._changing:
            self._require_same(hosted)
            self._require_resting(hosted)
            self._make(hosted, loaded)
            hosted.wanted = PipelineState.RUNNING
            self._set_off(hosted)
            return hosted

    def reload(self, name: str) -> Hosted:
        """Loads the file of a running connector again: tasks for which something has changed start again, the others
        go on. One that does not run is started."""
        hosted = self[name]
        if hosted.app is None or hosted.state in RESTING:
            return self.start(name)
        if not isinstance(hosted.app, ConnectorApp):
            raise _conflict(f"{name} is no connector: stop and start it")
        loaded = self._load_again(hosted)
        with self._changing:
            self._require_same(hosted)
            if not isinstance(loaded, ConnectorPlan):
                raise ConfigError(f"{hosted.file} defines a connector no more: remove {name} first")
            hosted.app.update(loaded)
            return hosted

    def _load_again(self, hosted: Hosted) -> Loaded:
        loaded = self._loader.load_within_limit(hosted.file)
        if loaded.application_id != hosted.name:
            raise ConfigError(
                f"{hosted.file} now defines the application {loaded.application_id}: remove {hosted.name} from this "
                "process and add the file again"
            )
        return loaded

    def _require_same(self, hosted: Hosted) -> None:
        if self[hosted.name] is not hosted:
            raise _conflict(f"{hosted.name} was replaced while its file was loaded: try again")

    def _require_resting(self, hosted: Hosted) -> None:
        if hosted.state not in RESTING:
            raise _conflict(f"{hosted.name} is {hosted.state}: there is nothing to start")

    def pause(self, name: str) -> Hosted:
        with self._changing:
            hosted = self._running(name, "pause")
            assert hosted.app is not None
            hosted.wanted = PipelineState.PAUSED
            hosted.app.pause()
            return hosted

    def resume(self, name: str) -> Hosted:
        with self._changing:
            hosted = self._running(name, "resume")
            assert hosted.app is not None
            hosted.wanted = PipelineState.RUNNING
            hosted.app.resume()
            return hosted

    def stop(self, name: str) -> Hosted:
        """Returns when its batch is done. The other applications continue meanwhile."""
        hosted = self[name]
        with self._changing:
            hosted.wanted = PipelineState.STOPPED
        _stop(hosted)
        if hosted.state not in RESTING:
            raise _conflict(f"{name} has not stopped yet: its batch takes long. Try again")
        return hosted

    def remove(self, name: str) -> Hosted:
        """Stops it and removes it from this process. Its checkpoint, its offsets and its topics stay."""
        hosted = self.stop(name)
        with self._changing:
            self._hosted = {other: one for other, one in self._hosted.items() if other != name}
        return hosted

    def stop_all(self) -> None:
        """In parallel, so that a slow one does not delay the others."""
        threads = [threading.Thread(target=_stop, args=(hosted,)) for hosted in self.all()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _add_again(self, file: str) -> Hosted:
        """Adds a file. If it could not be loaded before, the failed entry is replaced once it can."""
        self._require_new(file)
        try:
            loaded = self._loader.load_within_limit(file)
        except ConfigError as refused:
            self._refuse_again(file, str(refused))
            raise
        with self._changing:
            before = self._hosted
            failed = self._failed_of(file)
            self._hosted = {name: one for name, one in before.items() if one not in failed}
            try:
                return self._put(file, loaded, PipelineState.RUNNING)
            except ConfigError as refused:
                self._hosted = before
                self._refuse_again(file, str(refused))
                raise

    def _refuse_again(self, file: str, why: str) -> None:
        for one in self._failed_of(file):
            one.refused = why

    def _failed_of(self, file: str) -> list[Hosted]:
        return [one for one in self._hosted.values() if one.app is None and same_file(one.file, file)]

    def _make(self, hosted: Hosted, loaded: Loaded) -> None:
        if isinstance(loaded, ConnectorPlan):
            hosted.app, hosted.refused = ConnectorApp(loaded, self._spark), None
            return
        settings = AppSettings(loaded.application_id, **self._settings)
        app = PipelineApp(loaded, settings, self._spark)
        if self._with_views:
            if hosted.views is not None:
                hosted.views.stop()
            clients = {**settings.client_settings, "bootstrap.servers": settings.bootstrap_servers}
            hosted.views = ViewHost(loaded, settings.application_id, clients)
            hosted.views.start()
        hosted.app, hosted.refused = app, None

    def _set_off(self, hosted: Hosted) -> None:
        assert hosted.app is not None
        if hosted.wanted is PipelineState.STOPPED:
            return
        if hosted.wanted is PipelineState.PAUSED:
            hosted.app.pause()
        hosted.app.start()

    def _running(self, name: str, what: str) -> Hosted:
        hosted = self[name]
        if hosted.state in RESTING:
            raise _conflict(f"{name} is {hosted.state}: start it before you {what} it")
        return hosted


def same_file(one: str, other: str) -> bool:
    return Path(one).resolve() == Path(other).resolve()


def states(hosted: Iterable[Hosted]) -> list[PipelineState]:
    return [one.state for one in hosted]


def _stop(hosted: Hosted) -> None:
    if hosted.views is not None:
        hosted.views.stop()
        hosted.views = None
    if hosted.app is not None and hosted.state not in RESTING:
        hosted.app.stop()


def _conflict(why: str) -> ApiError:
    return ApiError(ErrorCode.DUPLICATE_RESOURCE, why)
