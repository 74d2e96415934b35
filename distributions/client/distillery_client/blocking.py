"""What files need that the loop of asyncio has no part in: read, written and compared in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


async def async_call(function: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
    """Call a function that takes long, while others go on."""
    return await asyncio.to_thread(function, *given, **named)


def call(function: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
    """The same without asyncio."""
    return function(*given, **named)
