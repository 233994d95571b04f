"""Statuses of applications in Prometheus' text format (version 0.0.4). Pure: statuses in, text out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from moldau.pipeline.lifecycle import PipelineState

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
PREFIX: Final = "moldau_streams_"
CONNECT_PREFIX: Final = "moldau_connect_"

Sample = tuple[Mapping[str, str], float]


class Family(NamedTuple):
    name: str
    kind: str
    help: str
    field: str


FAMILIES: Final = (
    Family(
        "records_in_total",
        "counter",
        "Records read.",
        "records_in",
    ),
    Family(
        "records_out_total",
        "counter",
        "Records written.",
        "records_out",
    ),
    Family("records_dead_total", "counter", "Records sent to the dead-letter topic.", "records_dead"),
    Family("batches_total", "counter", "Batches done.", "batches"),
    Family("records_in_per_second", "gauge", "Records read, of the last ten seconds.", "records_in_per_s"),
    Family(
        "records_out_per_second", "gauge", "Records written, of the last ten seconds.", "records_out_per_s"
    ),
    Family("lag_records", "gauge", "Records not read yet. Absent while it is not known.", "lag_records"),
    Family(
        "lag_ms", "gauge", "How old the newest record read is, while others are unread; else 0.", "lag_ms"
    ),
    Family("batch_ms", "gauge", "How long the last batch took.", "batch_ms"),
    Family("restarts_total", "counter", "Failures after which it was started again.", "restarts"),
)


TASK_FAMILIES: Final = (
    Family("task_records_polled_total", "counter", "Records from the source, or from Kafka.", "polled"),
    Family("task_records_written_total", "counter", "Records written to Kafka, or to the target.", "written"),
    Family(
        "task_records_failed_total", "counter", "Records that were skipped because they failed.", "failed"
    ),
    Family("task_restarts_total", "counter", "How often the task was started again.", "restarts"),
    Family("task_lag_records", "gauge", "Records a sink has not read yet. Absent while not known.", "lag"),
)


def metrics_text(statuses: Sequence[Mapping[str, Any]]) -> str:
    lines: list[str] = []
    for family in FAMILIES:
        lines += _family(family, _plain(statuses, family.field))
    since = Family(
        "counting_since_seconds",
        "gauge",
        "When the application was started in this process.",
        "",
    )
    dropped = Family("records_dropped_total", "counter", "Records an operator did not take.", "")
    phase = Family("phase_ms", "gauge", "Where the last batch's time went.", "")
    transform = Family("transform_ms", "gauge", "How long the last batch of a transform() took.", "")
    late = Family("late_ms_max", "gauge", "How late the latest of the dropped records was.", "")
    state = Family("state", "gauge", "1 for the state the application is in.", "")
    lines += _family(since, _counting_since(statuses))
    lines += _family(dropped, _dropped(statuses, "records"))
    lines += _family(late, (sample for sample in _dropped(statuses, "late_ms_max") if sample[1]))
    lines += _family(phase, _times(statuses, "worker_ms", "phase"))
    lines += _family(transform, _times(statuses, "transform_ms", "transform"))
    lines += _family(state, _states(statuses))
    return "\n".join(lines) + "\n"


def connector_metrics_text(statuses: Sequence[Mapping[str, Any]]) -> str:
    lines: list[str] = []
    for family in TASK_FAMILIES:
        lines += _family(family, _of_tasks(statuses, family.field))
    state = Family("task_state", "gauge", "1 for the state the task is in.", "")
    lines += _family(state, _states_of_tasks(statuses))
    return "".join(f"{line}\n" for line in lines).replace(PREFIX, CONNECT_PREFIX)


def _of_tasks(statuses: Iterable[Mapping[str, Any]], field: str) -> Iterator[Sample]:
    for status in statuses:
        for task in status["tasks"]:
            if task[field] is not None:
                yield {"connector": status["connector"], "task": str(task["task"])}, task[field]


def _states_of_tasks(statuses: Iterable[Mapping[str, Any]]) -> Iterator[Sample]:
    for status in statuses:
        for task in status["tasks"]:
            labels = {"connector": status["connector"], "task": str(task["task"]), "state": task["state"]}
            yield labels, 1


def operator_and_reason(name: str) -> tuple[str, str]:
    """As they are joined in `PipelineMetrics.dropped`. Names of operators have no spaces, reasons may."""
    operator, _, reason = name.partition(" ")
    return operator, reason


def _plain(statuses: Iterable[Mapping[str, Any]], field: str) -> Iterator[Sample]:
    for status in statuses:
        value = status.get(field)
        if value is not None:
            yield {"application": status["application_id"]}, value


def _counting_since(statuses: Iterable[Mapping[str, Any]]) -> Iterator[Sample]:
    for status in statuses:
        if status.get("counting_since_ms"):
            yield {"application": status["application_id"]}, status["counting_since_ms"] / 1000


def _dropped(statuses: Iterable[Mapping[str, Any]], field: str) -> Iterator[Sample]:
    for status in statuses:
        for name, entry in sorted(status.get("dropped", {}).items()):
            operator, reason = operator_and_reason(name)
            yield (
                {"application": status["application_id"], "operator": operator, "reason": reason},
                entry[field],
            )


def _times(statuses: Iterable[Mapping[str, Any]], field: str, label: str) -> Iterator[Sample]:
    for status in statuses:
        for name, spent_ms in sorted(status.get(field, {}).items()):
            yield {"application": status["application_id"], label: name}, spent_ms


def _states(statuses: Iterable[Mapping[str, Any]]) -> Iterator[Sample]:
    for status in statuses:
        for state in PipelineState:
            yield (
                {"application": status["application_id"], "state": str(state)},
                int(status["state"] == state),
            )


def _family(family: Family, samples: Iterable[Sample]) -> list[str]:
    lines = [f"{PREFIX}{family.name}{{{_labels(labels)}}} {_number(value)}" for labels, value in samples]
    if not lines:
        return []
    name = f"{PREFIX}{family.name}"
    return [f"# HELP {name} {family.help}", f"# TYPE {name} {family.kind}", *lines]


def _labels(labels: Mapping[str, str]) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else repr(float(value))
