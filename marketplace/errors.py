"""Refusals of the marketplace: one exception with a code for programs and a sentence for people."""

from django_stubs_ext import StrOrPromise

from core.errors import ActionError


class Refusal(ActionError):  # noqa: N818 - the domain's own noun
    """Something that the marketplace will not do; nothing was changed.

    `code` is a TurkErrorCode without its `AWS.MechanicalTurk.` prefix, `message` a sentence that both
    the protocol and the worker site can show. `kind` is the error class on the wire.
    """

    kind = "RequestError"

    def __init__(self, code: str, message: StrOrPromise) -> None:
        super().__init__(message)
        self.code = code
        self.message = str(message)

    @property
    def is_repeat(self) -> bool:
        """Whether a call with the same token did this before."""
        return self.code == "DuplicateRequest"


class ParameterRefusal(Refusal):
    """A well-formed value of a parameter that nothing answers to, such as an unknown worker id."""

    kind = "ParameterValidationError"

    def __init__(self, parameter: str, value: str) -> None:
        super().__init__(
            "InvalidParameterValue", f'The value "{value}" is not valid for the parameter {parameter}.'
        )


def invalid_value(parameter: str, why: str) -> Refusal:
    """Refusal of a value beyond the marketplace's limits, naming the parameter and the remedy."""
    return Refusal("InvalidParameterValue", f"The value of the parameter {parameter} is not valid: {why}")
