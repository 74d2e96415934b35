"""The simulated panel serves the contract: every operation, every documented request, answers in shape."""

import pytest
from distillery_panel_simulator.prolific_server import ROUTES

from tests.crowd.panels.worlds import REASON, Panel

from .documents import CONTRACT, OPERATIONS, list_faults, make_example, resolve

FILTERS = [
    {"filter_id": "current-country-of-residence", "selected_values": ["1"], "weightings": {"1": 1.0}},
    {
        "filter_id": "age",
        "selected_range": {"lower": 18, "upper": 60},
        "weightings": {"a": {"selected_range": {"lower": 18, "upper": 30}, "weighting": 0.5}},
    },
    {
        "filter_id": "or",
        "selected_filters": [
            {"filter_id": "sex", "selected_values": ["0"]},
            {"filter_id": "and", "selected_filters": [{"filter_id": "age", "selected_range": {"lower": 20}}]},
        ],
    },
]


class World:
    """A panel with one of everything that a call may name."""

    def __init__(self):
        self.panel = panel = Panel()
        self.workspace = panel.get("/_control/state")["workspace_id"]
        self.project = panel.get("/_control/state")["project_id"]
        self.people = panel.people(3)
        self.group = panel.post(
            "/participant-groups/",
            {"name": "g", "workspace_id": self.workspace, "participant_ids": self.people[:1]},
        )["id"]
        self.study = panel.publish(total_available_places=50)
        self.draft = panel.draft(
            access_details=[{"external_url": "https://lab.example.org/a", "total_allocation": 3}]
        )["id"]
        self.submission = panel.submit(self.study, person=self.people[0])
        panel.submit(self.study, code="AUTO", person=self.people[1])
        self.bonus = panel.post(
            "/submissions/bonus-payments/",
            {"study_id": self.study["id"], "csv_bonuses": f"{self.submission},1.50"},
        )["id"]
        panel.control("message", participant_id=self.people[0], body="Hello")
        panel.post(
            "/messages/", {"recipient_id": self.people[0], "body": "Hello", "study_id": self.study["id"]}
        )
        panel.post("/hooks/secrets/", {"workspace_id": self.workspace})
        answer = panel.call(
            "POST",
            "/hooks/subscriptions/",
            {
                "workspace_id": self.workspace,
                "event_type": "submission.status.change",
                "target_url": "https://lab.example.org/hook",
            },
        )
        self.secret, self.hook = answer.headers["X-Hook-Secret"], answer.body["id"]
        panel.post(f"/hooks/subscriptions/{self.hook}/", {"secret": self.secret})
        panel.submit(self.study, person=self.people[2])

    def path(self, operation):
        """The path with ids of things that are there."""
        path = operation.path
        for part, value in (
            ("/participant-groups/{id}", self.group),
            ("/bulk-bonus-payments/{id}", self.bonus),
            ("/submissions/{id}", self.submission),
            ("/studies/{id}", self.draft if self._needs_draft(operation) else self.study["id"]),
        ):
            path = path.replace(part, part.replace("{id}", value))
        return path.format(
            workspace_id=self.workspace,
            project_id=self.project,
            study_id=self.draft,
            subscription_id=self.hook,
        )

    def values(self, operation):
        """What fields mean, by name."""
        values = {
            "completion_codes": self.codes(),
            "filters": FILTERS,
            "access_details": [
                {"external_url": "https://lab.example.org/a", "total_allocation": 1},
                {"external_url": "https://lab.example.org/b", "total_allocation": 2},
            ],
            "submissions_config": {
                "auto_rejection_categories": ["EXCEPTIONALLY_FAST"],
                "max_concurrent_submissions": 2,
                "max_submissions_per_participant": 1,
            },
            "total_available_places": 3,
            "estimated_completion_time": 8,
            "maximum_allowed_time": 40,
            "reward": 160,
            "external_study_url": "https://lab.example.org/p",
            "project": self.project,
            "project_id": self.project,
            "workspace_id": self.workspace,
            "study_id": self.study["id"],
            "study": self.study["id"],
            "recipient_id": self.people[0],
            "user_id": self.people[0],
            "participant_ids": self.people,
            "ids": self.people,
            "participant_group_id": self.group,
            "csv_bonuses": f"{self.submission},1.50\n{self.people[1]},0.30",
            "request_return_reasons": ["No answers came."],
            "currency_code": "USD",
            "currency": "GBP",
            "event_type": "study.status.change",
            "target_url": "https://lab.example.org/other",
            "secret": self.secret,
            "ordering": "-started_at",
            "page": 1,
            "page_size": 20,
            "status": "PENDING" if "/hooks/" in operation.path else "AWAITING_REVIEW",
            "state": "ACTIVE",
            "created_after": "2026-01-01",
            "submitted_from": "01/01/2026",
            "submitted_before": "31/12/2099",
            "detailed": "true",
            "body": "Words",
            "filter": None,
        }
        if operation.path.endswith("/submissions/{id}/transition/"):
            values |= {"action": "REJECT", "message": REASON, "rejection_category": "NO_DATA"}
            values |= {"completion_code": "DONE", "completion_code_data": {"percentage_of_reward": 50}}
        if operation.path.endswith("/studies/{id}/transition/"):
            values |= {"action": "SCHEDULE_PUBLISH", "publish_at": "2999-01-01T00:00:00Z"}
        return values

    def codes(self):
        reviewed, group = {"action": "MANUALLY_REVIEW"}, {"participant_group": self.group}
        return [
            {"code": "A", "code_type": "COMPLETED", "actor": "participant", "actions": [reviewed]},
            {
                "code": "B",
                "code_type": "FOLLOW_UP_STUDY",
                "actor": "participant",
                "actions": [
                    {"action": "AUTOMATICALLY_APPROVE"},
                    {"action": "ADD_TO_PARTICIPANT_GROUP", **group},
                    {"action": "REMOVE_FROM_PARTICIPANT_GROUP", **group},
                ],
            },
            {
                "code": "C",
                "code_type": "NO_CONSENT",
                "actor": "participant",
                "actions": [{"action": "REQUEST_RETURN", "return_reason": "No consent"}],
            },
            {
                "code": "D",
                "code_type": "FIXED_SCREENOUT",
                "actor": "participant",
                "actions": [
                    {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 20, "slots": 3}
                ],
            },
            {
                "code": "E",
                "code_type": "OTHER",
                "actor": "researcher",
                "actions": [{"action": "DYNAMIC_PAYMENT"}],
            },
        ]

    def _needs_draft(self, operation):
        return operation.method == "PATCH" or operation.path.endswith("/{id}/transition/")


