"""What a kind's options may say in further languages: `[stages.config.languages.de]` in a study's file.

    class MyConfig(StageConfig):
        question: str
        languages: Mapping[Language, MyTexts] = in_languages()

Whatever a language leaves out is read in the project's language.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer
from pydantic_core import PydanticCustomError

#: A BCP 47 tag.
Language = Annotated[str, Field(max_length=35, pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$")]
#: The option that holds them.
LANGUAGES = "languages"
#: Texts that may change while people work, for they have versions.
FREE = frozenset({"title", "description", "instructions"})


class Texts(BaseModel):
    """A table of texts; those that are empty are not stored."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_serializer(mode="wrap")
    def _without_blanks(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in handler(self).items() if value}


class StageTexts(Texts):
    """What the page of every stage says, in one more language."""

    title: str = Field(default="", max_length=128, description="The heading of the task page.")
    description: str = Field(default="", max_length=2000, description="What is to be done.")

    def worded_options(self, config: BaseModel) -> dict[str, Any]:
        """The options that these texts take the place of."""
        names = type(self).model_fields.keys() & type(config).model_fields.keys()
        return {name: getattr(self, name) for name in names if getattr(self, name)}

    def lacking(self, config: BaseModel) -> list[str]:
        """Which texts the options have, and this language lacks."""
        in_every_stage = StageTexts.model_fields
        return [
            name
            for name, text in self
            if not text
            and isinstance(text, str | tuple)
            and (name in in_every_stage or getattr(config, name, None))
        ]


class InstructionTexts(StageTexts):
    """The same of a kind that has instructions."""

    instructions: str = Field(default="", max_length=5000, description="The instructions.")


def in_languages() -> Any:
    """The field of a kind's options that holds its texts by language."""
    return Field(
        default_factory=dict,
        max_length=40,
        exclude_if=lambda languages: not languages,
        description="The same texts in further languages, by tag: `[stages.config.languages.de]`.",
    )


def check_number(path: Sequence[str], texts: Sequence[str], option: Sequence[str]) -> None:
    """PydanticCustomError at this path of the options where texts are not as many as in the option."""
    if texts and len(texts) != len(option):
        raise PydanticCustomError(
            "wrong-value",
            "here are {count}, and the stage has {needed}: give one for each, in the same order",
            {"count": len(texts), "needed": len(option), "within": (LANGUAGES, *path)},
        )


def is_extended(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether all texts of answers and questions that people may have read are as they were."""
    return all(
        _is_kept(text, after.get(language, {}).get(name))
        for language, texts in before.items()
        for name, text in texts.items()
        if name not in FREE
    )


def _is_kept(before: Any, after: Any) -> bool:
    if isinstance(before, Mapping):
        return isinstance(after, Mapping) and all(
            _is_kept(text, after.get(name)) for name, text in before.items()
        )
    return bool(before == after)
