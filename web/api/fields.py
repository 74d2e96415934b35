"""Types of fields that operations of all apps share."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

#: The most that every database keeps in a column of money or ids.
MOST_CENTS, MOST_ID = 1_000_000_000_000, 9_223_372_036_854_775_807
Cents = Annotated[int, Field(ge=0, le=MOST_CENTS, description="In minor units of the currency.")]
Id = Annotated[int, Field(ge=1, le=MOST_ID)]
Slug = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[-a-zA-Z0-9_]+$")]
Time = Annotated[datetime, Field(description="UTC.")]
Why = Annotated[str, Field(max_length=1000, description="Why, for the log of events.")]


class Body(BaseModel):
    """Base of what is sent; unknown fields are refused, so that no slip of the pen goes unseen."""

    model_config = ConfigDict(extra="forbid", strict=False)
