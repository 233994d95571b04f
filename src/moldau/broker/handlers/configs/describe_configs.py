"""DescribeConfigs (32), v1-4.

v1 source and synonyms   v3 type and documentation (KIP-569)   v4 flexible

Every key is described, not only those that were set. A request without keys means all of them; an unknown key
is left out.
"""

from moldau.broker.configs.config_admin import describe
from moldau.broker.configs.config_entries import ConfigEntry
from moldau.broker.handlers.configs.config_access import check_config_access
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.errors import ApiError
from moldau.protocol.messages.configs.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from moldau.security.access.model import Operation


def handle(ctx: RequestContext, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    # A resource that is named twice is answered once.
    wanted = {(each.resource_type, each.resource_name): each for each in request.resources}
    return DescribeConfigsResponse(results=[_describe(ctx, request, each) for each in wanted.values()])


API = ApiSpec.of(DescribeConfigsRequest, handle)


def _describe(
    ctx: RequestContext, request: DescribeConfigsRequest, resource: DescribeConfigsResource
) -> DescribeConfigsResult:
    wanted = frozenset(resource.configuration_keys or ())
    try:
        check_config_access(ctx, Operation.DESCRIBE_CONFIGS, resource.resource_type, resource.resource_name)
        entries = describe(ctx.broker.configs, resource.resource_type, resource.resource_name)
    except ApiError as error:
        return DescribeConfigsResult(
            error_code=error.code,
            error_message=error.message,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
            configs=[],
        )
    return DescribeConfigsResult(
        error_message="",
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=[_result(request, entry) for entry in entries if not wanted or entry.name in wanted],
    )


def _result(request: DescribeConfigsRequest, entry: ConfigEntry) -> DescribeConfigsResourceResult:
    synonyms = entry.synonyms if request.include_synonyms else ()
    return DescribeConfigsResourceResult(
        name=entry.name,
        value=entry.value,
        read_only=entry.is_read_only,
        config_source=entry.source,
        is_sensitive=entry.is_sensitive,
        synonyms=[
            DescribeConfigsSynonym(name=name, value=text, source=source) for name, text, source in synonyms
        ],
        config_type=entry.type,
        documentation=entry.documentation if request.include_documentation else None,
    )
