"""The plugin in a user's test suite."""

import subprocess
import sys

import pytest

pytest_plugins = "pytester"


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Only this plugin is loaded, installed or not."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "moldau.testing.pytest_plugin")
    return pytester


def test_a_cluster_for_the_session_and_a_topic_for_each_test(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        """
        import pytest
        from confluent_kafka.admin import AdminClient

        seen = {}

        @pytest.mark.parametrize("what", ["a b", "ä" * 300])
        def test_topic(moldau_topic, moldau_bootstrap, what):
            assert moldau_topic.startswith("test_topic-")
            topics = AdminClient({"bootstrap.servers": moldau_bootstrap}).list_topics(timeout=10).topics
            assert len(topics[moldau_topic].partitions) == 1
            seen[moldau_topic] = moldau_bootstrap

        def test_they_differed(moldau_cluster):
            assert len(seen) == 2
            assert set(seen.values()) == {moldau_cluster.bootstrap_servers}

        @pytest.mark.moldau_topic(partitions=3, configs={"cleanup.policy": "compact"})
        def test_marked(moldau_topic, moldau_bootstrap):
            topics = AdminClient({"bootstrap.servers": moldau_bootstrap}).list_topics(timeout=10).topics
            assert len(topics[moldau_topic].partitions) == 3
        """
    )
    suite.runpytest("--strict-markers", "-W", "error").assert_outcomes(passed=4)


def test_settings_by_configuration_file(suite: pytest.Pytester) -> None:
    suite.makeini(
        """
        [pytest]
        moldau_settings =
            num.partitions = 4
            auto.create.topics.enable=false
        """
    )
    suite.makepyfile(
        """
        def test_settings(moldau_cluster):
            assert moldau_cluster.settings["num.partitions"] == "4"
            assert moldau_cluster.settings["auto.create.topics.enable"] == "false"
        """
    )
    suite.runpytest().assert_outcomes(passed=1)


def test_settings_by_fixture(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        """
        import pytest

        @pytest.fixture(scope="session")
        def moldau_settings():
            return {"num.partitions": "5"}

        def test_settings(moldau_cluster):
            assert moldau_cluster.settings["num.partitions"] == "5"
        """
    )
    suite.runpytest().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [("num.partitions 4", "*does not have the form key=value*"), ("num.partitons=4", "*num.partitions*")],
)
def test_wrong_settings_say_what_is_wrong(suite: pytest.Pytester, line: str, complaint: str) -> None:
    suite.makeini(f"[pytest]\nmoldau_settings = {line}")
    suite.makepyfile("def test_it(moldau_cluster): pass")
    result = suite.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([complaint])


def test_faults_end_with_their_test(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        """
        def test_one(moldau_faults):
            moldau_faults.drop("Produce", times=None)

        def test_next(moldau_cluster):
            assert moldau_cluster.faults.armed == []
        """
    )
    suite.runpytest().assert_outcomes(passed=2)


def test_who_needs_no_broker_does_not_pay_for_one() -> None:
    program = """
import sys, pytest
before = set(sys.modules)
import moldau.testing.pytest_plugin
print(*sorted(set(sys.modules) - before))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["moldau", "moldau.testing", "moldau.testing.pytest_plugin"]
