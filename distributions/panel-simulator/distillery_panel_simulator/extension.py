"""What the app brings to rehearsals and the demonstration: a simulated Prolific while a block runs."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.extensions import Extension
from crowd.simulation.simulators import PanelSimulator


@contextmanager
def serve_panel(file: Path, token: str, balance: int) -> Iterator[str]:
    """The address of a panel with the books that lie in the file; `balance` in cents is that of a new one."""
    from distillery_panel_simulator.prolific_server import Simulator, serve
    from distillery_panel_simulator.prolific_state import Options

    simulator = Simulator(file, token, Options(balance=balance, wallet_seconds=0.0))
    server = serve(simulator, 0)
    threading.Thread(target=server.serve_forever, args=(0.2,), daemon=True).start()
    try:
        yield simulator.site
    finally:
        server.shutdown()
        server.server_close()
        simulator.close()


EXTENSION = Extension(PanelSimulator(serve_panel))
