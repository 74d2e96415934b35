"""A QuestionForm as templates draw it: the library `questionform`."""

from django import template

from marketplace import formanswers
from marketplace.formanswers import FormAnswers
from marketplace.questionform import Form

register = template.Library()


@register.filter
def sheet(form: Form, given: FormAnswers | str | None) -> formanswers.Sheet:
    """The form as it is drawn; `given` is what was filled in, or nothing."""
    return formanswers.sheet(form, given if isinstance(given, FormAnswers) else None)
