"""InitProducerId of a transactional producer: its producer id and epoch, and which producer it fences."""

from typing import NamedTuple

from moldau.broker.txn.draft import NO_PRODUCER_ID_AVAILABLE, Draft
from moldau.broker.txn.events import EndReason, EventKind
from moldau.broker.txn.states import CLIENT_EPOCH_MAX, ENDING, TxnState
from moldau.broker.txn.transaction import Transaction
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, ProducerEpoch
from moldau.protocol.messages.transactions.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)


class Identity(NamedTuple):
    """The identity claimed by a producer that continues after an error (KIP-360)."""

    producer_id: int
    epoch: int


def decide_init_producer_id(
    draft: Draft,
    request_id: int,
    request: InitProducerIdRequest,
    version: int,
    transaction: Transaction | None,
    timeout_max_ms: int,
) -> None:
    given: Transaction | ErrorCode = _request_error(request, timeout_max_ms)
    if given is ErrorCode.NONE:
        given = _initialize(draft, request, transaction)
        if isinstance(given, ErrorCode):
            draft.note_refusal(
                transaction, "InitProducerId", given, request.producer_id, request.producer_epoch
            )
    if isinstance(given, Transaction):
        reply = InitProducerIdResponse(producer_id=given.producer_id, producer_epoch=given.producer_epoch)
    else:
        reply = _refused(given, version)
    draft.answer(request_id, reply)


def _request_error(request: InitProducerIdRequest, timeout_max_ms: int) -> ErrorCode:
    half_an_identity = (request.producer_id == NO_PRODUCER_ID) != (
        request.producer_epoch == NO_PRODUCER_EPOCH
    )
    if half_an_identity or not request.transactional_id:
        return ErrorCode.INVALID_REQUEST
    if not 0 < request.transaction_timeout_ms <= timeout_max_ms:
        return ErrorCode.INVALID_TRANSACTION_TIMEOUT
    return ErrorCode.NONE


def _refused(error: ErrorCode, version: int) -> InitProducerIdResponse:
    if error is ErrorCode.PRODUCER_FENCED and version < 4:
        # Clients before KIP-588 do not know PRODUCER_FENCED.
        error = ErrorCode.INVALID_PRODUCER_EPOCH
    return InitProducerIdResponse(
        error_code=error, producer_id=NO_PRODUCER_ID, producer_epoch=NO_PRODUCER_EPOCH
    )


def _initialize(
    draft: Draft, request: InitProducerIdRequest, transaction: Transaction | None
) -> Transaction | ErrorCode:
    """The producer's new identity, or the error for now."""
    has_identity = request.producer_id != NO_PRODUCER_ID
    owner = Identity(request.producer_id, request.producer_epoch) if has_identity else None
    if transaction is None:
        if draft.new_producer_id is None:
            return NO_PRODUCER_ID_AVAILABLE
        transaction = Transaction.fresh(request.transactional_id or "", draft.new_producer_id, draft.now_ms)
    elif owner is not None and not _may_be_owner(transaction, owner):
        return ErrorCode.PRODUCER_FENCED
    if transaction.state in ENDING:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    if transaction.state is TxnState.ONGOING:
        return _abort_first(draft, transaction, owner)
    initialized = _initialized(draft, transaction, owner, request.transaction_timeout_ms)
    if isinstance(initialized, Transaction):
        rotated = initialized.producer_id != transaction.producer_id
        draft.save(
            initialized,
            EventKind.INITIALIZED,
            f"the epochs of producer id {transaction.producer_id} were used up" if rotated else "",
        )
    return initialized


def _may_be_owner(transaction: Transaction, owner: Identity) -> bool:
    """The producer has the current producer id, or the one before: its answer may have been lost at the last
    epoch."""
    if owner.producer_id == transaction.producer_id:
        return True
    return owner.producer_id == transaction.previous_producer_id and owner.epoch >= CLIENT_EPOCH_MAX


def _abort_first(draft: Draft, transaction: Transaction, owner: Identity | None) -> ErrorCode:
    """The end raises the epoch and so fences the producer of the transaction. The client is told to retry."""
    if owner is not None and owner.epoch != transaction.producer_epoch:
        # Kafka lets a zombie abort its successor's transaction here, and fences the zombie only when it
        # retries.
        return ErrorCode.PRODUCER_FENCED
    reason = EndReason.NEW_PRODUCER if owner is None else EndReason.PRODUCER_RESTARTED
    draft.end(transaction, reason, commit=False)
    return ErrorCode.CONCURRENT_TRANSACTIONS


def _initialized(
    draft: Draft, transaction: Transaction, owner: Identity | None, timeout_ms: int
) -> Transaction | ErrorCode:
    epoch = transaction.producer_epoch
    owner_epoch = NO_PRODUCER_EPOCH
    if owner is not None and epoch != NO_PRODUCER_EPOCH:
        if owner.epoch not in (epoch, transaction.last_producer_epoch):
            return ErrorCode.PRODUCER_FENCED
        owner_epoch = ProducerEpoch(owner.epoch)
    if transaction.epoch_exhausted:
        if draft.new_producer_id is None:
            return NO_PRODUCER_ID_AVAILABLE
        return transaction.rotated(draft.new_producer_id, timeout_ms, draft.now_ms, last_epoch=owner_epoch)
    # With the epoch before, the producer repeats the request that raised it. Any other change in between
    # would have cleared this field.
    repeats = owner_epoch not in (NO_PRODUCER_EPOCH, epoch)
    return transaction.initialized(
        timeout_ms, draft.now_ms, epoch=epoch if repeats else epoch + 1, last_epoch=owner_epoch
    )
