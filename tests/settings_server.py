"""Settings of servers that browsers sign up at: the real ones, with passwords that cost nothing to check."""

from distillery.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
