"""Which part of a file a request asks for, and archives that are written while they are sent."""

import io
import zipfile

import pytest

from releases.download_files import OutsideError, part_of, stream_archive


@pytest.mark.parametrize(
    ("header", "start", "stop"),
    [("bytes=0-", 0, 10), ("bytes=3-5", 3, 6), ("bytes=3-99", 3, 10), ("bytes=-4", 6, 10),
     ("bytes=-99", 0, 10),
     ("bytes=9-9", 9, 10), (" bytes= 2- ", 2, 10)],
)  # fmt: skip
def test_a_part_is_read_as_the_standard_says(header, start, stop):
    part = part_of(header, 10)
    assert (part.start, part.stop, part.is_whole) == (start, stop, False)


def test_a_part_outside_of_the_file_is_refused_and_what_asks_for_no_single_part_gets_the_whole():
    for header, size in (("bytes=10-", 10), ("bytes=99-100", 10), ("bytes=-0", 10), ("bytes=0-", 0)):
        with pytest.raises(OutsideError):
            part_of(header, size)
    for header in ("bytes=5-3", "bytes=0-1,4-5", "lines=1-2", "bytes=a-b", "bytes=-", "",
                   f"bytes={'9' * 30}-", "bytes=\u0663-\u0665"):  # fmt: skip
        assert part_of(header, 10).is_whole, header


def test_an_archive_holds_every_file_and_is_the_same_each_time():
    files = {"README.md": b"# Hello\n", "jsonl/answers.jsonl": b"x" * 600_000, "empty.csv": b""}
    listed = [(path, len(content)) for path, content in files.items()]

    def made() -> list[bytes]:
        return list(stream_archive("capitals-1.0.0", listed, lambda path: io.BytesIO(files[path])))

    pieces = made()
    assert max(map(len, pieces)) < 300_000
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == {
            f"capitals-1.0.0/{path}": content for path, content in files.items()
        }
    assert pieces == made()
