"""The order in which a task in one process takes records from several topics."""


class TopicHeads:
    """Orders topics by the time of their next record. Equal times keep the order of Kafka's heap
    (java.util.PriorityQueue), so that a local run agrees with Kafka's test driver."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, str]] = []

    def __bool__(self) -> bool:
        return bool(self._heap)

    def offer(self, time_ms: int, topic: str) -> None:
        heap = self._heap
        heap.append((time_ms, topic))
        at = len(heap) - 1
        while at and time_ms < heap[parent := (at - 1) // 2][0]:
            heap[at], at = heap[parent], parent
        heap[at] = (time_ms, topic)

    def poll(self) -> str:
        heap = self._heap
        first, last = heap[0], heap.pop()
        if not heap:
            return first[1]
        at, half = 0, len(heap) // 2
        while at < half:
            child = 2 * at + 1
            if child + 1 < len(heap) and heap[child + 1][0] < heap[child][0]:
                child += 1
            if last[0] <= heap[child][0]:
                break
            heap[at], at = heap[child], child
        heap[at] = last
        return first[1]
