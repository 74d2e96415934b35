"""The storage that hosts share: a folder, and a bucket of a server that speaks S3."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.storage import shared_store


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """A server that speaks S3, with the bucket `hosts`."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    boto3.client("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1", **keys).create_bucket(
        Bucket="hosts"
    )
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(params=["folder", "bucket"])
def shared(request: Any, settings: Any, tmp_path: Path) -> None:
    """An installation with shared storage of each kind."""
    if request.param == "folder":
        settings.DATA_STORAGE = str(tmp_path / "shared")
        shared_store().prepare()
        return
    settings.DATA_S3_ENDPOINT = request.getfixturevalue("s3_endpoint")
    settings.DATA_S3_REGION = "us-east-1"
    settings.DATA_S3_ACCESS_KEY = settings.DATA_S3_SECRET_KEY = "testing"
    settings.DATA_STORAGE = f"s3://hosts/{tmp_path.name}"


@pytest.fixture
def on_host(settings: Any, tmp_path: Path) -> Any:
    """Have what follows happen on the host of this name: each has a data folder of its own."""

    def change(name: str) -> Path:
        folder = tmp_path / "hosts" / name
        folder.mkdir(parents=True, exist_ok=True)
        settings.DATA_DIR = folder
        settings.METRIC_MODELS = folder / "models"
        return folder

    return change
