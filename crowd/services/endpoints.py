"""Marketplaces to publish on, as rows, and their rounds: asked for before the timer does, and heard of."""

import logging
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from celery import current_app
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.dispatch import Signal
from django.utils import timezone
from kombu.exceptions import ChannelError, OperationalError

from core.crypto import seal
from core.money import FEE_PROFILES, profile_named
from crowd.errors import CrowdError, EndpointNameTakenError
from crowd.models import Endpoint
from crowd.rights import acting_person, refuse_unless_operator


@dataclass(frozen=True, slots=True)
class Preset:
    """What is known of a marketplace before anybody enters keys.

    Without `url`, it is at this installation's own address; "{port}" is the one on which it answers.
    """

    label: str
    url: str
    region: str
    real_money: bool
    fee_profile: str
    submit_origins: tuple[str, ...]
    rate: float
    protocol: str = Endpoint.Protocol.MTURK

    @property
    def address(self) -> str:
        """Where it is."""
        return self.url.format(port=settings.PORT) or settings.TASK_URL

    @property
    def origins(self) -> list[str]:
        """Where task pages may send workers' forms. People of links and panels stay on our own pages."""
        named = [origin.format(port=settings.PORT) for origin in self.submit_origins]
        return named or [_origin(settings.TASK_URL)]

    @property
    def needs_keys(self) -> bool:
        """Whether calls are signed, or carry a token."""
        return self.protocol != Endpoint.Protocol.LINK


#: Of an endpoint's address, as in its column.
MOST_CHARACTERS = 300
#: What cannot change once something was sent to an endpoint.
FIXED_ONCE_USED = frozenset({"url", "currency", "protocol"})
_CLOSED = "announced closed 2026-09-30; kept for protocol compatibility"
PRESETS = {
    "local": Preset(
        label="The marketplace of this installation",
        url="http://127.0.0.1:{port}/mturk/api",
        region="us-east-1",
        real_money=False,
        fee_profile="none-1",
        submit_origins=("http://127.0.0.1:{port}", "http://localhost:{port}"),
        rate=0.0,
    ),
    "aws": Preset(
        label=f"Amazon Mechanical Turk ({_CLOSED})",
        url="https://mturk-requester.us-east-1.amazonaws.com",
        region="us-east-1",
        real_money=True,
        fee_profile="mturk-2026",
        submit_origins=("https://www.mturk.com", "https://worker.mturk.com"),
        rate=3.0,
    ),
    "aws-sandbox": Preset(
        label=f"Amazon Mechanical Turk sandbox ({_CLOSED})",
        url="https://mturk-requester-sandbox.us-east-1.amazonaws.com",
        region="us-east-1",
        real_money=False,
        fee_profile="mturk-2026",
        submit_origins=("https://workersandbox.mturk.com",),
        rate=3.0,
    ),
    "link": Preset(
        label="Study links",
        url="",
        region="-",
        real_money=False,
        fee_profile="none-1",
        submit_origins=(),
        rate=0.0,
        protocol=Endpoint.Protocol.LINK,
    ),
    "prolific": Preset(
        label="Prolific",
        url="https://api.prolific.com",
        region="-",
        real_money=True,
        fee_profile="share-0.4286",
        submit_origins=(),
        rate=4.0,
        protocol=Endpoint.Protocol.PROLIFIC,
    ),
    "connect": Preset(
        label="CloudResearch Connect (contract from third parties)",
        url="https://connect-api.cloudresearch.com",
        region="-",
        real_money=True,
        fee_profile="share-0.4",
        submit_origins=(),
        rate=2.0,
        protocol=Endpoint.Protocol.CONNECT,
    ),
}


def create_endpoint(
    *,
    name: str,
    access_key: str,
    secret: str,
    preset: str | None = None,
    url: str = "",
    label: str = "",
    region: str = "us-east-1",
    currency: str = "USD",
    real_money: bool = True,
    fee_profile: str = "mturk-2026",
    submit_origins: tuple[str, ...] = (),
    rate: float = 3.0,
    burst: int = 5,
    protocol: str = Endpoint.Protocol.MTURK,
    actor: Any = None,
) -> Endpoint:
    """A marketplace by preset, or at any URL; who adds it may spend from it (`crowd.rights`).

    With a URL, workers' forms may go to its origin unless `submit_origins` says where else. A preset's URL
    and origins are replaced by `url` where both are given (a local marketplace on another port).
    Raises CrowdError for addresses that are not https (http is for loopback) and unknown names.
    """
    refuse_unless_operator()
    fields: dict[str, Any] = {
        "label": label or name,
        "url": url,
        "region": region,
        "real_money": real_money,
        "fee_profile": fee_profile,
        "submit_origins": list(submit_origins) or ([_origin(url)] if url else []),
        "rate": rate,
        "protocol": protocol,
    }
    if preset is not None:
        if preset not in PRESETS:
            raise CrowdError(f"There is no preset {preset!r}; there are {', '.join(PRESETS)}.")
        terms = PRESETS[preset]
        fields = {
            "label": label or terms.label,
            "url": url or terms.address,
            "region": terms.region,
            "real_money": terms.real_money,
            "fee_profile": terms.fee_profile,
            "submit_origins": [_origin(url)] if url and terms.submit_origins else terms.origins,
            "rate": terms.rate,
            "protocol": terms.protocol,
        }
        fields["url"] = _without_version(fields["url"], terms.protocol)
        if terms.needs_keys and not secret:
            raise CrowdError(f"The preset {preset} needs keys.")
    _check(fields)
    try:
        with transaction.atomic():
            endpoint = Endpoint.objects.create(
                name=name,
                access_key=access_key,
                secret_sealed=seal(secret, purpose="crowd.endpoint") if secret else "",
                currency=currency,
                burst=burst,
                created_at=timezone.now(),
                **fields,
            )
            if person := acting_person(actor):
                endpoint.spenders.create(user=person, given_by=person, created_at=endpoint.created_at)
            return endpoint
    except IntegrityError as error:
        raise EndpointNameTakenError(f"There is already an endpoint named {name!r}.") from error


