"""A download that fails in the middle must not look like a whole file."""

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from distillery import gunicorn_conf

APPLICATION = """
from django.conf import settings
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="x")
import django
django.setup()
from django.core.wsgi import get_wsgi_application
from django.http import StreamingHttpResponse
from django.urls import path

def lines():
    yield "query,score\\n" * 1000
    raise RuntimeError("the database is gone")

urlpatterns = [path("scores.csv", lambda request: StreamingHttpResponse(lines(), content_type="text/csv"))]
application = get_wsgi_application()
"""


class LocalConnection(http.client.HTTPConnection):
    """A connection to a socket file."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=20)
        self._path = path

    def connect(self) -> None:
        """Connect to the file."""
        with contextlib.ExitStack() as stack:
            sock = stack.enter_context(socket.socket(socket.AF_UNIX))
            sock.settimeout(20)
            sock.connect(str(self._path))
            stack.pop_all()
        self.sock = sock


@pytest.fixture
def connection(tmp_path):
    """A connection to our web server with an application whose file fails in the middle."""
    (tmp_path / "failing.py").write_text(APPLICATION)
    at = tmp_path / "web"
    command = ["-m", "gunicorn", "--worker-class", gunicorn_conf.worker_class, "--threads", "2"]
    server = subprocess.Popen(
        [sys.executable, *command, "--bind", f"unix:{at}", "failing:application"],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(__file__).parents[2]}"},
        stderr=subprocess.DEVNULL,
    )
    try:
        with contextlib.closing(LocalConnection(at)) as client:
            while client.sock is None:
                assert server.poll() is None
                with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                    client.connect()
                time.sleep(0.02)
            yield client
    finally:
        server.terminate()
        server.wait()


def test_a_client_notices_that_the_rest_is_missing(connection):
    connection.request("GET", "/scores.csv")
    with connection.getresponse() as answer:
        assert answer.status == 200
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            answer.read()
