"""Completion codes of studies at panels: one for each way in which a visit can end."""

import secrets

#: How a person's visit ends, by the type of its completion code.
COMPLETED, NO_CONSENT, SCREENED_OUT = "COMPLETED", "NO_CONSENT", "SCREENED_OUT"
FAILED_CHECK, NOTHING_LEFT = "FAILED_ATTENTION_CHECK", "OTHER"
OUTCOMES = (COMPLETED, NO_CONSENT, SCREENED_OUT, FAILED_CHECK, NOTHING_LEFT)
#: The code with which we end a submission and pay a part of its reward, of so many percent.
PARTIAL = "PARTIAL_PAYMENT"
LEAST_PERCENT, MOST_PERCENT = 8, 99
#: People whom one study may pay for being screened out.
MOST_SLOTS = 100_000
#: Letters and figures of a code, without those that look alike.
_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"


def make_code() -> str:
    """A code that cannot be guessed."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(10))
