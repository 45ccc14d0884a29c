"""The published openapi.json, held by schemathesis: every answer has a status, type and form that it names."""
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error, CHECKS

from conftest import Server


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    running = Server("--batch-folder", str(tmp_path_factory.mktemp("kept")))
    yield running
    running.stop()


@pytest.fixture
def schema(kept):
    return schemathesis.openapi.from_url(f"http://127.0.0.1:{kept.port}/openapi.json")


lazy = schemathesis.pytest.from_fixture("schema")


@lazy.parametrize()
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck),
          phases=[Phase.explicit, Phase.generate])
def test_every_answer_is_as_it_is_described(case):
    case.call_and_validate()
