"""What all apps raise when they refuse something, and what happens when a block fails.

A block is cleaned up after, the others go on, or any error becomes one of ours.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType


class ActionError(Exception):
    """What a person asked for cannot be done; the text says why, in words for them. Nothing was changed."""

    @property
    def is_repeat(self) -> bool:
        """Whether the same was done before, so that nothing is wrong: a form that was sent twice."""
        return False


class NameTakenError(ActionError):
    """Something has this name already; `field` is the one that holds it."""

    field = "slug"


def on_failure(act: Callable[[BaseException], object]) -> AbstractContextManager[None]:
    """Call `act` with whatever ends the block early, also a cancellation; then that goes on its way."""
    return _FailureHook(act)


class _FailureHook(AbstractContextManager[None]):
    def __init__(self, act: Callable[[BaseException], object]) -> None:
        self._act = act

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._act(error)


@contextmanager
def logged_failure(
    logger: logging.Logger, message: str, *names: object, passing: tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Write to the log whatever fails in the block and go on after it; `passing` goes on its way.

    For one of many at a border (a stage of a round, a rule of all) that must not stop the others.
    """
    try:
        yield
    except passing:
        raise
    except Exception:  # a border: any app's code runs in the block, and the others must have their turn
        logger.exception(message, *names)


@contextmanager
def translated_failure(
    translate: Callable[[Exception], Exception], *, passing: tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Raise what `translate` makes of whatever fails in the block; `passing` goes on its way.

    For libraries whose errors have no base class of their own, and for borders whose far end reads only its
    own errors.
    """
    try:
        yield
    except passing:
        raise
    except Exception as error:  # a border: what fails in the block has no common class, see above
        raise translate(error) from error
