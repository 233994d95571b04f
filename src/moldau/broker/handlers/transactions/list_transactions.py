"""ListTransactions (66), v0-2.

v1 by duration (KIP-994)   v2 by pattern (KIP-1152)

Transactional ids that the client may not describe are left out.
"""

from moldau.broker.group.regex import pattern
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.errors import ApiError
from moldau.protocol.messages.transactions.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from moldau.security.access.model import Operation, ResourceKind


async def handle(ctx: RequestContext, request: ListTransactionsRequest) -> ListTransactionsResponse:
    matches = None
    if request.transactional_id_pattern:
        try:
            matches = pattern(request.transactional_id_pattern).matches
        except ApiError as error:
            return ListTransactionsResponse(
                error_code=error.code, unknown_state_filters=[], transaction_states=[]
            )
    replies = [
        await shard.ask(
            lambda machine, request_id, now_ms: machine.decide_list(request_id, request, now_ms, matches)
        )
        for shard in ctx.broker.transactions.shards
    ]
    states = [state for reply in replies for state in reply.transaction_states]
    ids = [state.transactional_id for state in states]
    seen = ctx.allowed(Operation.DESCRIBE, ResourceKind.TRANSACTIONAL_ID, ids)
    return ListTransactionsResponse(
        unknown_state_filters=replies[0].unknown_state_filters if replies else [],
        transaction_states=[state for state in states if state.transactional_id in seen],
    )


API = ApiSpec.of(ListTransactionsRequest, handle)
