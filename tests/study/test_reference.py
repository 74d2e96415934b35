"""The documentation of the file's fields, and the models that it and the web forms are made from."""

import re
from pathlib import Path
from typing import get_args

from core.money import FEE_PROFILES
from crowd.services.endpoints import PRESETS
from crowd.study import reference
from crowd.study.explain import Code
from crowd.study.schema import EndpointFields, StudyFields

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
PAGE = "\n".join(
    (DOCS / f"{name}.md").read_text(encoding="utf-8")
    for name in ("study", "study-fields", "study-kind-fields", "questionnaires")
)


def test_every_field_and_code_is_documented_as_the_model_has_it():
    """Where it fails, copy the table from `manage.py study fields` into the page of the fields."""
    for heading, rows in reference.tables():
        assert f"`{heading}`" in PAGE
        assert "\n".join(rows) in PAGE
    assert [code for code in get_args(Code) if f"`{code}`" not in PAGE] == []


def test_every_example_in_the_page_is_toml_with_known_fields():
    rows = "\n".join(row for _, lines in reference.tables() for row in lines)
    known = set(re.findall(r"^\| `(\w+)`", rows, re.M))
    for block in re.findall(r"```toml\n(.*?)```", PAGE, re.S):
        keys = set(re.findall(r"^(\w+) = ", block, re.M))
        assert keys
        assert keys <= known


def test_every_field_has_a_title_and_a_description_for_forms():
    for model in (StudyFields, *reference.TABLES.values()):
        for name, field in model.model_fields.items():
            assert field.title, (model, name)
            assert field.description and field.description.endswith("."), (model, name)


def test_the_files_words_for_presets_and_fees_are_those_of_the_services():
    fields = EndpointFields.model_fields
    assert set(get_args(get_args(fields["preset"].annotation)[0])) == set(PRESETS)
    assert set(get_args(fields["fees"].annotation)) == set(FEE_PROFILES)