def change_endpoint(*, endpoint: Endpoint, changes: dict[str, Any]) -> Endpoint:
    """Change an endpoint's columns; after anything was sent there, not where it is nor what it pays in.

    Ids of one marketplace mean nothing at another, so HITs and workers never move between addresses.
    """
    refuse_unless_operator()
    changes = {name: value for name, value in changes.items() if getattr(endpoint, name) != value}
    fixed = FIXED_ONCE_USED.intersection(changes) if is_used(endpoint) else set()
    if fixed:
        raise CrowdError(
            f"Something was sent to {endpoint.name} already, so {', '.join(sorted(fixed))} cannot change. "
            "Add another endpoint."
        )
    if "fee_profile" in changes:
        changes["told_fees"] = None  # a profile that a person names is for all amounts
    for name, value in changes.items():
        setattr(endpoint, name, value)
    _check({name: getattr(endpoint, name) for name in ("url", "submit_origins", "fee_profile", "protocol")})
    endpoint.save(update_fields=list(changes))
    return endpoint


def move_endpoint(*, endpoint: Endpoint, url: str) -> Endpoint:
    """Correct the address of an endpoint to which nothing was sent yet; workers' forms go to its origin."""
    refuse_unless_operator()
    changes: dict[str, Any] = {"url": _without_version(url, endpoint.protocol)}
    if endpoint.submit_origins and not endpoint.deals_work:
        changes["submit_origins"] = [_origin(url)]
    return change_endpoint(endpoint=endpoint, changes=changes)


def remove_endpoint(*, endpoint: Endpoint) -> None:
    """Remove an endpoint that nothing was done with; its name is free again."""
    refuse_unless_operator()
    try:
        endpoint.delete()
    except ProtectedError as error:
        rows = {row._meta.verbose_name_plural for row in error.protected_objects}
        raise CrowdError(
            f"{endpoint.name} cannot be removed: it has {', '.join(sorted(map(str, rows)))}, which are kept."
        ) from error


def _without_version(url: str, protocol: str) -> str:
    """Prolific's documents write its address with /api/v1, which our calls add themselves."""
    return re.sub("/api/v1/?$", "", url) if protocol == Endpoint.Protocol.PROLIFIC else url


def change_keys(*, endpoint: Endpoint, access_key: str, secret: str) -> None:
    """Call with other keys from now on."""
    refuse_unless_operator()
    endpoint.access_key, endpoint.secret_sealed = access_key, seal(secret, purpose="crowd.endpoint")
    endpoint.save(update_fields=["access_key", "secret_sealed"])


def is_used(endpoint: Endpoint) -> bool:
    """Something was planned to be sent there."""
    return endpoint.operations.exists()


def is_safe(address: str) -> bool:
    """An https address; http is for this machine only."""
    try:
        parts = urlsplit(address)
        loopback = parts.hostname in ("localhost", "127.0.0.1", "::1")
    except ValueError:
        return False
    return bool(parts.hostname) and (parts.scheme == "https" or (parts.scheme == "http" and loopback))


def _check(fields: dict[str, Any]) -> None:
    ours = _origin(settings.TASK_URL) if fields["protocol"] == Endpoint.Protocol.LINK else None
    for address in (fields["url"], *fields["submit_origins"]):
        # Nothing is sent to the address of study links: it is the one at which this installation is reached.
        if _origin(address) != ours and not is_safe(address):
            raise CrowdError(f"{address[:80]!r} is not an https address (http is for this machine only).")
    if len(fields["url"]) > MOST_CHARACTERS:
        raise CrowdError(
            f"The address has {len(fields['url'])} characters; at most {MOST_CHARACTERS} are possible."
        )
    try:
        profile_named(fields["fee_profile"])
    except KeyError:
        raise CrowdError(
            f"There is no fee profile {fields['fee_profile']!r}; there are {', '.join(FEE_PROFILES)}."
        ) from None


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise CrowdError(f"{url[:80]!r} is no address: {error}.") from error
    return f"{parts.scheme}://{parts.netloc}"


# Rounds of an endpoint

logger = logging.getLogger(__name__)
TASK = "crowd.round"
#: A message that waited so long for a thread is not needed: the timer sent others.
_EXPIRES_S = 15


def request_round(endpoint_id: int) -> None:
    """Have a worker begin a round once this transaction is committed; the timer does where this fails."""
    transaction.on_commit(lambda: _announce(endpoint_id), robust=True)


def send_round(endpoint_id: int) -> None:
    """Send the message that begins a round of the endpoint, unless one goes on."""
    current_app.send_task(TASK, args=[endpoint_id], expires=_EXPIRES_S)


def _announce(endpoint_id: int) -> None:
    try:
        send_round(endpoint_id)
    except (OperationalError, ChannelError, OSError):
        logger.warning("A round of endpoint %s could not be asked for; the timer will.", endpoint_id)


#: A round of an endpoint ended. Arguments: endpoint (its name); outcome (`EndpointRound.Outcome`); seconds.
round_ended = Signal()
