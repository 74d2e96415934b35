"""Which hosts a batch's tasks would load from: those of its template, and those that its cells bring in."""

import re
from collections.abc import Iterable, Sequence

from marketplace.batches.placeholders import Page
from marketplace.html.policies import hosts_in

#: Hosts of cells that are listed; a table that names more needs a host of its own for its files.
MOST = 100
#: Rows that are also looked at as whole pages: addresses put together of a template and a cell.
WHOLE_PAGES = 20
_ADDRESS = re.compile(r"(https?://[a-z0-9][a-z0-9.-]{0,252}(?::\d{1,5})?)(?=[/?#\s)'\",;]|$)")


class HostCollector:
    """Collects hosts while rows pass by."""

    def __init__(self, page: Page, columns: Sequence[str]) -> None:
        self._page, self._columns = page, columns
        self._seen = 0
        self._hosts: dict[str, None] = {}

    def look(self, cells: Sequence[str], html: str) -> None:
        """Look at one row, and at the page that it makes if it is one of the first."""
        self._seen += 1
        if self._seen <= WHOLE_PAGES:
            self._add(hosts_in(html))
        for cell in cells:
            if "//" in cell and len(self._hosts) < MOST:
                self._add(hosts_in(cell) if "<" in cell else _ADDRESS.findall(cell))

    def beside(self, own: Iterable[str]) -> list[str]:
        """Hosts that the template itself does not name, sorted."""
        return sorted(self._hosts.keys() - set(own))

    def _add(self, hosts: Iterable[str]) -> None:
        for host in hosts:
            if len(self._hosts) < MOST:
                self._hosts[host] = None


def of_template(html: str) -> list[str]:
    """Origins that the template's own text names."""
    return hosts_in(html)
