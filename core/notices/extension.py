"""What notices add to other apps: the rule about jobs."""

from core.extensions import Extension
from core.notices.conditions import RULE

EXTENSION = Extension(RULE)
