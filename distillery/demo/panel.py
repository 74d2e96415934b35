"""The simulated panel of the demonstration, which runs beside the server and ends with it."""

import contextlib
import json
import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crowd.simulation.prolific_server import Simulator, WireCall, serve
from crowd.simulation.prolific_state import Options

FILE, BALANCE_CENTS = "panel.sqlite3", 100_00


@dataclass(frozen=True)
class Panel:
    """A simulator of Prolific's contract that answers on this machine."""

    simulator: Simulator
    token: str = field(repr=False)

    @property
    def workspace(self) -> str:
        """The account's only workspace."""
        return str(self.call("GET", "/_control/state")["workspace_id"])

    def arrive(self, study: str) -> tuple[str, str, str]:
        """Have a new participant take a place of a study: participant, submission, address that they open."""
        [person] = self.call("POST", "/_control/participants", {"n": 1})["ids"]
        visit = self.call("POST", "/_control/arrive", {"study_id": study, "participant_id": person})
        return str(person), str(visit["submission_id"]), str(visit["url"])

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """One call of its account or of its controls."""
        raw = json.dumps(body).encode() if body is not None else b""
        answer = self.simulator.answer(WireCall(method, path, self.token, raw))
        if answer.status >= 400:
            raise RuntimeError(f"The simulated panel answered {answer.status} to {path}: {answer.body}")
        return dict(answer.body)


@contextlib.contextmanager
def simulated_panel(folder: Path) -> Iterator[Panel]:
    """A panel for as long as the block runs, with the books that lie in the folder."""
    token = secrets.token_hex(16)
    simulator = Simulator(folder / FILE, token, Options(balance=BALANCE_CENTS, wallet_seconds=0.0))
    server = serve(simulator, 0)
    threading.Thread(target=server.serve_forever, args=(0.2,), daemon=True).start()
    try:
        yield Panel(simulator, token)
    finally:
        server.shutdown()
        server.server_close()
        simulator.close()
