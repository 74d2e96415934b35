"""A download that fails in the middle must not look like a whole file."""

import contextlib
import http.client
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

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

if __name__ == "__main__":
    import socket, sys
    from distillery.webserver import serve
    serve(get_wsgi_application(), socket.socket(fileno=int(sys.argv[1])))
"""


@pytest.fixture
def connection(tmp_path):
    """A connection to our web server with an application whose file fails in the middle."""
    program = tmp_path / "failing.py"
    program.write_text(APPLICATION)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = subprocess.Popen(
            [sys.executable, str(program), str(listener.fileno())],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            pass_fds=[listener.fileno()],
            stderr=subprocess.DEVNULL,
        )
        address = listener.getsockname()
    try:
        with contextlib.closing(http.client.HTTPConnection(*address, timeout=20)) as client:
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
