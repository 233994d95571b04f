"""Connectors without tasks: what the worker does with a connector, without Spark."""

from collections.abc import Sequence

from moldau.core.settings.key import Importance, password, string
from moldau.pipeline.connect.api import (
    ConnectError,
    SinkConnector,
    SinkTask,
    SourceConnector,
    SourceTask,
)
from moldau.pipeline.connect.declarations import Declaration, Texts

DECLARATIONS = (
    Declaration(string("colour", "", "The colour.", importance=Importance.HIGH), is_required=True),
    Declaration(password("secret", "A secret.")),
    Declaration(string("fails", "", "With which message the connector fails to start.")),
)


class IdleSource(SourceConnector):
    declarations = DECLARATIONS
    task_class = SourceTask
    version = "7"

    def start(self, config: Texts) -> None:
        if config.get("fails"):
            raise ConnectError(f"{config['fails']} with the secret {config.get('secret')}")
        super().start(config)

    def waits_for(self) -> str | None:
        return self.config.get("waits")

    def task_configs(self, tasks_max: int) -> Sequence[Texts]:
        return []


class IdleSink(SinkConnector):
    declarations = DECLARATIONS
    task_class = SinkTask

    def task_configs(self, tasks_max: int) -> Sequence[Texts]:
        return []


class BrokenSource(IdleSource):
    """Has a mistake in its code."""

    def start(self, config: Texts) -> None:
        raise RuntimeError(f"there is no paint of the colour {config['colour']}")
