"""Consent texts of a requester by the API: what people read who join by its study links."""

from ninja import Query

from core.api.models import Scope
from core.origin import Owner
from marketplace.api.access import RequesterPermission, requester_of
from marketplace.services.members import Action
from people.api import texts as kit
from people.api.texts import ConsentTextIn, ConsentTextOut, TextFilter
from web.api.access import ApiRequest
from web.api.pages import Page, PageRequest
from web.api.resources import Resource

texts = Resource("Consent texts of requesters", permission=RequesterPermission)
_LIST = "/requesters/{requester}/consent-texts"


def _owner(request: ApiRequest) -> Owner:
    return Owner(Owner.Kind.REQUESTER, requester_of(request).pk)


@texts.get(_LIST, scopes=[Scope.READ], role=Action.VIEW)
def list_requester_consent_texts(
    request: ApiRequest, requester: str, paging: Query[PageRequest], which: Query[TextFilter]
) -> Page[ConsentTextOut]:
    """Versions of the texts that people agree to before they join by a link of the requester."""
    return kit.list_page(_owner(request), paging, which)


@texts.post(_LIST, scopes=[Scope.COLLECT], role=Action.MANAGE, status=201)
def publish_requester_consent_text(
    request: ApiRequest, requester: str, body: ConsentTextIn
) -> ConsentTextOut:
    """Publish a version, which people who come from now on read. What others agreed to stays.

    Where nothing differs from the newest version, no new one is made, and that one is the answer.
    """
    return kit.publish(_owner(request), body, request.caller.user)


@texts.get(f"{_LIST}/{{int:text}}", scopes=[Scope.READ], role=Action.VIEW)
def get_requester_consent_text(request: ApiRequest, requester: str, text: int) -> ConsentTextOut:
    """One version of a consent text."""
    return kit.find_text(_owner(request), text)
