"""What the style sheets promise to those who look at pages."""

import re
from pathlib import Path

import pytest

SHEETS = sorted((Path(__file__).resolve().parent.parent / "static").glob("*.css"))
IN_THE_DARK = re.compile(r"@media[^{]*prefers-color-scheme:\s*dark[^{]*\{(.*?)\n\}", re.DOTALL)
COLOUR = re.compile(r"#[0-9a-f]{3,8}|rgb\([^()]*\)")


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_nothing_but_colours_differs_in_the_dark(sheet):
    """So that what the browser tests find in the light about anything else is true in the dark as well."""
    for inside in IN_THE_DARK.findall(sheet.read_text(encoding="utf-8")):
        rule = re.fullmatch(r"\s*:root \{(.*)\}\s*", inside, re.DOTALL)
        assert rule, inside
        for line in filter(None, map(str.strip, rule[1].split(";"))):
            assert re.match(r"--[a-z-]+: ", line), line
            name, _, value = line.partition(": ")
            left = COLOUR.sub("", value)
            assert not left or (name in ("--shadow", "--raised") and re.fullmatch(r"[\d px,]*", left)), line


def test_every_dark_colour_is_a_token():
    dark = [sheet.name for sheet in SHEETS if IN_THE_DARK.search(sheet.read_text(encoding="utf-8"))]
    assert dark == ["tokens.css"]
