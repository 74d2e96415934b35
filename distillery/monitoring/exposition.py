"""All figures in the text format of Prometheus."""

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from distillery.monitoring.folder import FOLDER
from distillery.monitoring.gauges import InstallationCollector

CONTENT_TYPE = CONTENT_TYPE_LATEST


def exposition() -> bytes:
    """What the processes of this host counted since they began, and the state of the installation."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=str(FOLDER))  # type: ignore[no-untyped-call]
    registry.register(InstallationCollector())
    return generate_latest(registry)
