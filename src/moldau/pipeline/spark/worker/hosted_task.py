"""A task in a worker, with the files of its state."""

from moldau.pipeline.operators.task import Task
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.checkpoint.kept_state import KeptState
from moldau.pipeline.spark.checkpoint.state_files import START, StateFiles
from moldau.pipeline.spark.orders import Application, TaskId
from moldau.pipeline.spark.upgrades.inventory import keeps_state


class HostedTask:
    """`_version` is the last batch that the state contains, START if none."""

    def __init__(self, topology: Topology, task_id: TaskId, application: Application, now_ms: int) -> None:
        part = topology.sub_topologies[task_id.part]
        on_error = "dead_letter" if application.dead_letter_topic else "fail"
        self.task = Task(
            topology,
            part,
            task_id.partition,
            now_ms=now_ms,
            on_error=on_error,  # type: ignore[arg-type]
            collapse=application.record_cache,
        )
        self._keeps_state = keeps_state(part)
        kept = KeptState(self.task.state.stores, application.state_begins)
        self._files = StateFiles(
            Folder(application.state_folder).within(application.folder_of(task_id)), kept
        )
        self._version = START

    def catch_up(self, batch_id: int) -> None:
        """Brings the state to what it was before `batch_id`. Reads from the files what another process has written."""
        if not self._keeps_state:
            return
        from_nothing, deltas = self._files.changes(self._version, batch_id)
        if from_nothing:
            self.task.state.clear()
        self.task.state.load(deltas)

    def save(self, batch_id: int) -> list[tuple[str, bytes, bytes | None]]:
        """Writes the changes of the batch, and returns them."""
        if not self._keeps_state:
            return []
        deltas = self.task.state.take_changes()
        self._files.write_delta(batch_id, deltas)
        return deltas

    def committed(self, batch_id: int) -> None:
        self._version = batch_id
        if self._files.wants_snapshot:
            self._files.write_snapshot(batch_id, self.task.state.items())
