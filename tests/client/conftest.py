"""The client's package, which lies beside the application."""

import sys

from tests.repository import ROOT

sys.path.insert(0, str(ROOT / "distributions" / "client"))
