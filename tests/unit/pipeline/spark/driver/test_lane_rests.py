"""How long a lane rests after what it has sent."""

import threading

from moldau.pipeline.spark.driver.lanes import LIGHT_RECORDS_MAX, REST_S_MAX, Lanes, rest_s
from moldau.pipeline.spark.orders import Application, SlotOrder, SlotReport, TaskId, TaskOrder
from moldau.pipeline.spark.positions import OffsetRange

PATIENCE_S = 60


def order(application_id: str, records: int = 1, slot: int = 0) -> SlotOrder:
    task = TaskOrder(TaskId(0, slot), (OffsetRange("in", slot, 10, 10 + records),))
    application = Application(application_id, "c", "s", {}, True, None, "", b"", {}, "run")
    return SlotOrder(application, slot, 0, (task,))


def test_one_application_is_never_kept_waiting() -> None:
    assert rest_s([]) == 0
    assert rest_s([order("one")]) == 0
    assert rest_s([order("one", slot=slot) for slot in range(8)]) == 0


def test_light_orders_of_several_applications_are_gathered() -> None:
    two = rest_s([order("one"), order("two")])
    assert 0 < two < REST_S_MAX
    assert rest_s([order(str(number)) for number in range(50)]) == REST_S_MAX


def test_a_backlog_is_not_kept_waiting() -> None:
    assert rest_s([order("one", 2 * LIGHT_RECORDS_MAX), order("two", 2)]) == 0


def test_every_order_is_answered_though_the_lane_rests() -> None:
    sent: list[int] = []
    begun = threading.Event()

    def send(_: int, orders: list[SlotOrder]) -> list[SlotReport]:
        begun.wait(PATIENCE_S)
        sent.append(len(orders))
        return [SlotReport(one.slot) for one in orders]

    lanes = Lanes(1, send)  # type: ignore[arg-type]
    futures = [lanes.submit(0, order(f"app-{number}", slot=number)) for number in range(100)]
    begun.set()
    assert [future.result(PATIENCE_S).slot for future in futures] == list(range(100))
    assert sum(sent) == 100
    lanes.close()
