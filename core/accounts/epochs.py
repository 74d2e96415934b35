"""What a signature of ours is bound to, so that it ends with the password of the person it is for."""

from django.contrib.auth.models import User
from django.utils.crypto import salted_hmac


def epoch_of(user: User) -> str:
    """Changes when the password is stored again: by a change, or by signing out everywhere."""
    return salted_hmac("accounts.epochs", user.password, algorithm="sha256").hexdigest()[:20]
