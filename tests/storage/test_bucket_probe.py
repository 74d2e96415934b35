"""What `doctor` says of a bucket: well, missing, without one permission, or not answering."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from core.bucketprobe import find_bucket_fault
from distillery.checks import buckets

DENIED = b"<?xml version='1.0'?><Error><Code>AccessDenied</Code><Message>No.</Message></Error>"
LISTED = b"<?xml version='1.0'?><ListBucketResult><KeyCount>0</KeyCount></ListBucketResult>"


class Refusing(BaseHTTPRequestHandler):
    """Speaks as much S3 as the probe, and denies one sort of call."""

    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        sort = "LIST" if self.command == "GET" and "list-type" in self.path else self.command
        denied = sort == self.server.denies
        body = DENIED if denied else LISTED if sort == "LIST" else b""
        self.send_response(403 if denied else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_PUT = do_DELETE = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


@pytest.fixture
def of_releases(settings):
    """Settings of a bucket at an address."""

    def place(endpoint: str, bucket: str) -> None:
        settings.RELEASES_S3_ENDPOINT, settings.RELEASES_S3_REGION = endpoint, "us-east-1"
        settings.RELEASES_S3_ACCESS_KEY = settings.RELEASES_S3_SECRET_KEY = "testing"
        settings.RELEASES_STORAGE, settings.DATA_STORAGE = f"s3://{bucket}/sets", ""

    return place


def test_a_bucket_that_opens_is_well_and_nothing_stays_in_it(of_releases, s3_endpoint):
    from core.bucket import storage_for

    of_releases(s3_endpoint, "hosts")
    [finding] = buckets()
    assert (finding.level, finding.topic) == ("ok", "storage")
    kept = storage_for("hosts", "RELEASES_S3").bucket.objects.filter(Prefix="sets/")
    assert list(kept) == []


def test_a_bucket_that_does_not_exist_is_named_and_a_folder_is_none(
    of_releases, s3_endpoint, settings, tmp_path
):
    of_releases(s3_endpoint, "nowhere-here")
    [finding] = buckets()
    assert finding.level == "error"
    assert (
        finding.sentence
        == "RELEASES_STORAGE=s3://nowhere-here/sets: nothing can be written there (NoSuchBucket)."
    )
    settings.RELEASES_STORAGE, settings.DATA_STORAGE = str(tmp_path), ""
    assert buckets() == []


@pytest.mark.parametrize(
    ("denied", "permission"),
    [
        ("PUT", "s3:PutObject"),
        ("LIST", "s3:ListBucket"),
        ("GET", "s3:GetObject"),
        ("DELETE", "s3:DeleteObject"),
    ],
)
def test_the_permission_that_is_missing_is_named(of_releases, denied, permission):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    server.daemon_threads, server.denies = True, denied
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    bucket = f"denied-{denied.lower()}"
    of_releases(f"http://127.0.0.1:{server.server_address[1]}", bucket)
    try:
        fault = find_bucket_fault("RELEASES_STORAGE", f"s3://{bucket}/sets", names="RELEASES_S3")
    finally:
        server.shutdown()
        server.server_close()
    assert f"has no permission {permission}." in fault
