"""Tasks end with their scheduler, and no coroutine is left unawaited."""

import asyncio

from moldau.node.loop_scheduler import LoopScheduler


async def inner(seen: list[str]) -> None:
    try:
        seen.append("begun")
        await asyncio.Event().wait()
    finally:
        seen.append("ended")


def test_what_was_spawned_just_before_the_end_is_begun_and_ended() -> None:
    """pytest turns a coroutine that was never awaited into an error."""
    seen: list[str] = []

    async def outer() -> None:
        await inner(seen)

    async def main() -> None:
        scheduler = LoopScheduler(asyncio.get_running_loop(), name="test", workers_max=1)
        scheduler.spawn(outer())
        await scheduler.close()

    asyncio.run(main())
    assert seen == ["begun", "ended"]
