"""What happens to templates: made, and changed; batches that were made of one keep what they were made of."""

from typing import Any

from django.db import IntegrityError, transaction

from core.revisions import ShownColumns
from marketplace import clock
from marketplace.batches import hosts
from marketplace.batches.properties import Properties
from marketplace.errors import Refusal
from marketplace.models import Requester, Template


def create_template(
    *, requester: Requester, name: str, html: str, properties: Properties, frame_height: int = 0
) -> Template:
    """A new template. Raises Refusal where the requester has one of this name."""
    now = clock.now()
    values = _values(name, html, properties, frame_height)
    try:
        with transaction.atomic():
            return Template.objects.create(requester=requester, created_at=now, updated_at=now, **values)
    except IntegrityError as error:
        raise _name_is_taken() from error


def change_template(
    *,
    template: Template,
    name: str,
    html: str,
    properties: Properties,
    frame_height: int,
    seen: ShownColumns,
) -> Template:
    """Change a template. Raises Refusal for a name that is taken, ConflictError where it is not as `seen`."""
    values = _values(name, html, properties, frame_height)
    try:
        with transaction.atomic():
            row = Template.objects.select_for_update(no_key=True).get(pk=template.pk)
            if all(getattr(row, each) == value for each, value in values.items()):
                return row
            seen.check(row)
            for each, value in values.items():
                setattr(row, each, value)
            row.updated_at = clock.now()
            row.save()
    except IntegrityError as error:
        raise _name_is_taken() from error
    return row


def _values(name: str, html: str, properties: Properties, frame_height: int) -> dict[str, Any]:
    return {
        "name": name,
        "html": html,
        "frame_height": frame_height,
        "hosts": hosts.of_template(html),
        "properties": properties.stored(),
    }


def _name_is_taken() -> Refusal:
    return Refusal("InvalidTemplateName", "You have a template of this name already. Choose another one.")
