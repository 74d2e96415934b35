"""QuestionForm in templates."""

from django import template

from marketplace.questionform import fields
from marketplace.questionform.fields import FormAnswers
from marketplace.questionform.parsing import Form

register = template.Library()


@register.filter
def sheet(form: Form, given: FormAnswers | str | None) -> fields.Sheet:
    """The form as it is drawn; `given` is what was filled in, or nothing."""
    return fields.sheet(form, given if isinstance(given, FormAnswers) else None)
