"""Requests generated from the OpenAPI schema: no status 500, and tables stay intact."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from play_server import TABLE_REQUESTS, RunningServer


def hostile(server: RunningServer, examples: int) -> None:
    """Send `examples` valid and invalid requests to each route, with the session of an open table."""
    client = server.client()
    table = client.open(TABLE_REQUESTS["big2"])
    schema = schemathesis.openapi.from_url(f"{server.base}/api/openapi.json")
    cookies = dict(client.http.cookies)
    for operation in schema.get_all_operations():
        _attack(operation.ok(), examples, cookies, table["id"])
    assert client.get(f"/api/tables/{table['id']}")["game"] == "big2"
    fresh = server.client()
    fresh.finish(fresh.open(TABLE_REQUESTS["open_face"]))


def _attack(operation, examples, cookies, table_id):
    modes = schemathesis.GenerationMode
    cases = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in (modes.POSITIVE, modes.NEGATIVE)))

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases, real=st.booleans())
    def run(case, real):
        if real and "table_id" in case.path_parameters:
            case.path_parameters["table_id"] = table_id
        case.call_and_validate(
            cookies=cookies, checks=[not_a_server_error, status_code_conformance, response_schema_conformance]
        )

    run()


def test_generated_requests(server):
    hostile(server, 12)


@pytest.mark.slow
def test_many_generated_requests(server):
    hostile(server, 250)
