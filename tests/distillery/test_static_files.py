"""Static files go over the line compressed, and ours without their comments."""

import gzip
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles.storage import StaticFilesStorage

from distillery.middleware import StaticAddresses

OURS = sorted(
    path for folder in ("", "html") for path in (Path(settings.STATICFILES_DIRS[0]) / folder).glob("*.[jc]s*")
)


@pytest.mark.long
@pytest.mark.parametrize("path", [path for path in OURS if path.suffix == ".js"], ids=lambda path: path.name)
def test_no_text_of_a_script_goes_over_several_lines(path):
    """What is taken out is found line by line."""
    odd = [line for line in path.read_text(encoding="utf-8").splitlines() if line.count("`") % 2]
    assert odd == []


@pytest.mark.parametrize("name", ["html/frame.js", "base.css"])
def test_comments_and_indentation_stay_here(client, db, name):
    answer = client.get(f"/static/{name}", headers={"accept-encoding": "gzip"})
    assert answer["Content-Encoding"] == "gzip"
    sent = [line for line in gzip.decompress(answer.content).decode().splitlines() if line]
    stored = (Path(settings.STATICFILES_DIRS[0]) / name).read_text(encoding="utf-8")
    code = re.sub(r"^\s*(//.*|/\*[\s\S]*?\*/\s*)$", "", stored, flags=re.MULTILINE)
    assert sent == [line.strip() for line in code.splitlines() if line.strip()]
    assert not [line for line in sent if line.startswith((" ", "//", "/*"))]


def test_who_takes_no_compression_gets_the_file_as_it_is(client, db):
    answer = client.get("/static/html/frame.js", headers={"accept-encoding": ""})
    stored = (Path(settings.STATICFILES_DIRS[0]) / "html" / "frame.js").read_bytes()
    assert b"".join(answer.streaming_content) == stored


def test_addresses_of_files_are_those_of_django_also_the_second_time():
    ours, theirs = StaticAddresses(), StaticFilesStorage()
    for name in ("work.js", "html/frame.js", "a b?c.css", "/at-the-root.js"):
        assert [ours.url(name), ours.url(name)] == [theirs.url(name)] * 2
