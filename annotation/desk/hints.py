"""What the page of an answer shows beside its fields: the library `distillation`."""

from django import template

from annotation.distillation import spelling_hints
from annotation.flags import about, measured
from annotation.models import AnswerFlag
from annotation.selectors.answers import Material

register = template.Library()


@register.simple_tag
def words_in_no_dictionary(text: str, material: Material, language: str) -> list[str]:
    """Hints for a text that is there already; none for an empty one."""
    return spelling_hints(text, material, language) if text else []


@register.filter
def in_words(flag: AnswerFlag) -> str:
    """A flag's label with what was measured."""
    value = measured(flag.name, flag.value, None)
    label = about(flag.name).label
    return f"{label}, {value}" if value else label
