"""What a HIT is to us, sealed into the address of its page: a restored database may know nothing of it.

The marketplace keeps the address with the HIT. Only this installation's key opens the memo, so workers learn
nothing from it, above all not which units are checks.
"""

import json
import re
import uuid
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from core.sealing import seal, unseal
from crowd.models import Hit, HitUnit, Stage

_PARAMETER, _PURPOSE = "memo", "crowd.hit"
_SEALED = re.compile(rf"\?{_PARAMETER}=([\w=-]+)", re.ASCII)
#: Longer ones would not fit into addresses everywhere; then a HIT travels without.
_LONGEST = 2000
_ROLES = {HitUnit.Role.UNIT: "u", HitUnit.Role.OVERLAP: "o", HitUnit.Role.CHECK: "c"}


@dataclass(frozen=True, slots=True)
class Memo:
    """A HIT as it was published."""

    project: str
    stage: str
    key: uuid.UUID
    fee_cents: int
    wave: int
    part: int | None
    part_count: int
    compensates: str
    units: tuple[tuple[str, str], ...]
    installation: str = ""


def query(stage: Stage, hit: Hit, units: Sequence[tuple[str, str]], installation: str) -> str:
    """`?memo=…` for the address of a HIT's page; empty where it would be too long.

    `installation` names the database that published it, see `crowd.outbox.epoch`.
    """
    facts = [
        stage.project.slug,
        stage.slug,
        hit.key.hex,
        hit.fee_cents,
        hit.wave,
        hit.part,
        hit.part_count,
        hit.compensates.external_id if hit.compensates else "",
        [[unit, _ROLES[HitUnit.Role(role)]] for unit, role in units],
        installation,
    ]
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    sealed = seal(b64encode(zlib.compress(text.encode(), 9)).decode(), purpose=_PURPOSE)
    return f"?{_PARAMETER}={sealed}" if len(sealed) <= _LONGEST else ""


def read(question: str) -> Memo | None:
    """The memo in a question that names such an address; None where there is none that we sealed."""
    sealed = _SEALED.search(question)
    text = unseal(sealed[1], purpose=_PURPOSE) if sealed else None
    if text is None:
        return None
    facts = json.loads(zlib.decompress(b64decode(text)))
    # HITs that were published before memos named the database end with their units.
    project, stage, key, fee, wave, part, parts, worker, units, installation = (*facts, "")[:10]
    roles = {letter: str(role) for role, letter in _ROLES.items()}
    named = tuple((unit, roles[letter]) for unit, letter in units)
    return Memo(project, stage, uuid.UUID(key), fee, wave, part, parts, worker, named, installation)
