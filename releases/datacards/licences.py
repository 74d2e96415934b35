"""Licences by the names that people give them: SPDX's, the Hub's, and where their texts are."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Licence:
    """A licence that others know. `hub` is the Hub's name of it, `spdx` SPDX's."""

    spdx: str
    hub: str
    url: str


_CC = "https://creativecommons.org/licenses"
_KNOWN = tuple(
    Licence(*row)
    for row in (
        ("CC-BY-4.0", "cc-by-4.0", f"{_CC}/by/4.0/"),
        ("CC-BY-3.0", "cc-by-3.0", f"{_CC}/by/3.0/"),
        ("CC-BY-SA-4.0", "cc-by-sa-4.0", f"{_CC}/by-sa/4.0/"),
        ("CC-BY-SA-3.0", "cc-by-sa-3.0", f"{_CC}/by-sa/3.0/"),
        ("CC-BY-NC-4.0", "cc-by-nc-4.0", f"{_CC}/by-nc/4.0/"),
        ("CC-BY-NC-SA-4.0", "cc-by-nc-sa-4.0", f"{_CC}/by-nc-sa/4.0/"),
        ("CC-BY-ND-4.0", "cc-by-nd-4.0", f"{_CC}/by-nd/4.0/"),
        ("CC-BY-NC-ND-4.0", "cc-by-nc-nd-4.0", f"{_CC}/by-nc-nd/4.0/"),
        ("CC0-1.0", "cc0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
        ("Apache-2.0", "apache-2.0", "https://www.apache.org/licenses/LICENSE-2.0"),
        ("MIT", "mit", "https://opensource.org/license/mit"),
        ("ODbL-1.0", "odbl", "https://opendatacommons.org/licenses/odbl/1-0/"),
        ("ODC-By-1.0", "odc-by", "https://opendatacommons.org/licenses/by/1-0/"),
        ("PDDL-1.0", "pddl", "https://opendatacommons.org/licenses/pddl/1-0/"),
        ("CDLA-Permissive-2.0", "cdla-permissive-2.0", "https://cdla.dev/permissive-2-0/"),
    )
)
_NOT_LETTERS = re.compile(r"[\s_]+")


def licence_named(name: str) -> Licence | None:
    """The licence that a name means (`CC BY 4.0`, `cc-by-4.0`), or None for one that is not known."""
    wanted = _NOT_LETTERS.sub("-", name.strip()).casefold()
    return next((each for each in _KNOWN if wanted in (each.spdx.casefold(), each.hub)), None)
