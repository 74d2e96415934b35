"""An installation that the client talks to: `up`, an account with a token, and a marketplace with money."""

import os
import socket
from pathlib import Path

from tests.distillery.installation import ROOT, Installation

CLIENT = ROOT / "distributions" / "client"
#: Everything that an operator would type, in one process: each start of `manage.py` takes seconds.
_SET_UP = """
import io, json, os
from django.contrib.auth.models import User
from django.core.management import call_command

def run(*words):
    out = io.StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()

User.objects.create_superuser("olga")
keys = json.loads(run("marketplace", "requester", "create", "Lab", "--json"))
run("marketplace", "deposit", "Lab", "500.00", "--reference", "PO-1")
os.environ.update(LOCAL_ACCESS_KEY=keys["access_key"], LOCAL_SECRET=keys["secret"])
run("crowd", "endpoint", "add", "local", "--preset", "local", "--url", os.environ["API_URL"],
    "--key-env", "LOCAL_ACCESS_KEY", "--secret-env", "LOCAL_SECRET")
made = run("api-token", "create", "olga", "--scope", "read,collect,decide,pay,publish,admin", "--json")
print(json.loads(made)["token"])
"""


class ClientInstallation:
    """`url` and `token` are what a program needs."""

    def __init__(self, folder: Path) -> None:
        self.inside = Installation(folder)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url, self.token = f"http://127.0.0.1:{port}", ""
        self._port = str(port)

    def start(self) -> None:
        """Start it, and make the account, the money and the token."""
        rates = {"MARKETPLACE_REQUESTS_PER_SECOND": "0", "API_REQUESTS_PER_SECOND": "0"}
        self.inside.up("--port", self._port, PUBLIC_URL=self.url, **rates)
        done = self.inside.manage("shell", "-c", _SET_UP, API_URL=f"{self.url}/mturk/api/")
        assert done.returncode == 0, done.stderr
        self.token = done.stdout.splitlines()[-1]

    def environment(self) -> dict[str, str]:
        """For a program of a researcher, who has the client and nothing of the application."""
        return {
            **os.environ,
            "PYTHONPATH": str(CLIENT),
            "DISTILLERY_URL": self.url,
            "DISTILLERY_TOKEN": self.token,
            "XDG_CACHE_HOME": str(self.inside.elsewhere / "cache"),
        }

    def stop(self) -> None:
        """End all of its processes."""
        self.inside.leave()
