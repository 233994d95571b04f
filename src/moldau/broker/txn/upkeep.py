"""Time-based work on transactional ids: ends transactions that reached their timeout, removes expired ids."""

from collections.abc import Iterable

from moldau.broker.txn.draft import Draft
from moldau.broker.txn.events import EndReason, EventKind
from moldau.broker.txn.facts import TransactionRemoved
from moldau.broker.txn.settings import (
    EXPIRATIONS_PAUSE_MS,
    EXPIRATIONS_PER_CHECK_MAX,
    TxnSettings,
)
from moldau.broker.txn.states import AT_REST, TxnState
from moldau.broker.txn.timers import ExpirationTimer
from moldau.broker.txn.transaction import Transaction
from moldau.core.ids import Millis
from moldau.core.machine import SetTimer


def decide_transaction_timer(draft: Draft, transaction: Transaction | None) -> None:
    """Aborts a transaction that reached its timeout. That raises the epoch, so its producer learns of it with
    the next request."""
    if transaction is None or transaction.state is not TxnState.ONGOING:
        return
    if transaction.deadline_ms is None or draft.now_ms < transaction.deadline_ms:
        draft.time_out(transaction)
    else:
        draft.end(transaction, EndReason.TIMEOUT, commit=False)


def decide_expiration_timer(draft: Draft, transactions: Iterable[Transaction], settings: TxnSettings) -> None:
    unused_since_ms = draft.now_ms - settings.transactional_id_expiration_ms
    expired = [
        transaction
        for transaction in transactions
        if transaction.state in AT_REST and transaction.last_update_ms <= unused_since_ms
    ]
    for transaction in expired[:EXPIRATIONS_PER_CHECK_MAX]:
        draft.record(TransactionRemoved(transaction.transactional_id))
        draft.note(transaction, EventKind.EXPIRED)
    more = len(expired) > EXPIRATIONS_PER_CHECK_MAX
    time_expiration(draft, EXPIRATIONS_PAUSE_MS if more else settings.expiration_check_interval_ms)


def time_expiration(draft: Draft, delay_ms: int) -> None:
    draft.time(SetTimer(ExpirationTimer(), Millis(draft.now_ms + delay_ms)))