def bodies(operation, values):
    """Bodies of an operation: required fields alone, and all; of each form that it has."""
    if operation.request is None:
        return [None]
    schema = resolve(operation.request)
    forms = schema.get("anyOf", [schema])
    made = [make_example(form, values, full=full) for form in forms for full in (False, True)]
    if operation.path.endswith("/bonus-payments/"):
        return made[
            1:
        ]  # a list of bonuses without a list of bonuses is no request, though no field is required
    if operation.path.endswith("/transition/"):
        return (
            [value | {"message": REASON, "rejection_category": "OTHER"} for value in made]
            if ("submissions" in operation.path)
            else made[1:]
        )
    return made


def queries(operation, values):
    """Parameters of an operation: those needed, and all."""
    needed = [(name, name in values and values[name]) for name, required, _ in operation.query if required]
    every = [
        (name, values.get(name, make_example(schema, {}, full=True, name=name) if schema else "x"))
        for name, _, schema in operation.query
    ]
    return [
        "&".join(
            # The contract's object `filter` is written as its field is, as forms are.
            f"{'workspace_id' if name == 'filter' else name}="
            f"{values['workspace_id'] if name == 'filter' else str(value).replace('True', 'true')}"
            for name, value in given
        )
        for given in (needed, every)
    ]


@pytest.fixture(scope="module")
def world():
    """For calls that change nothing that others need."""
    return World()


