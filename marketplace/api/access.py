"""The caller at a requester."""

from typing import Any

from django.http import Http404

from core.accounts import security
from marketplace.models import Requester
from marketplace.services.members import may
from marketplace.site.selectors import desk
from web.api.access import ApiRequest, Caller, Permission
from web.api.problems import ProblemError


class RequesterPermission(Permission):
    """Finds the requester that the address names; `role` is the `Action` that a person must be allowed."""

    def check_place(self, request: Any, caller: Caller, parts: dict[str, Any]) -> None:
        """The requester, if it is one of this person's, and what they may do for it."""
        if "requester" not in parts:
            super().check_place(request, caller, parts)
            return
        if caller.token.project_id is not None:
            raise ProblemError(
                403, "token_bound", "This token opens one project only; this is outside of it."
            )
        found = desk.requesters(caller.user).filter(customer_id=parts["requester"]).first()
        if found is None:
            raise Http404("There is no such requester.")
        if not may(caller.user, found, self.role):
            security.log("role.refused", requester=found.customer_id, path=request.path)
            raise ProblemError(
                403, "role_missing", f"Your role at this requester does not allow: {self.role}."
            )
        caller.place = found


def requester_of(request: ApiRequest) -> Requester:
    """The requester that the address names."""
    found = request.caller.place
    assert isinstance(found, Requester), "the address names no requester"
    return found
