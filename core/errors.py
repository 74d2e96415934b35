"""What all apps raise when they refuse something."""


class ActionError(Exception):
    """What a person asked for cannot be done; the text says why, in words for them. Nothing was changed."""

    @property
    def is_repeat(self) -> bool:
        """Whether the same was done before, so that nothing is wrong: a form that was sent twice."""
        return False
