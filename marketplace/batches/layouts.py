"""HIT layouts: a template by its layout id, filled by the parameters of a call instead of by a row."""

from collections.abc import Mapping, Sequence

from marketplace import ids
from marketplace.batches import placeholders
from marketplace.errors import Refusal, invalid_value
from marketplace.models import Requester, Template
from marketplace.questions import html_question_xml


def layout_id_of(template: Template) -> str:
    """The layout id of a template; one that a process of an older version made gets it now."""
    if template.layout_id is None:
        Template.objects.filter(pk=template.pk, layout_id=None).update(layout_id=ids.new_entity_id())
        template.refresh_from_db(fields=["layout_id"])
    return template.layout_id or ""


def layout_named(requester: Requester, layout_id: str) -> Template:
    """The requester's template with this layout id; Refusal where there is none."""
    found = requester.templates.filter(layout_id=layout_id).first()
    if found is None:
        raise Refusal(
            "HITLayoutDoesNotExist",
            f"HITLayout {layout_id} does not exist. The layout id of a template is on its page, and in "
            "`manage.py marketplace layout list`.",
        )
    return found


def question_of(template: Template, parameters: Sequence[Mapping[str, str]]) -> str:
    """The HTMLQuestion of a layout with its placeholders filled, as a batch fills them with a row.

    Values are put in as they are, HTML and all. Raises Refusal for names that are missing, surplus or given
    twice.
    """
    page = placeholders.parse(template.html)
    values = {each["Name"].strip(): each["Value"] for each in parameters}
    if len(values) != len(parameters):
        raise invalid_value("HITLayoutParameters", "a name is given twice.")
    if missing := [name for name in page.names if name not in values]:
        raise Refusal(
            "AWS.MissingParameters",
            "Your request is missing required parameters. Required parameters include HITLayoutParameter. "
            "You have not provided all required HITLayout parameters. Missing parameter names: "
            f"{placeholders.listed(missing)}",
        )
    if surplus := [name for name in values if name not in page.variables]:
        raise invalid_value(
            "HITLayoutParameters",
            f"the HITLayout does not use these parameter names: {placeholders.listed(surplus)}. "
            f"It uses {placeholders.listed(page.names) or 'none'}.",
        )
    return html_question_xml(page.fill(values), template.frame_height)
