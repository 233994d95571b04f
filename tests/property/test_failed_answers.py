"""Failures a test arms: whatever a client asks, in whatever version, the answer can be read and says just that."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
from codec_messages import messages, versions_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from e2e.wire import WireClient
from moldau.broker.handlers import HANDLERS
from moldau.broker.request.api_table import ApiSpec
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages import API_NAMES
from moldau.protocol.messages.log.fetch import FetchRequest
from moldau.protocol.messages.log.produce import ProduceRequest
from moldau.protocol.spec import fields_of
from moldau.testing import LocalCluster
from moldau.testing.failed_answers import ERROR_FIELDS, can_fail

CODE = ErrorCode.POLICY_VIOLATION
"""Not one that the broker answers of its own accord."""

each_api = pytest.mark.parametrize(
    "spec",
    [spec for spec in HANDLERS if can_fail(spec) and spec.key in API_NAMES],
    ids=lambda spec: spec.name,
)
few = settings(
    max_examples=10,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster() as cluster:
        yield cluster


@each_api
@few
@given(data=st.data())
def test_the_answer_carries_the_error(cluster: LocalCluster, spec: ApiSpec, data: st.DataObject) -> None:
    version = data.draw(st.sampled_from(versions_of(spec.request)))
    request = data.draw(messages(spec.request, version))
    if isinstance(request, FetchRequest):
        request = dataclasses.replace(request, max_wait_ms=0, session_id=0, session_epoch=-1)
    elif isinstance(request, ProduceRequest):
        request = dataclasses.replace(request, acks=1)
    cluster.faults.clear()
    fault = cluster.faults.fail(spec.name, CODE)
    with WireClient(int(cluster.bootstrap_servers.rpartition(":")[2])) as client:
        answer = client.call(request, version)
    codes = set(_error_codes(answer))
    assert (CODE in codes) == (fault.hits == 1)
    if fault.hits:
        assert codes <= {CODE, ErrorCode.NONE}
    else:
        assert "=[]" in repr(request) or "=None" in repr(request), "it was about something, and did not fail"


@each_api
def test_every_version_has_a_place_for_it(cluster: LocalCluster, spec: ApiSpec) -> None:
    with WireClient(int(cluster.bootstrap_servers.rpartition(":")[2])) as client:
        for version in versions_of(spec.request):
            cluster.faults.clear()
            fault = cluster.faults.fail(spec.name, CODE)
            answer = client.call(_about_one_thing(spec.request, version), version)
            assert fault.hits == 1, f"v{version}"
            assert CODE in set(_error_codes(answer)), f"v{version}"


def _about_one_thing(structure: type[Any], version: int) -> Any:
    """Every list has one element."""
    values: dict[str, Any] = {}
    for field in fields_of(structure):
        if version in field.versions and field.is_array:
            scalar = "one" if field.of == "string" else 1
            values[field.name] = [
                _about_one_thing(field.of, version) if isinstance(field.of, type) else scalar
            ]
        elif field.name == "acks":
            values[field.name] = 1
    return structure(**values)


def _error_codes(part: Any) -> Iterator[int]:
    for name in getattr(part, "__slots__", ()):
        value = getattr(part, name)
        if name in ERROR_FIELDS:
            yield value
        for each in value if isinstance(value, list) else [value]:
            yield from _error_codes(each)
