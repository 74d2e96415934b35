"""The mail server, from one address or from single settings."""

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

#: Schemes of `EMAIL_URL`: how the connection is encrypted, and the usual port (RFC 5321, 6409, 8314).
_SCHEMES = {"smtp": ("none", 25), "smtp+starttls": ("starttls", 587), "smtps": ("implicit", 465)}
_PORTS = dict(_SCHEMES.values())


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where e-mail is handed over, as whom, and from which address it comes."""

    host: str
    port: int
    user: str
    password: str
    #: "starttls", "implicit" or "none".
    tls: str
    sender: str


def read_mail_server(
    *, url: str, host: str, port: int, user: str, password: str, tls: str, sender: str
) -> MailServer | None:
    """The mail server, or None where no setting names one; half a setting stops the start."""
    if not url and not host:
        return None
    if url and host:
        raise ImproperlyConfigured("Both EMAIL_URL and EMAIL_HOST are set; keep one of them.")
    if not sender:
        raise ImproperlyConfigured(
            "A mail server is set, but not DEFAULT_FROM_EMAIL, the address that e-mails come from."
        )
    if not url:
        return MailServer(host, port or _PORTS[tls], user, password, tls, sender)
    parts = urlsplit(url)
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise ImproperlyConfigured(
            "EMAIL_URL must look like smtp+starttls://user:password@mail.example.org:587; "
            f"it begins with one of {', '.join(f'{scheme}://' for scheme in _SCHEMES)}."
        )
    how, usual = _SCHEMES[parts.scheme]
    try:
        stated_port = parts.port
    except ValueError as error:
        raise ImproperlyConfigured("EMAIL_URL has a port that is no number.") from error
    return MailServer(
        parts.hostname,
        stated_port or usual,
        unquote(parts.username or ""),
        unquote(parts.password or ""),
        how,
        sender,
    )
