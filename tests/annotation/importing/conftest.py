"""Files to import, and the shortest way through one."""

import gzip
import json
from pathlib import Path

import pytest

from annotation.importing.detect import open_reader
from annotation.importing.run import fetch, survey
from annotation.importing.selection import Design, Screen
from core.files.refusals import Refusals
from core.files.text_source import TextSource


@pytest.fixture
def write(tmp_path):
    """Write text, bytes, a JSON document or a list of JSON lines to a file of that name."""

    def to(name, content, *, packed=False):
        if isinstance(content, dict):
            content = json.dumps(content)
        if isinstance(content, list):
            content = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in content)
        data = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if packed else data)
        return path

    return to


def read(path: Path, **options):
    """All records of a file, with what was refused."""
    source = TextSource(path, limits=options.pop("limits", None), encoding=options.pop("encoding", ""))
    room = path.parent / f"room-{path.name}"
    room.mkdir(exist_ok=True)
    reader = open_reader(source, room, **options)
    refusals = Refusals(path.name)
    return list(reader.records(refusals)), refusals, reader


def sample(
    path: Path, design: Design | None = None, *, screen: Screen | None = None, strict=False, **options
):
    """The sample of a file, by text, and its report."""
    room = path.parent / f"room-{len(list(path.parent.iterdir()))}"
    room.mkdir()
    reader = open_reader(TextSource(path, limits=options.pop("limits", None)), room, **options)
    found = survey(
        reader,
        screen=screen or Screen(without=["short"]),
        design=design or Design(),
        room=room,
        strict=strict,
    )
    return {each.text: (drawn, each) for each, drawn in fetch(found)}, found.report()


def plain(sentence: str) -> str:
    """Our sentence without the marks that keep the direction of quoted words."""
    return sentence.translate({0x2068: None, 0x2069: None})
