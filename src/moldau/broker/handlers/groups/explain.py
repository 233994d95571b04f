"""Explain (20000), v0: a private API, not advertised. What the group coordinator remembers, for people to
read.
"""

from dataclasses import asdict

import orjson

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.protocol.private.explain import ExplainRequest, ExplainResponse
from moldau.security.access.model import Operation, ResourceKind


def handle(ctx: RequestContext, request: ExplainRequest) -> ExplainResponse:
    if not ctx.may(Operation.DESCRIBE, ResourceKind.GROUP, request.group_id):
        return ExplainResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    if request.topic is not None and not ctx.may(Operation.DESCRIBE, ResourceKind.TOPIC, request.topic):
        return ExplainResponse(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    shard = ctx.broker.groups.shards.find(request.group_id)
    if shard is None:
        return ExplainResponse(error_code=ErrorCode.GROUP_ID_NOT_FOUND)
    explanation = shard.explain(request.group_id, request.topic, request.partition)
    return ExplainResponse(explanation=orjson.dumps(asdict(explanation), default=str).decode())


API = ApiSpec.of(ExplainRequest, handle, is_advertised=False)
