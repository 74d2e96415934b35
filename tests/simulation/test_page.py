"""Reading any task page as a form."""

from crowd.simulation.answers import read_form

URL = "https://tasks.example.org/task/1/?assignmentId=3X"


def page(inside: str, **attributes: str) -> str:
    extra = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<h1>Read</h1><form method="post" action="/task/1/"{extra}>{inside}</form>'


def field(inside: str):
    form = read_form(page(inside), URL)
    assert form is not None
    [found] = form.fields.values()
    return found


def test_every_kind_of_field_is_read_with_its_options_and_bounds():
    radio = '<input type="radio" name="u:1|c" value="a"><input type="radio" name="u:1|c" value="b">'
    listed = (
        '<select name="u|c"><option value="">Choose</option><option disabled value="x">x</option>'
        '<option value="a">A</option><option value="b">B</option></select>'
    )
    for inside in (radio, listed):
        found = field(inside)
        assert (found.kind, found.options) == ("choice", ["a", "b"])
    found = field('<input type="checkbox" name="u|c" value="yes">')
    assert (found.kind, found.options) == ("tick", ["yes"])
    found = field('<textarea name="u|text" minlength="3" maxlength="40"></textarea>')
    assert (found.kind, found.least, found.most) == ("text", 3, 40)
    found = field('<input type="number" name="u|n" min="1" max="5">')
    assert (found.kind, found.least, found.most) == ("number", 1, 5)


def test_hidden_fields_go_along_and_what_is_disabled_cannot_be_filled_in():
    form = read_form(page('<input type="radio" name="u|c" value="a" disabled>'), URL)
    assert form is not None and not form.fields
    form = read_form(page('<input type="hidden" name="ticket" value="a&amp;b">'), URL)
    assert form is not None and form.hidden == {"ticket": "a&b"}
    assert read_form('<form method="get"><input name="q"></form>', URL) is None


def test_addresses_are_read_from_where_the_page_is():
    form = read_form(page("", data_draft="draft/"), URL)
    assert form is not None
    assert form.action == "https://tasks.example.org/task/1/"
    assert form.draft_url == "https://tasks.example.org/task/1/draft/"


def test_every_unit_has_the_text_of_its_section_only():
    form = read_form(
        page(
            '<section>First passage. <input name="u:1|t"></section>'
            '<section>Second <b>passage</b>.<script>no()</script><input name="u:2|t"></section>'
        ),
        URL,
    )
    assert form is not None
    assert form.units == ["u:1", "u:2"]
    assert form.texts == {"u:1": "First passage.", "u:2": "Second passage .", "": "Read"}
