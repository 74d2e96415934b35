"""Queries written so that they stand alone, from a file beside the topics: an id, a tab, a text.

TREC CAsT 2019 published its manual rewrites like this (`evaluation_topics_annotated_resolved_v1.0.tsv`).
"""

from pathlib import Path

from core.files.refusals import FileRefusedError

#: The member of `Query.extra` that CAsT's later years give the same in.
MEMBER = "manual_rewritten_utterance"
_MOST_BYTES = 64 * 2**20


def read_rewrites(path: Path) -> dict[str, str]:
    """Texts by the id of their query; FileRefusedError names the line that is wrong."""
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= _MOST_BYTES else b""
    except OSError as error:
        raise FileRefusedError(f"{path.name} could not be read: {error}.") from error
    if size > _MOST_BYTES:
        raise FileRefusedError(f"{path.name} is larger than {_MOST_BYTES // 2**20} MiB: no file of rewrites.")
    found: dict[str, str] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        where = f"{path.name}, line {number}"
        try:
            key, tab, text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip("\r").partition("\t")
        except UnicodeDecodeError as error:
            raise FileRefusedError(f"{where} is no UTF-8. Save the file as UTF-8.") from error
        key, text = key.strip(), " ".join(text.split())
        if not tab or not key or not text or "\0" in line.decode("utf-8"):
            raise FileRefusedError(f"{where}: expected the id of a turn, a tab, and its text.")
        if found.setdefault(key, text) != text:
            raise FileRefusedError(f"{where}: {key!r} has another text in an earlier line.")
    if not found:
        raise FileRefusedError(f"{path.name} has no line.")
    return found
