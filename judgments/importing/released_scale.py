"""The scale of a stage as the manifest of a release names it."""

import json
from fractions import Fraction
from pathlib import Path

from metrics.agreement.scale import Scale

_MANIFEST = "manifest.json"
_LARGEST = 1 << 24


def released_scale(file: Path, stage: str) -> Scale | None:
    """The stage's scale, if the file lies in a release whose manifest names it; None for anything else."""
    for folder in (file.parent, file.parent.parent):
        manifest = folder / _MANIFEST
        if manifest.is_file() and manifest.stat().st_size <= _LARGEST:
            return _scale_in(manifest, stage)
    return None


def _scale_in(manifest: Path, stage: str) -> Scale | None:
    try:
        stages = json.loads(manifest.read_text(encoding="utf-8"))["stages"]
        scale = next(each["scale"] for each in stages if each["stage"] == stage)
        return Scale.of(*(Fraction(repr(scale[name])) for name in ("least", "most", "step")))
    except (OSError, ValueError, LookupError, TypeError, StopIteration):
        return None
