"""Options of stages in which people write, and of answer distillation (paper 000, section 3.3)."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from annotation.flags import Limits
from annotation.selectors.answers import Material
from crowd.kinds import StageConfig, config_of
from crowd.models import Stage
from crowd.texts import InstructionTexts, Language, in_languages

_INSTRUCTIONS = (
    "Read the passages, then answer the question in your own words. Write as much as the question needs: one "
    "word can be enough, and several sentences are fine. Use only what the passages say."
)


#: Kinds of stages whose responses are texts that reviewers decide about.
WRITING_KINDS = ("distillation", "continuation")


class WritingConfig(StageConfig):
    """How long a text may be, what is refused, and from which bounds on it is flagged for reviewers."""

    instructions: str = Field(default="", max_length=4000)
    longest: int = Field(default=2000, ge=20, le=20_000, description="Longest answer, in characters.")
    check_language: bool = Field(
        default=True,
        description="Refuse answers in a script that the project's language is not written in, and ask once "
        "where they seem to be in another language.",
    )
    spelling_hint: bool = Field(
        default=True,
        description="Show words that are in no dictionary, as a hint that never stops an answer.",
    )
    copy_share: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description="Flag: share of an answer that occurs in a passage word for word.",
    )
    copy_run: int = Field(
        default=12, ge=3, le=1000, description="Flag: words in a row that are also in a passage."
    )
    same_from: int = Field(
        default=40,
        ge=1,
        le=20_000,
        description="Answers of fewer characters may be the same as another editor's without a flag.",
    )
    near_ratio: float = Field(
        default=0.9, ge=0.5, le=1, description="Flag: similarity with another editor's answer, 1 is the same."
    )
    pasted_share: float = Field(
        default=0.5, ge=0.01, le=1, description="Flag: pasted characters as a share of what was written."
    )
    typing_rate: float = Field(
        default=600, ge=50, le=10_000, description="Flag: keys per minute of active work."
    )
    spelling_share: float = Field(
        default=0.3, ge=0.01, le=1, description="Flag: share of words that are in no dictionary."
    )
    length_z: float = Field(
        default=3.5,
        ge=1,
        le=100,
        description="Flag: robust distance of a length from the others of the query.",
    )
    least_words: int = Field(
        default=1, ge=1, le=50, description="Flag: answers of fewer words, and those that say nothing."
    )
    canary: bool = Field(
        default=False,
        description="Put a line into the page that people do not see and a pasted page has, asking language "
        "models for two odd words. Answers with them are flagged. Workers read in general words that this "
        "is done.",
    )
    listed_words: tuple[str, ...] = Field(
        default=(),
        max_length=2000,
        description="Flag: words that reviewers want to see, such as offensive ones; case makes no "
        "difference.",
    )
    languages: Mapping[Language, InstructionTexts] = in_languages()

    advanced: ClassVar[frozenset[str]] = frozenset(
        {
            "copy_share", "copy_run", "same_from", "near_ratio", "pasted_share", "typing_rate",
            "spelling_share", "length_z", "least_words", "canary", "listed_words",
        }
    )  # fmt: skip

    def limits(self) -> Limits:
        """The flags' bounds."""
        return Limits(**{name: getattr(self, name) for name in Limits.__dataclass_fields__})

    def sources(self, material: Material) -> tuple[str, ...]:
        """The texts that were read, which nobody is to copy."""
        return tuple(passage.text for passage in material.passages)


class DistillationConfig(WritingConfig):
    """What editors read and may write, and from which bounds on an answer is flagged for reviewers.

    Redundancy, the number of different editors per query, belongs to the stage; 20 is usual.
    """

    instructions: str = Field(
        default=_INSTRUCTIONS,
        max_length=4000,
        description="What is shown above the answer. The stage's redundancy is the number of editors per "
        "query; 20 is usual.",
    )
    hold_out: int = Field(
        default=0,
        ge=0,
        le=50,
        description="Answers per query that are set aside as the candidate system human.",
    )


def distillation_config(stage: Stage) -> DistillationConfig:
    """The stage's options, typed."""
    config = config_of(stage)
    assert isinstance(config, DistillationConfig)
    return config


def writing_config(stage: Stage) -> WritingConfig:
    """The options of a stage in which people write, typed."""
    config = config_of(stage)
    assert isinstance(config, WritingConfig)
    return config
