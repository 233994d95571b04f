"""The slots of this worker process. Runs each order in its slot, and keeps the slot for the next batch."""

import gc
import os
import socket
from typing import Final

from confluent_kafka import KafkaException

from moldau.pipeline.operators.failures import TaskFailed
from moldau.pipeline.spark.orders import SlotOrder, SlotReport
from moldau.pipeline.spark.worker.memory import keep_memory, return_memory, used_memory
from moldau.pipeline.spark.worker.slot import Slot

SLOTS_MAX: Final = 1_000
"""In one process, of all applications. The oldest is closed to make room."""

_slots: dict[tuple[str, int], Slot] = {}
"""By run and slot number."""


def run_slot(order: SlotOrder) -> SlotReport:
    """Runs in a Spark worker. A slot that failed is discarded, and the next order builds it again. The report carries
    the error, because the same Spark task may serve other applications."""
    here = (order.application.run_id, order.slot)
    slot = _slots.get(here)
    if order.is_last:
        if slot is not None:
            _slots.pop(here).close()
            return_memory()
        return SlotReport(order.slot)
    was_elsewhere = slot is not None and order.holder != this_process()
    # A batch creates many objects that are all freed at its end: cyclic garbage collection would take a third of it.
    gc.disable()
    try:
        if slot is None:
            slot = _new_slot(order, here)
        if was_elsewhere:
            slot.take_back()
        report = slot.run(order)
    except Exception as failure:  # noqa: BLE001 reported to the driver, which decides
        is_final = isinstance(failure, TaskFailed) and slot is not None and slot.fails_by_choice
        if here in _slots:
            _slots.pop(here).close()
        return SlotReport(order.slot, this_process(), error=_text_of(failure), is_final=is_final)
    finally:
        gc.enable()
    report.holder = this_process()
    used_memory(sum(size for _, size in report.sizes.values()))
    if order.rests:
        return_memory()
    return report


def _new_slot(order: SlotOrder, here: tuple[str, int]) -> Slot:
    application_id = order.application.application_id
    # An earlier run of the same application may have left its slot.
    for key, slot in list(_slots.items()):
        if key[1] == order.slot and slot.application_id == application_id:
            _slots.pop(key).close()
    while len(_slots) >= SLOTS_MAX:
        _slots.pop(next(iter(_slots))).close()
    keep_memory()
    slot = _slots[here] = Slot(order.application, order.slot)
    return slot


def _text_of(failure: Exception) -> str:
    if isinstance(failure, KafkaException):
        return f"KafkaException: {failure.args[0].str()}"
    return f"{type(failure).__name__}: {failure}"


def this_process() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"