def test_every_operation_has_a_route_and_every_route_an_operation():
    def plain(path):
        return "/".join("{}" if part.startswith("{") else part for part in path.split("/"))

    served = {f"{route.method} {plain(route.template)}" for route in ROUTES}
    assert served == {f"{each.method} {plain(each.path)}" for each in OPERATIONS.values()}
    assert len(CONTRACT["paths"]) == 24


@pytest.mark.parametrize("name", OPERATIONS)
def test_documented_requests_are_accepted_and_answered_in_shape(name):
    operation = OPERATIONS[name]
    first = World()
    for number in range(len(bodies(operation, first.values(operation)))):
        for turn in (0, 1) if operation.query else (0,):
            world = first if operation.method == "GET" or not number else World()
            values = world.values(operation)
            body, query = bodies(operation, values)[number], queries(operation, values)[turn]
            if body is not None:
                assert list_faults(operation.request, body) == []
            path = world.path(operation).removeprefix("/api/v1")
            answer = world.panel.call(operation.method, f"{path}{'?' + query if query else ''}", body)
            assert answer.status == operation.success, (path, query, body, answer)
            shown = {} if answer.body is None else answer.body
            assert list_faults(operation.response, shown) == []


@pytest.mark.parametrize("name", [name for name, each in OPERATIONS.items() if each.request])
def test_undocumented_fields_are_refused_in_the_documented_form(world, name):
    operation = OPERATIONS[name]
    body = (bodies(operation, world.values(operation))[-1] or {}) | {"no_such_field": 1}
    answer = world.panel.call(operation.method, world.path(operation).removeprefix("/api/v1"), body)
    assert answer.status == 400
    assert "no_such_field" in str(answer.body)
    assert list_faults(operation.refusal, answer.body) == []


def test_undocumented_parameters_are_refused(world):
    for operation in OPERATIONS.values():
        path = f"{world.path(operation).removeprefix('/api/v1')}?no_such_parameter=1"
        assert world.panel.call(operation.method, path).status == 400


def test_undocumented_paths_and_methods_are_refused(world):
    for path in ("/studies/x/y/", "/surveys/", "/", "/studies//"):
        assert world.panel.call("GET", path).status == 404
    paths = {path for path in CONTRACT["paths"] if path.startswith("/api/")}
    for path in paths:
        for method in ("GET", "POST", "PATCH", "DELETE", "PUT", "OPTIONS"):
            if method.lower() not in CONTRACT["paths"][path]:
                filled = path.removeprefix("/api/v1").replace("{", "").replace("}", "")
                assert world.panel.call(method, filled).status in (404, 405), (method, path)


def test_every_call_needs_the_token_and_foreign_ids_are_not_found(world):
    foreign = "0" * 24
    for operation in OPERATIONS.values():
        path = world.path(operation).removeprefix("/api/v1")
        if path.startswith("/.well-known"):
            continue
        for token in (None, "", "another"):
            answer = world.panel.call(operation.method, path, token=token)
            assert answer.status == 401
            assert list_faults({"$ref": "#/components/schemas/Error"}, answer.body) == []
    for path in (
        f"/studies/{foreign}/",
        f"/submissions/{foreign}/",
        f"/workspaces/{foreign}/balance/",
    ):
        assert world.panel.call("GET", path).status == 404


def test_paths_work_with_and_without_the_slash_at_the_end(world):
    for path in (
        "/studies",
        "/studies/",
        f"/studies/{world.study['id']}",
        f"/studies/{world.study['id']}/",
    ):
        assert world.panel.call("GET", path).status == 200


def test_every_documented_word_of_a_draft_is_accepted(world):
    properties = resolve({"$ref": "#/components/schemas/CreateStudy"})["properties"]
    tried = 0
    for name, schema in properties.items():
        words = resolve(schema).get("enum") or resolve(resolve(schema).get("items", {})).get("enum") or []
        for word in words:
            is_list = "items" in resolve(schema)
            world.panel.draft(**{name: [word] if is_list else word})
            tried += 1
    for word in resolve({"$ref": "#/components/schemas/CreateStudyCompletionCodesItemsCodeType"})["enum"]:
        world.panel.draft(completion_codes=[{"code": "X", "code_type": word, "actions": []}])
        tried += 1
    assert tried > 30
