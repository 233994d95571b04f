"""EndTxn: whether this producer may end this transaction, or already has. The tables are in `states`."""

from typing import Final

from moldau.broker.txn.draft import Draft
from moldau.broker.txn.events import EndReason
from moldau.broker.txn.partitions import fenced_by_name, owner_error
from moldau.broker.txn.states import (
    CLIENT_EPOCH_MAX,
    END_V1,
    END_V2,
    EPOCH_BUMP_VERSION,
    EPOCH_MAX,
    End,
    EndVerdict,
)
from moldau.broker.txn.transaction import Transaction
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.transactions.end_txn import EndTxnRequest, EndTxnResponse

V2_REQUEST_VERSION: Final = 5
"""Clients from this version on know that every end raises their epoch (KIP-890)."""

_FENCED: Final = (ErrorCode.PRODUCER_FENCED, ErrorCode.PRODUCER_FENCED)


def decide_end_txn(
    draft: Draft, request_id: int, request: EndTxnRequest, version: int, transaction: Transaction | None
) -> None:
    is_v2 = version >= V2_REQUEST_VERSION
    result = _end(draft, request, transaction, is_v2=is_v2)
    if isinstance(result, ErrorCode):
        api = "EndTxn to commit" if request.committed else "EndTxn to abort"
        draft.note_refusal(transaction, api, result, request.producer_id, request.producer_epoch)
        draft.answer(request_id, EndTxnResponse(error_code=fenced_by_name(result, version)))
    elif is_v2:
        reply = EndTxnResponse(producer_id=result.producer_id, producer_epoch=result.producer_epoch)
        draft.answer(request_id, reply)
    else:
        draft.answer(request_id, EndTxnResponse())


def _end(
    draft: Draft, request: EndTxnRequest, transaction: Transaction | None, *, is_v2: bool
) -> Transaction | ErrorCode:
    """The transactional id as the client must know it from now on, or the error."""
    if not request.transactional_id:
        return ErrorCode.INVALID_REQUEST
    if transaction is None:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    verdict = _verdict_v2(transaction, request) if is_v2 else _verdict_v1(transaction, request)
    if isinstance(verdict, ErrorCode):
        return verdict
    if verdict is End.DONE_BEFORE:
        if transaction.producer_epoch == EPOCH_MAX:
            # The very last epoch, at which the coordinator may have ended the transaction, is never given to
            # a client.
            return ErrorCode.PRODUCER_FENCED
        draft.confirm(transaction)
        return transaction
    client_version = EPOCH_BUMP_VERSION if is_v2 else 0
    return draft.end(transaction, EndReason.CLIENT, commit=request.committed, client_version=client_version)


def _verdict_v1(transaction: Transaction, request: EndTxnRequest) -> EndVerdict:
    error = owner_error(transaction, request.producer_id, request.producer_epoch)
    return END_V1[transaction.state][request.committed] if error is ErrorCode.NONE else error


def _verdict_v2(transaction: Transaction, request: EndTxnRequest) -> EndVerdict:
    """The current epoch means the next transaction; a retry has the epoch before.

    Only an end by this protocol version raises the epoch. Kafka does not check which it was: there a zombie
    whose successor is an older client takes over its successor's epoch.
    """
    raised = transaction.client_version >= EPOCH_BUMP_VERSION
    retried_over_new_id = (
        request.producer_id == transaction.previous_producer_id
        and request.producer_epoch == CLIENT_EPOCH_MAX
        and transaction.producer_epoch == 0
    )
    if request.producer_id != transaction.producer_id and not retried_over_new_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    retried = retried_over_new_id or (raised and request.producer_epoch == transaction.producer_epoch - 1)
    if not retried and request.producer_epoch != transaction.producer_epoch:
        return ErrorCode.PRODUCER_FENCED
    return END_V2.get((transaction.state, retried), _FENCED)[request.committed]
