"""QuestionForm in templates."""

from django import template

from marketplace import formfields
from marketplace.formfields import FormAnswers
from marketplace.questionform import Form

register = template.Library()


@register.filter
def sheet(form: Form, given: FormAnswers | str | None) -> formfields.Sheet:
    """The form as it is drawn; `given` is what was filled in, or nothing."""
    return formfields.sheet(form, given if isinstance(given, FormAnswers) else None)
