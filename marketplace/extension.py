"""What the marketplace adds to other apps: events for webhooks, activity for the audit log, roles, marks."""

from typing import Any

from core.audit.chain import AuditSource, moment
from core.extensions import Extension
from core.notices.conditions import Rule
from core.origin import Owner
from marketplace import webhook_steps, webhooks
from marketplace.models import Activity
from marketplace.notices import contested_former_ids
from marketplace.roles import ACCOUNT_PARTS
from marketplace.services.activity import ACTIONS
from marketplace.services.identity_marks import marks_of_workers
from marketplace.studylinks import PARTS as LINK_PARTS
from people.identities import MarkProvider
from web.api.parts import ApiPart


def _record(entry: Activity) -> dict[str, Any]:
    """Without the account, which may go; the name that it had stays."""
    return {
        "log": Owner.Kind.REQUESTER,
        "owner": entry.requester_id,
        "row": entry.pk,
        "at": moment(entry.at),
        "actor": entry.actor,
        "action": entry.action,
        "subject": entry.subject,
        "details": entry.details,
        "address": entry.address,
        "via": entry.via,
        "credential": entry.access_key,
        "request_id": entry.request_id,
    }


def _describe(entry: Activity) -> dict[str, Any]:
    return {
        "who": entry.actor or entry.access_key,
        "what": ACTIONS.get(entry.action, entry.action),
    }


EXTENSION = Extension(
    ApiPart("marketplace.api", last=True),
    *webhooks.EVENT_TYPES,
    *webhook_steps.EVENT_TYPES,
    *webhook_steps.WATCHES,
    AuditSource(Owner.Kind.REQUESTER, Activity, "requester_id", _record, _describe, released=("user",)),
    *ACCOUNT_PARTS,
    *LINK_PARTS,
    MarkProvider(marks_of_workers),
    Rule("former_id", contested_former_ids, kinds=("former_id",)),
)
