"""Types of fields that operations of all apps share."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db.models import TextChoices
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

#: The most that every database keeps in a column of money or ids.
MOST_CENTS, MOST_ID = 1_000_000_000_000, 9_223_372_036_854_775_807
#: The same of a count or a number within something; PostgreSQL refuses a larger one with an error, so an
#: address with one is looked up nowhere.
MOST_NUMBER = 2_147_483_647
Cents = Annotated[int, Field(ge=0, le=MOST_CENTS, description="In minor units of the currency.")]
#: Money for one hour, HIT or person.
RateCents = Annotated[int, Field(ge=0, le=1_000_000, description="In minor units of the currency.")]
Id = Annotated[int, Field(ge=1, le=MOST_ID)]
Slug = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[-a-zA-Z0-9_]+$")]
Time = Annotated[datetime, Field(description="UTC.")]
Why = Annotated[str, Field(max_length=1000, description="Why, for the log of events.")]


def _checked_email(email: str) -> str:
    try:
        validate_email(email)
    except ValidationError as error:
        raise ValueError(f"{email[:80]!r} is no e-mail address") from error
    return email


def _in_reach(moment: datetime) -> datetime:
    """In UTC; near the ends of the calendar that is no date, and databases keep none."""
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise ValueError(f"choose a time from the year {_FIRST_YEAR} to {_LAST_YEAR}")
    return moment.astimezone(UTC)


_FIRST_YEAR, _LAST_YEAR = 1900, 9000
#: A time that is sent, with its offset from UTC.
Moment = Annotated[AwareDatetime, AfterValidator(_in_reach)]
Email = Annotated[str, Field(max_length=254), AfterValidator(_checked_email)]


class OneOf:
    """Marks a text that is one of some choices, as Django has them; the schema has them beside the field.

    An enumeration would go by its class's name there, and several of ours are called State.
    """

    def __init__(self, choices: type[TextChoices] | Mapping[str, str]) -> None:
        """What Django's choices are, or the keys of a mapping."""
        self.values = list(choices if isinstance(choices, Mapping) else choices.values)

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.literal_schema(self.values)


class Body(BaseModel):
    """Base of what is sent; unknown fields are refused, so that no spelling mistake goes unseen."""

    model_config = ConfigDict(extra="forbid", strict=False)
