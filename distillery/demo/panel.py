"""The simulated panel of the demonstration: it runs beside the server and ends with it."""

import contextlib
import json
import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crowd.simulation.prolific.server import Simulator, WireCall, serve
from crowd.simulation.prolific.state import Options

BALANCE_CENTS = 100_00


@dataclass(frozen=True)
class DemoPanel:
    """A simulator of Prolific's contract that answers on this machine."""

    simulator: Simulator
    token: str = field(repr=False)

    @property
    def url(self) -> str:
        """Where it is reached from this machine."""
        return self.simulator.site

    @property
    def workspace(self) -> str:
        """The account's only workspace."""
        return str(self._call("GET", "/_control/state")["workspace_id"])

    def payments(self) -> list[dict[str, Any]]:
        """Every payment it made."""
        return list(self._call("GET", "/_control/payments")["payments"])

    def study(self, external_id: str) -> dict[str, Any]:
        """A study as its own side has it."""
        return self._call("GET", f"/api/v1/studies/{external_id}/")

    def arrive(self, external_id: str) -> tuple[str, str, str]:
        """Somebody new takes a place of a study: participant, submission, the address they are sent to."""
        [person] = self._call("POST", "/_control/participants", {"n": 1})["ids"]
        come = {"study_id": external_id, "participant_id": person}
        visit = self._call("POST", "/_control/arrive", come)
        return str(person), str(visit["submission_id"]), str(visit["url"])

    def complete(self, submission: str, code: str) -> None:
        """They come back with the code that they were shown."""
        self._call("POST", "/_control/complete", {"submission_id": submission, "code": code})

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        raw = json.dumps(body).encode() if body is not None else b""
        answer = self.simulator.answer(WireCall(method, path, self.token, raw))
        if answer.status >= 400:
            raise RuntimeError(f"The simulated panel answered {answer.status} to {path}: {answer.body}")
        return dict(answer.body)


@contextlib.contextmanager
def simulated_panel(state: Path) -> Iterator[DemoPanel]:
    """A panel for as long as the block runs; `state` is the file that it keeps."""
    token = secrets.token_hex(16)
    simulator = Simulator(state, token, Options(balance=BALANCE_CENTS, wallet_seconds=0.0))
    server = serve(simulator, 0)
    thread = threading.Thread(target=server.serve_forever, args=(0.2,), daemon=True)
    thread.start()
    try:
        yield DemoPanel(simulator, token)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        simulator.close()
