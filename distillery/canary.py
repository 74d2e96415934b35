"""Whether this host has the key that sealed the secrets in the database."""

from django.db import connection
from django.db.models import Model

from core.api.idempotency import PURPOSE as REPLIES
from core.api.models import IdempotencyRecord
from core.crypto import seal, unseal
from core.crypto.models import Canary
from core.webhooks.delivery import PURPOSE as WEBHOOKS
from core.webhooks.models import Webhook
from crowd.models import Endpoint
from marketplace.heritage.models import SigningKey
from marketplace.models import AccessKey, PayeeDetails, Payout, PayoutLine, Worker
from people import tokens
from people.models import Guest, RosterRow, StudyLink

PURPOSE, _VALUE = "sealing.canary", "This key opens this database."
#: Tables with sealed values: the field, and what it is sealed for.
SEALED: tuple[tuple[type[Model], str, str], ...] = (
    (Canary, "value_sealed", PURPOSE),
    (AccessKey, "secret_sealed", "marketplace.requester"),
    (SigningKey, "private_key_sealed", "marketplace.topics"),
    (Worker, "payment_note_sealed", "marketplace.payment_note"),
    (PayeeDetails, "details_sealed", "marketplace.payee"),
    (PayeeDetails, "waiting_sealed", "marketplace.payee"),
    (PayoutLine, "details_sealed", "marketplace.payee"),
    (Payout, "sender_sealed", "marketplace.payee"),
    (Endpoint, "secret_sealed", "crowd.endpoint"),
    (Endpoint, "hook_secret_sealed", "crowd.hook"),
    (StudyLink, "token_sealed", tokens.TOKEN),
    (StudyLink, "secret_sealed", tokens.SECRET),
    (Guest, "recovery_sealed", tokens.RECOVERY),
    (RosterRow, "email_sealed", tokens.EMAIL),
    (IdempotencyRecord, "body_sealed", REPLIES),
    (Webhook, "address_sealed", WEBHOOKS),
    (Webhook, "secret_sealed", WEBHOOKS),
    (Webhook, "former_secret_sealed", WEBHOOKS),
)


def key_opens() -> bool | None:
    """Whether the present key, or a former one that is known, opens what is sealed; None where nothing is.

    A database from before there was a canary is judged by the values themselves: one that opens is enough.
    """
    tables = set(connection.introspection.table_names())
    tried = False
    for model, field, purpose in SEALED:
        if model._meta.db_table not in tables or not _has_column(model._meta.db_table, field):
            continue
        newest = model._default_manager.exclude(**{field: ""}).order_by("-pk")
        for sealed in newest.values_list(field, flat=True)[:20]:
            tried = True
            if unseal(sealed, purpose=purpose) is not None:
                return True
        if tried and model is Canary:
            return False
    return False if tried else None


def _has_column(table: str, name: str) -> bool:
    """Whether the migration that adds the column has run: `up` may have been stopped between migrations."""
    with connection.cursor() as cursor:
        return name in {each.name for each in connection.introspection.get_table_description(cursor, table)}


def place_canary() -> None:
    """Seal the canary with the present key, unless there is one, or another key sealed what is there."""
    if Canary._meta.db_table not in connection.introspection.table_names() or Canary.objects.exists():
        return
    if key_opens() is not False:
        Canary.objects.get_or_create(pk=1, defaults={"value_sealed": seal(_VALUE, purpose=PURPOSE)})
