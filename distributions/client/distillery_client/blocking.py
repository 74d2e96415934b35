"""Calls that block: in a thread for the client of asyncio, directly for the other one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


async def async_call(
    function: Callable[Given, Result], *arguments: Given.args, **named: Given.kwargs
) -> Result:
    """Call a function in a thread, so that other coroutines go on."""
    return await asyncio.to_thread(function, *arguments, **named)


def call(function: Callable[Given, Result], *arguments: Given.args, **named: Given.kwargs) -> Result:
    """Call a function; the modules without asyncio have this for `async_call`."""
    return function(*arguments, **named)
