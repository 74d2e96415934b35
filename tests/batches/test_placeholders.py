"""Variables of templates."""

import pytest

from marketplace.batches import templates
from marketplace.errors import Refusal

MTURK_LIKE = """<!-- a template -->
<script>var price = "$5"; const shown = `${a + b}`;</script>
<img src="${image_url}" alt="${alt text}" data-copy='${image_url}'>
<p>$image_url ${ } ${} $${cents} {image_url}</p>
"""


def test_placeholders_are_found_in_text_and_attributes_once_each():
    assert templates.parse(MTURK_LIKE).names == ["image_url", "alt text", "cents"]


def test_values_go_in_as_they_are_and_dollars_without_names_stay():
    page = templates.parse(MTURK_LIKE)
    filled = page.fill(
        {"image_url": "https://x.example/${alt text}.png", "alt text": "<b>A & B</b>", "cents": "50"}
    )
    assert filled == (
        """<!-- a template -->
<script>var price = "$5"; const shown = `${a + b}`;</script>
<img src="https://x.example/${alt text}.png" alt="<b>A & B</b>" data-copy='https://x.example/${alt text}.png'>
<p>$image_url ${ } ${} $50 {image_url}</p>
"""
    )


def test_a_template_without_variables_is_the_same_for_every_row():
    assert templates.parse("<p>All alike</p>").fill({}) == "<p>All alike</p>"


def test_an_unknown_variable_is_named_with_its_line_and_the_columns_there_are():
    with pytest.raises(Refusal) as refused:
        templates.check(templates.parse(MTURK_LIKE), ["Image_URL", "alt text", "cents"], file="a.csv")
    assert refused.value.message == (
        "The template uses ${image_url} on line 3, but a.csv has no column of that name; its columns are "
        "Image_URL, alt text, cents. Did you mean ${Image_URL}? Change the template or the head of the file."
    )


def test_what_a_script_may_have_meant_is_said_where_no_column_is_near():
    with pytest.raises(Refusal) as refused:
        templates.check(templates.parse("<script>`${total} ${x}`</script>"), ["image"], file="a.csv")
    assert "uses ${total} on line 1 (and 1 more)" in refused.value.message
    assert "write the script without ${…}" in refused.value.message


def test_columns_that_are_not_shown_are_known():
    page = templates.parse("${b}")
    assert templates.unused(page, ["a", "b", "c"]) == ["a", "c"]


def test_many_columns_are_listed_by_the_first_dozen():
    assert templates.join_names([f"c{n}" for n in range(15)]).endswith("c10, c11 and 3 more")
