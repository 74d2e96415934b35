"""Which call is which rule: method and path, what it may carry, whether it needs the wallet for itself."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from crowd.simulation.prolific import account, bodies, hooks, signatures, studies, submissions
from crowd.simulation.prolific.answers import Answer, Call, RefusalError
from crowd.simulation.prolific.state import State

Handler = Callable[[Call], Answer]
_PAGING = ("page", "page_size", "limit", "offset")
#: Older clients ask for studies in this way.
_STUDY_FLAGS = ("published", "active", "completed")
_FLAGS = (
    "completed",
    "returned",
    "awaiting_review",
    "approved",
    "active",
    "timeout",
    "rejected",
    "screened_out",
    "completeoractive",
)


@dataclass(frozen=True, slots=True)
class Route:
    """One operation. `needed` are parameters without which it is refused; `bare` is a form of its errors."""

    method: str
    template: str
    handler: Handler
    body: type[bodies.Body] | None = None
    query: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    uses_wallet: bool = False
    bare: bool = False

    def pattern(self) -> re.Pattern[str]:
        """Its path, with a slash at the end or without."""
        return re.compile(re.sub(r"\{\w+\}", "([^/]+)", self.template.rstrip("/")) + "/?")


def _show_keys(call: Call) -> Answer:
    return Answer(200, signatures.public_keys(call.state))


def _test_study(call: Call) -> Answer:
    """An address for the newest participant who tests."""
    study = studies.study_of(call.state, call.ids[0])
    testers = [each for each in call.state.find("participant", newest_first=True) if each.get("is_tester")]
    if study["status"] != "UNPUBLISHED":
        raise RefusalError("Only a draft can be tested.")
    person = testers[0] if testers else call.state.add("participant", {"attributes": {}, "is_tester": True})
    submission = submissions.reserve_place(call.state, study["id"], person["id"])
    return Answer(200, {"study_id": study["id"], "study_url": submissions.open_study(call.state, submission)})


_V1 = "/api/v1"
_GROUP = f"{_V1}/participant-groups/{{id}}/"
_HOOK = f"{_V1}/hooks/subscriptions/{{subscription_id}}/"
_STUDY = f"{_V1}/studies/{{id}}/"
_PROJECT = f"{_V1}/projects/{{project_id}}/"
_WORKSPACE = f"{_V1}/workspaces/{{workspace_id}}/"
_SUBMISSION = f"{_V1}/submissions/{{id}}/"

#: Every operation of the contract. What comes first is found first.
ROUTES: tuple[Route, ...] = (
    Route("GET", "/.well-known/study/jwks.json", _show_keys),
    Route("GET", f"{_V1}/users/me/", account.get_user),
    # Workspaces and projects
    Route("GET", f"{_V1}/workspaces/", account.list_workspaces, query=_PAGING),
    Route("POST", f"{_V1}/workspaces/", account.create_workspace, bodies.WorkspaceDraft),
    Route("GET", _WORKSPACE, account.get_workspace),
    Route("PATCH", _WORKSPACE, account.change_workspace, bodies.WorkspaceChange),
    Route("GET", f"{_WORKSPACE}balance/", account.get_balance),
    Route("GET", f"{_WORKSPACE}projects/", account.list_projects, query=_PAGING),
    Route("POST", f"{_WORKSPACE}projects/", account.create_project, bodies.ProjectDraft),
    Route("GET", _PROJECT, account.get_project),
    Route("PATCH", _PROJECT, account.change_project, bodies.ProjectChange),
    Route(
        "GET",
        f"{_PROJECT}studies/",
        studies.list_project_studies,
        query=(*_PAGING, "ordering", *_STUDY_FLAGS),
        bare=True,
    ),
    Route("DELETE", f"{_PROJECT}studies/{{study_id}}/", studies.delete_project_study, bare=True),
    # Studies
    Route(
        "GET",
        f"{_V1}/studies/",
        studies.list_studies,
        query=(*_PAGING, "state", *_STUDY_FLAGS),
        bare=True,
    ),
    Route("POST", f"{_V1}/studies/", studies.create_study, bodies.StudyDraft, bare=True),
    Route(
        "POST",
        f"{_V1}/studies/predicted-recruitment-time/",
        studies.predict_draft,
        bodies.RecruitmentQuestion,
        bare=True,
    ),
    Route("POST", f"{_V1}/study-cost-calculator/", studies.quote_cost, bodies.CostQuestion, bare=True),
    Route("GET", _STUDY, studies.get_study),
    Route("PATCH", _STUDY, studies.change_study, bodies.StudyChange),
    Route("DELETE", _STUDY, studies.delete_study),
    Route("POST", f"{_STUDY}transition/", studies.transition_study, bodies.StudyTransition, uses_wallet=True),
    Route("POST", f"{_STUDY}clone/", studies.clone_study, bodies.StudyCopy),
    Route("POST", f"{_STUDY}test-study", _test_study),
    Route("GET", f"{_STUDY}cost/", studies.get_cost, query=("is_projected",), bare=True),
    Route("GET", f"{_STUDY}export/", submissions.export_study),
    Route("GET", f"{_STUDY}access-details-progress/", studies.get_access_progress),
    Route("GET", f"{_STUDY}predicted-recruitment-time/", studies.predict_study, bare=True),
    Route(
        "GET",
        f"{_STUDY}submissions/",
        submissions.list_study_submissions,
        query=(*_PAGING, "ordering"),
        bare=True,
    ),
    Route("GET", f"{_STUDY}submissions/counts/", submissions.count_submissions, bare=True),
    # Submissions and bonuses
    Route(
        "GET",
        f"{_V1}/submissions/",
        submissions.list_submissions,
        query=(*_PAGING, *_FLAGS, "study", "status", "submitted_from", "submitted_before", "ordering"),
        needed=("study",),
        bare=True,
    ),
    Route(
        "POST",
        f"{_V1}/submissions/bulk-approve/",
        submissions.approve_in_bulk,
        bodies.BulkApproval,
        uses_wallet=True,
        bare=True,
    ),
    Route(
        "POST",
        f"{_V1}/submissions/bonus-payments/",
        submissions.set_up_bonuses,
        bodies.BonusList,
        uses_wallet=True,
    ),
    Route("POST", f"{_V1}/bulk-bonus-payments/{{id}}/pay/", submissions.pay_bonuses, uses_wallet=True),
    Route("GET", _SUBMISSION, submissions.get_submission),
    Route(
        "POST",
        f"{_SUBMISSION}transition/",
        submissions.transition_submission,
        bodies.SubmissionTransition,
        uses_wallet=True,
    ),
    Route("POST", f"{_SUBMISSION}request-return/", submissions.request_return, bodies.ReturnRequest),
    # Groups, messages, screeners
    Route(
        "GET",
        f"{_V1}/participant-groups/",
        account.list_groups,
        query=(*_PAGING, "active", "workspace_id", "project_id"),
    ),
    Route("POST", f"{_V1}/participant-groups/", account.create_group, bodies.GroupDraft),
    Route("GET", _GROUP, account.get_group),
    Route("PATCH", _GROUP, account.change_group, bodies.GroupChange),
    Route("DELETE", _GROUP, account.delete_group),
    Route("GET", f"{_GROUP}participants/", account.list_members),
    Route("POST", f"{_GROUP}participants/", account.put_members, bodies.ParticipantList),
    Route("DELETE", f"{_GROUP}participants/", account.remove_members, bodies.ParticipantList),
    Route(
        "GET",
        f"{_V1}/messages/",
        account.list_messages,
        query=("user_id", "created_after", "excluded_sender_ids"),
        bare=True,
    ),
    Route("GET", f"{_V1}/messages/unread/", account.list_unread, bare=True),
    Route("POST", f"{_V1}/messages/", account.send_message, bodies.PersonalMessage, bare=True),
    Route("POST", f"{_V1}/messages/bulk/", account.send_bulk_message, bodies.BulkMessage, bare=True),
    Route(
        "POST",
        f"{_V1}/messages/participant-group/",
        account.send_group_message,
        bodies.GroupMessage,
        bare=True,
    ),
    Route("GET", f"{_V1}/filters/", account.list_screeners, query=("detailed", "workspace_id", "filter_tag")),
    Route(
        "GET",
        f"{_V1}/filters/{{id}}/distribution/",
        account.get_distribution,
        query=("workspace_id", "distribution_filters"),
        needed=("workspace_id", "distribution_filters"),
    ),
    Route("POST", f"{_V1}/eligibility-count/", account.count_eligible, bodies.EligibilityQuestion),
    Route(
        "GET",
        f"{_V1}/reward-recommendations/",
        account.recommend_rewards,
        query=("workspace_id", "currency", "screener_ids"),
        needed=("workspace_id", "currency"),
        bare=True,
    ),
    Route("POST", f"{_V1}/researchers/participants/", account.create_test_participant, bodies.EmailAddress),
    # Hooks
    Route("GET", f"{_V1}/hooks/event-types/", hooks.list_event_types, query=_PAGING),
    Route(
        "GET", f"{_V1}/hooks/secrets/", hooks.list_secrets, query=("workspace_id",), needed=("workspace_id",)
    ),
    Route("POST", f"{_V1}/hooks/secrets/", hooks.create_secret, bodies.SecretDraft),
    Route(
        "GET",
        f"{_V1}/hooks/subscriptions/",
        hooks.list_subscriptions,
        query=(*_PAGING, "is_enabled", "workspace_id"),
    ),
    Route("POST", f"{_V1}/hooks/subscriptions/", hooks.create_subscription, bodies.SubscriptionDraft),
    Route("GET", _HOOK, hooks.get_subscription),
    Route("POST", _HOOK, hooks.confirm_subscription, bodies.Confirmation),
    Route("PATCH", _HOOK, hooks.change_subscription, bodies.SubscriptionChange),
    Route("DELETE", _HOOK, hooks.delete_subscription),
    Route("GET", f"{_HOOK}events/", hooks.list_events, query=(*_PAGING, "status", "resource_id")),
)
_PATTERNS = [(route.pattern(), route) for route in ROUTES]


def find_route(method: str, path: str) -> tuple[Route | None, tuple[str, ...], list[str]]:
    """The route of a call and the ids in its path; without a route, the methods that its path has."""
    methods: list[str] = []
    for pattern, route in _PATTERNS:
        if found := pattern.fullmatch(path):
            if route.method == method:
                return route, found.groups(), []
            methods.append(route.method)
    return None, (), methods


def handlers_of(state: State) -> Mapping[str, Callable[[dict[str, str]], None]]:
    """What is done when the clock comes to a task."""

    def of(function: Callable[..., None]) -> Callable[[dict[str, str]], None]:
        return lambda body: function(state, **body)

    return {
        "lapse": of(submissions.lapse),
        "time_out": of(submissions.time_out),
        "publish": of(studies.publish_as_planned),
        "bulk_approve": of(submissions.approve_planned),
        "pay_bonuses": of(submissions.pay_planned),
    }
