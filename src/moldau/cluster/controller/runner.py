"""Runs the controller on one broker: stands for election, and decides while it is elected.

Runs on the owner's thread. Decisions and writes are made on a worker thread, one at a time, each on an immutable
image. Every write is fenced by the controller epoch and by the version of the node it changes, so a deposed controller
that does not know it yet does no harm.
"""

import logging
from dataclasses import dataclass
from functools import partial
from typing import Final

from moldau.cluster.controller.balance import decide_balance
from moldau.cluster.controller.machine import (
    Decision,
    affected_topics,
    decide_asked,
    decide_finished_deletions,
    decide_topics,
)
from moldau.cluster.controller.writing import Deposed, Term, resign, stand_for_election, write_decision
from moldau.coordination.image import NO_CONTROLLER, ClusterImage, ImageDelta
from moldau.coordination.image_updater import ImageUpdater
from moldau.coordination.store import Store
from moldau.core.errors import StorageFault
from moldau.core.ports import Cancellable, Clock, Scheduler

RETRY_MS: Final = 1000
_log = logging.getLogger("moldau.controller")


@dataclass(frozen=True, slots=True)
class ControllerSettings:
    unclean_default: bool = False
    """`unclean.leader.election.enable` of this broker's own configuration."""
    tidying_interval_ms: int = 300_000
    balances_leaders: bool = True
    imbalance_percentage: int = 10


class ControllerRunner:
    def __init__(
        self,
        store: Store,
        images: ImageUpdater,
        broker_id: int,
        clock: Clock,
        scheduler: Scheduler,
        settings: ControllerSettings = ControllerSettings(),
    ) -> None:
        self._store = store
        self._images = images
        self._broker_id = broker_id
        self._clock = clock
        self._scheduler = scheduler
        self._settings = settings
        self._term: Term | None = None
        self._affected: set[str] = set()
        self._has_work = False
        self._is_busy = False
        self._is_stopped = False
        self._must_tidy = False
        self._timer: Cancellable | None = None
        self._marks: frozenset[str] = frozenset()

    @property
    def is_active(self) -> bool:
        """Whether this broker believes to be the controller."""
        return self._term is not None

    def start(self) -> None:
        """Called once the broker is registered and the first image is loaded."""
        self._images.subscribe(self)
        self._wake()

    async def stop(self) -> None:
        self._is_stopped = True
        if self._timer is not None:
            self._timer.cancel()
        if self._term is not None:
            self._term = None
            try:
                await self._scheduler.run_in_worker(partial(resign, self._store, self._broker_id))
            except StorageFault:
                return  # The node goes when the session ends.

    def image_changed(self, image: ClusterImage, delta: ImageDelta) -> None:
        self._affected |= affected_topics(image, delta)
        self._notice_deposition(image)
        self._wake()

    def disconnected(self) -> None:
        """Nothing can be written now. Whether the term has ended is known after reconnecting."""

    def connected(self, *, new_session: bool) -> None:
        if new_session:
            self._step_down("its session expired")
        self._affected |= set(self._images.image.topics)
        self._wake()

    def _notice_deposition(self, image: ClusterImage) -> None:
        term = self._term
        if term is None:
            return
        is_older = image.controller_epoch < term.epoch
        if not is_older and (image.controller_epoch, image.controller_id) != (term.epoch, self._broker_id):
            self._step_down(
                "another broker may be elected"
                if image.controller_id == NO_CONTROLLER
                else "another broker was elected"
            )

    def _step_down(self, why: str) -> None:
        if self._term is not None:
            _log.info("[Controller id=%d] Resigning: %s", self._broker_id, why)
            self._term = None
            if self._timer is not None:
                self._timer.cancel()

    def _wake(self) -> None:
        self._has_work = True
        if not self._is_busy and not self._is_stopped:
            self._is_busy = True
            self._scheduler.spawn(self._work())

    async def _work(self) -> None:
        try:
            while self._has_work and not self._is_stopped:
                self._has_work = False
                await self._work_once()
        finally:
            self._is_busy = False

    async def _work_once(self) -> None:
        image = self._images.image
        names, self._affected = self._affected, set()
        try:
            if self._term is None:
                await self._stand(image)
            else:
                await self._decide(self._term, image, names)
        except Deposed:
            self._step_down("another broker was elected")
        except StorageFault as fault:
            _log.warning("[Controller id=%d] %s", self._broker_id, fault)
            self._affected |= names
            self._scheduler.call_later(RETRY_MS, self._wake)

    async def _stand(self, image: ClusterImage) -> None:
        if image.controller_id != NO_CONTROLLER or self._broker_id not in image.brokers:
            return
        job = partial(stand_for_election, self._store, self._broker_id, self._clock.now_ms())
        term = await self._scheduler.run_in_worker(job)
        if term is None or self._is_stopped:
            return
        _log.info("[Controller id=%d] elected in epoch %d", self._broker_id, term.epoch)
        self._term = term
        self._affected |= set(self._images.image.topics)
        self._has_work = True
        self._schedule_tidying()

    async def _decide(self, term: Term, image: ClusterImage, names: set[str]) -> None:
        must_tidy, self._must_tidy = self._must_tidy, False

        def job() -> None:
            write_decision(self._store, term, decide_asked(image))
            write_decision(
                self._store, term, decide_topics(image, sorted(names), self._settings.unclean_default)
            )
            if must_tidy:
                self._tidy(term, image)

        await self._scheduler.run_in_worker(job)

    def _tidy(self, term: Term, image: ClusterImage) -> None:
        finished, self._marks = decide_finished_deletions(image, self._marks)
        write_decision(self._store, term, finished)
        if self._settings.balances_leaders:
            balance = decide_balance(image, self._settings.imbalance_percentage)
            write_decision(self._store, term, Decision(states=balance))

    def _schedule_tidying(self) -> None:
        self._timer = self._scheduler.call_later(self._settings.tidying_interval_ms, self._tidying_due)

    def _tidying_due(self) -> None:
        if self._term is not None and not self._is_stopped:
            self._must_tidy = True
            self._schedule_tidying()
            self._wake()
