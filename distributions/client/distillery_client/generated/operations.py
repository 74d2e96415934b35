"""A method for each operation of the API. Written from docs/openapi.json by `generate.py`; not by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Literal

from distillery_client.generated import models
from distillery_client.sending import Content, Sender


class Operations(Sender):
    """All operations as methods, named as in the schema."""

    def list_endpoints(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.EndpointOut]:
        """Marketplaces and panels that the token's person may spend from, by themselves or in their projects.

        For staff all of them; with a token of one project those that this project uses or its person holds.
        """
        return self._send(
            models.Page[models.EndpointOut],
            "GET",
            "/api/v1/endpoints",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def create_endpoint(
        self, body: models.EndpointIn | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.EndpointOut:
        """Add a marketplace or panel; for staff."""
        return self._send(
            models.EndpointOut, "POST", "/api/v1/endpoints", body=body, idempotency_key=idempotency_key
        )

    def remove_endpoint(self, endpoint: str) -> None:
        """Remove an unused endpoint; for staff."""
        self._send_nothing("DELETE", f"/api/v1/endpoints/{self._part(endpoint)}")

    def get_endpoint(self, endpoint: str) -> models.EndpointOut:
        """One marketplace."""
        return self._send(models.EndpointOut, "GET", f"/api/v1/endpoints/{self._part(endpoint)}")

    def move_endpoint(
        self, endpoint: str, body: models.EndpointMove | Mapping[str, Any]
    ) -> models.EndpointOut:
        """Correct the address of an endpoint to which nothing was sent; for staff."""
        return self._send(models.EndpointOut, "PATCH", f"/api/v1/endpoints/{self._part(endpoint)}", body=body)

    def check_endpoint(self, endpoint: str, *, idempotency_key: str | None = None) -> models.Balance:
        """Ask it for the balance, which proves that address and keys work; for staff."""
        return self._send(
            models.Balance,
            "POST",
            f"/api/v1/endpoints/{self._part(endpoint)}/check",
            idempotency_key=idempotency_key,
        )

    def subscribe_to_hooks(self, endpoint: str, *, idempotency_key: str | None = None) -> models.Hooks:
        """Make a panel send hooks from now on; for staff."""
        return self._send(
            models.Hooks,
            "POST",
            f"/api/v1/endpoints/{self._part(endpoint)}/hooks",
            idempotency_key=idempotency_key,
        )

    def list_spenders(
        self,
        endpoint: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.SpenderOut]:
        """Projects and people who may spend from an endpoint; for staff."""
        return self._send(
            models.Page[models.SpenderOut],
            "GET",
            f"/api/v1/endpoints/{self._part(endpoint)}/spenders",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def disallow_spending(self, endpoint: str, kind: Literal["projects", "users"], name: str) -> None:
        """Remove that right. Open stages that depend on it alone are paused; for staff."""
        self._send_nothing(
            "DELETE",
            f"/api/v1/endpoints/{self._part(endpoint)}/spenders/{self._part(kind)}/{self._part(name)}",
        )

    def allow_spending(
        self, endpoint: str, kind: Literal["projects", "users"], name: str
    ) -> models.SpenderOut:
        """Let a project or a person spend from an endpoint; for staff."""
        return self._send(
            models.SpenderOut,
            "PUT",
            f"/api/v1/endpoints/{self._part(endpoint)}/spenders/{self._part(kind)}/{self._part(name)}",
        )

    def list_installation_texts(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        kind: Literal["terms", "privacy"] | None = None,
        in_force: bool | None = None,
    ) -> models.Page[models.OwnTextOut]:
        """Terms and privacy of the installation, in versions."""
        return self._send(
            models.Page[models.OwnTextOut],
            "GET",
            "/api/v1/installation/texts",
            query={"limit": limit, "cursor": cursor, "order": order, "kind": kind, "in_force": in_force},
        )

    def publish_installation_text(
        self, body: models.OwnTextIn | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.OwnTextOut:
        """Publish a version of the terms or of the text about privacy; for staff."""
        return self._send(
            models.OwnTextOut,
            "POST",
            "/api/v1/installation/texts",
            body=body,
            idempotency_key=idempotency_key,
        )

    def get_caller(self) -> models.CallerOut:
        """Whose token it is, what it may do, and until when."""
        return self._send(models.CallerOut, "GET", "/api/v1/me")

    def list_notices(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        state: Literal["open", "unread", "over", "all"] | None = None,
    ) -> models.Page[models.NoticeOut]:
        """Notices of all projects of the token's person; of a token bound to a project, of that one."""
        return self._send(
            models.Page[models.NoticeOut],
            "GET",
            "/api/v1/notices",
            query={"limit": limit, "cursor": cursor, "order": order, "state": state},
        )

    def read_notices(
        self,
        *,
        body: models.NoticesToRead | Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> models.NoticesRead:
        """Mark notices of their projects as read by the token's person. Others still see them as unread."""
        return self._send(
            models.NoticesRead, "POST", "/api/v1/notices/read", body=body, idempotency_key=idempotency_key
        )

    def list_projects(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.ProjectOut]:
        """The projects of the token's person; of a token bound to a project, that one."""
        return self._send(
            models.Page[models.ProjectOut],
            "GET",
            "/api/v1/projects",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def create_project(
        self, body: models.ProjectIn | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.ProjectOut:
        """Make a project. Nothing is published before one of its stages is opened."""
        return self._send(
            models.ProjectOut, "POST", "/api/v1/projects", body=body, idempotency_key=idempotency_key
        )

    def get_project(self, project: str) -> models.ProjectOut:
        """One project, with its budget; the ETag is for changing it."""
        return self._send(models.ProjectOut, "GET", f"/api/v1/projects/{self._part(project)}")

    def change_project(
        self, project: str, body: models.ProjectChanges | Mapping[str, Any], *, if_match: str
    ) -> models.ProjectOut:
        """Change settings and budget of a project, all of them or none."""
        return self._send(
            models.ProjectOut,
            "PATCH",
            f"/api/v1/projects/{self._part(project)}",
            body=body,
            if_match=if_match,
        )

    def list_cases(
        self,
        project: str,
        *,
        waiting: Literal["", "tied", "one-flag", "disputed", "doubt"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.CaseOut]:
        """Queries that wait for a person's decision, in the order of their import."""
        return self._send(
            models.Page[models.CaseOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/adjudication",
            query={"waiting": waiting, "limit": limit, "cursor": cursor, "order": order},
        )

    def export_cases(
        self, project: str, *, waiting: Literal["", "tied", "one-flag", "disputed", "doubt"] | None = None
    ) -> Iterator[dict[str, Any]]:
        """All queries that wait for a person's decision, one per line."""
        return self._lines(
            "GET", f"/api/v1/projects/{self._part(project)}/adjudication.jsonl", query={"waiting": waiting}
        )

    def get_case(self, project: str, number: int) -> models.CaseDetails:
        """One query by its id, with the votes, choices and passages on which it is decided."""
        return self._send(
            models.CaseDetails,
            "GET",
            f"/api/v1/projects/{self._part(project)}/adjudication/{self._part(number)}",
        )

    def decide_case(
        self,
        project: str,
        number: int,
        body: models.CaseDecision | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.CaseDetails:
        """Decide about a query that waits; one that does not wait for such a decision is left as it is."""
        return self._send(
            models.CaseDetails,
            "POST",
            f"/api/v1/projects/{self._part(project)}/adjudication/{self._part(number)}/decide",
            body=body,
            idempotency_key=idempotency_key,
        )

    def undo_case(
        self,
        project: str,
        number: int,
        body: models.ReasonIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.CaseDetails:
        """Take a person's decision back: the query waits as before, or its votes decide about it again.

        Refused where later work was built on the decision. What people were asked again cannot be taken back.
        """
        return self._send(
            models.CaseDetails,
            "POST",
            f"/api/v1/projects/{self._part(project)}/adjudication/{self._part(number)}/undo",
            body=body,
            idempotency_key=idempotency_key,
        )

    def get_audit_state(self, project: str) -> models.AuditState:
        """How far the log of a project is chained by digests, and what the nightly verification found."""
        return self._send(models.AuditState, "GET", f"/api/v1/projects/{self._part(project)}/audit")

    def list_audit_entries(
        self,
        project: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        action: str | None = None,
        via: Literal["page", "api", "call", "job", "timer", "command"] | None = None,
        who: str | None = None,
        about: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> models.Page[models.AuditEntry]:
        """Who did what, from where and by which way, with the digest of each entry."""
        return self._send(
            models.Page[models.AuditEntry],
            "GET",
            f"/api/v1/projects/{self._part(project)}/audit/entries",
            query={
                "limit": limit,
                "cursor": cursor,
                "order": order,
                "action": action,
                "via": via,
                "who": who,
                "about": about,
                "since": since,
                "until": until,
            },
        )

    def export_audit_entries(
        self,
        project: str,
        *,
        action: str | None = None,
        via: Literal["page", "api", "call", "job", "timer", "command"] | None = None,
        who: str | None = None,
        about: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Iterator[dict[str, Any]]:
        """All entries of the filters in the order of the chain, one per line, with their digests."""
        return self._lines(
            "GET",
            f"/api/v1/projects/{self._part(project)}/audit/entries.jsonl",
            query={"action": action, "via": via, "who": who, "about": about, "since": since, "until": until},
        )

    def verify_audit_log(
        self, project: str, *, idempotency_key: str | None = None
    ) -> models.AuditVerification:
        """Compute every digest of the log again. Nothing is changed."""
        return self._send(
            models.AuditVerification,
            "POST",
            f"/api/v1/projects/{self._part(project)}/audit/verify",
            idempotency_key=idempotency_key,
        )

    def get_budget(self, project: str) -> models.BudgetOut:
        """What a project may spend, has reserved and has spent."""
        return self._send(models.BudgetOut, "GET", f"/api/v1/projects/{self._part(project)}/budget")

    def list_candidate_imports(
        self,
        project: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.CandidateImportOut]:
        """Imports of answers with their reports."""
        return self._send(
            models.Page[models.CandidateImportOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/candidate-imports",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def import_candidates(
        self,
        project: str,
        body: models.CandidateImportIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.JobRef:
        """Import an upload as candidates, by a job: all of it or nothing. Existing answers stay as they are."""
        return self._send(
            models.JobRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/candidate-imports",
            body=body,
            idempotency_key=idempotency_key,
        )

    def import_candidate_lines(
        self,
        project: str,
        content: Content,
        *,
        name: str | None = None,
        keep_exact: bool | None = None,
        idempotency_key: str | None = None,
    ) -> models.JobRef:
        """Send answers of systems as the body, one JSON object per line; a job imports them, all or nothing.

        Every line is checked before anything is kept: a fault names its line and field. What is there stays as
        it is.
        """
        return self._send(
            models.JobRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/candidate-imports/lines",
            content=content,
            media="application/jsonl",
            query={"name": name, "keep_exact": keep_exact},
            idempotency_key=idempotency_key,
        )

    def list_candidates(
        self,
        project: str,
        *,
        system: str | None = None,
        query: int | None = None,
        state: Literal["", "judge", "exact", "empty", "withdrawn"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.CandidateOut]:
        """Answers of systems."""
        return self._send(
            models.Page[models.CandidateOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/candidates",
            query={
                "system": system,
                "query": query,
                "state": state,
                "limit": limit,
                "cursor": cursor,
                "order": order,
            },
        )

    def export_candidates(
        self,
        project: str,
        *,
        system: str | None = None,
        query: int | None = None,
        state: Literal["", "judge", "exact", "empty", "withdrawn"] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """All answers of the filters, one per line."""
        return self._lines(
            "GET",
            f"/api/v1/projects/{self._part(project)}/candidates.jsonl",
            query={"system": system, "query": query, "state": state},
        )

    def set_copies_aside(self, project: str, *, idempotency_key: str | None = None) -> models.CandidateCount:
        """Set aside answers that are now the same as a reference. Judged and kept ones stay as they are."""
        return self._send(
            models.CandidateCount,
            "POST",
            f"/api/v1/projects/{self._part(project)}/candidates/copies",
            idempotency_key=idempotency_key,
        )

    def update_human_candidates(
        self, project: str, *, idempotency_key: str | None = None
    ) -> models.SystemOut:
        """Make held-out answers candidates of the system `human`."""
        return self._send(
            models.SystemOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/candidates/human",
            idempotency_key=idempotency_key,
        )

    def get_candidate(self, project: str, number: int) -> models.CandidateOut:
        """One answer by its id."""
        return self._send(
            models.CandidateOut,
            "GET",
            f"/api/v1/projects/{self._part(project)}/candidates/{self._part(number)}",
        )

    def put_candidate_back(
        self,
        project: str,
        number: int,
        body: models.ReasonIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.CandidateOut:
        """Put back an answer that was set aside or taken out: people judge it."""
        return self._send(
            models.CandidateOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/candidates/{self._part(number)}/put-back",
            body=body,
            idempotency_key=idempotency_key,
        )

    def withdraw_candidate(
        self,
        project: str,
        number: int,
        body: models.ReasonIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.CandidateOut:
        """Take an answer out: people no longer judge it; judgments already given stay."""
        return self._send(
            models.CandidateOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/candidates/{self._part(number)}/withdraw",
            body=body,
            idempotency_key=idempotency_key,
        )

    def close_project(
        self,
        project: str,
        *,
        body: models.ProjectReason | Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> models.ProjectOut:
        """Close a project whose stages are drafts or closed. No stage can be made or opened until it is reopened.

        Reading, decisions, filters, releases and evaluations remain possible.
        """
        return self._send(
            models.ProjectOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/close",
            body=body,
            idempotency_key=idempotency_key,
        )

    def list_consent_texts(
        self,
        project: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        language: str | None = None,
        in_force: bool | None = None,
    ) -> models.Page[models.ConsentTextOut]:
        """Versions of the texts that people agree to before they join by a link or panel."""
        return self._send(
            models.Page[models.ConsentTextOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/consent-texts",
            query={
                "limit": limit,
                "cursor": cursor,
                "order": order,
                "language": language,
                "in_force": in_force,
            },
        )

    def publish_consent_text(
        self,
        project: str,
        body: models.ConsentTextIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.ConsentTextOut:
        """Publish a version for people who join from now on. What others agreed to stays.

        Where nothing differs from the newest version, no new one is made, and that one is the answer.
        """
        return self._send(
            models.ConsentTextOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/consent-texts",
            body=body,
            idempotency_key=idempotency_key,
        )

    def get_consent_text(self, project: str, text: int) -> models.ConsentTextOut:
        """One version of a consent text."""
        return self._send(
            models.ConsentTextOut,
            "GET",
            f"/api/v1/projects/{self._part(project)}/consent-texts/{self._part(text)}",
        )

    def copy_project(
        self, project: str, body: models.CopyIn | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.ProjectOut:
        """Copy a project with drafts of all stages; queries, answers and members are not copied."""
        return self._send(
            models.ProjectOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/copies",
            body=body,
            idempotency_key=idempotency_key,
        )

    def list_corpora(self, project: str) -> models.Page[models.CorpusOut]:
        """All corpora of the project."""
        return self._send(
            models.Page[models.CorpusOut], "GET", f"/api/v1/projects/{self._part(project)}/corpora"
        )

    def create_corpus_from_upload(
        self, project: str, body: models.CorpusIn | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.JobRef:
        """Make a corpus of an uploaded file, by a job that also builds its index."""
        return self._send(
            models.JobRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/corpora",
            body=body,
            idempotency_key=idempotency_key,
        )

    def get_corpus(self, project: str, corpus: str) -> models.CorpusOut:
        """One corpus, with the state of its index and its network."""
        return self._send(
            models.CorpusOut, "GET", f"/api/v1/projects/{self._part(project)}/corpora/{self._part(corpus)}"
        )

    def add_corpus_file(
        self,
        project: str,
        corpus: str,
        body: models.FileIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.JobRef:
        """Add an uploaded file to a corpus, by a job: all of it or nothing."""
        return self._send(
            models.JobRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/corpora/{self._part(corpus)}/files",
            body=body,
            idempotency_key=idempotency_key,
        )

    def build_index(self, project: str, corpus: str, *, idempotency_key: str | None = None) -> models.JobRef:
        """Bring the index of a corpus up to date."""
        return self._send(
            models.JobRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/corpora/{self._part(corpus)}/index",
            idempotency_key=idempotency_key,
        )

    def build_network(
        self, project: str, corpus: str, *, idempotency_key: str | None = None
    ) -> models.JobRef:
        """Bring the word proximity network of a corpus up to date."""
        return self._send(
            models.JobRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/corpora/{self._part(corpus)}/network",
            idempotency_key=idempotency_key,
        )

    def add_passage_lines(
        self,
        project: str,
        corpus: str,
        content: Content,
        *,
        name: str | None = None,
        create: bool | None = None,
        title: str | None = None,
        language: str | None = None,
        same_id: Literal["refuse", "first", "number"] | None = None,
        repeats: Literal["report", "skip", "keep"] | None = None,
        idempotency_key: str | None = None,
    ) -> models.JobRef:
        """Send passages as the body, one JSON object per line; a job adds them to a corpus, all or nothing.

        Every line is checked before anything is kept: a fault names its line and field. With `create` the corpus
        is made where it is not there.
        """
        return self._send(
            models.JobRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/corpora/{self._part(corpus)}/passages",
            content=content,
            media="application/jsonl",
            query={
                "name": name,
                "create": create,
                "title": title,
                "language": language,
                "same_id": same_id,
                "repeats": repeats,
            },
            idempotency_key=idempotency_key,
        )

    def remove_a_corpus(
        self, project: str, corpus: str, *, idempotency_key: str | None = None
    ) -> models.JobRef:
        """Remove a corpus with its index and network; passages that were curated stay with their queries."""
        return self._send(
            models.JobRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/corpora/{self._part(corpus)}/remove",
            idempotency_key=idempotency_key,
        )

    def export_curated(self, project: str) -> Iterator[dict[str, Any]]:
        """All curated sets with their passages, one query per line."""
        return self._lines("GET", f"/api/v1/projects/{self._part(project)}/curated.jsonl")

    def get_curation(self, project: str) -> models.CurationOut:
        """How many queries wait for passages or for a person, and how many have a curated set."""
        return self._send(models.CurationOut, "GET", f"/api/v1/projects/{self._part(project)}/curation")

    def get_recall(self, project: str) -> models.RecallOut:
        """Estimated recall of the passages that editors are shown, from those drawn from below the cut."""
        return self._send(models.RecallOut, "GET", f"/api/v1/projects/{self._part(project)}/curation/recall")

    def list_evaluations(
        self,
        project: str,
        *,
        release: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.EvaluationOut]:
        """The evaluations of the project's releases."""
        return self._send(
            models.Page[models.EvaluationOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/evaluations",
            query={"release": release, "limit": limit, "cursor": cursor, "order": order},
        )

    def list_events(
        self,
        project: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        action: str | None = None,
    ) -> models.Page[models.EventOut]:
        """The log of a project."""
        return self._send(
            models.Page[models.EventOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/events",
            query={"limit": limit, "cursor": cursor, "order": order, "action": action},
        )

    def export_events(self, project: str, *, action: str | None = None) -> Iterator[dict[str, Any]]:
        """The whole log of a project, oldest first, one event per line."""
        return self._lines(
            "GET", f"/api/v1/projects/{self._part(project)}/events.jsonl", query={"action": action}
        )

    def list_external_scores(
        self,
        project: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.ExternalScoresOut]:
        """Scores from elsewhere that are kept for the releases of a project."""
        return self._send(
            models.Page[models.ExternalScoresOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/external-scores",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def add_external_scores(
        self,
        project: str,
        body: models.ExternalScoresIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.ExternalScoresOut:
        """Read a column of scores of an uploaded file, all of it or nothing: CSV, TSV or JSONL, plain or gzip.

        Its header names candidate_id and score, or query_id, system and score.
        """
        return self._send(
            models.ExternalScoresOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/external-scores",
            body=body,
            idempotency_key=idempotency_key,
        )

    def remove_external_scores(self, project: str, scores: int) -> None:
        """Remove scores. Evaluations that are finished keep their values."""
        self._send_nothing(
            "DELETE", f"/api/v1/projects/{self._part(project)}/external-scores/{self._part(scores)}"
        )

    def get_external_scores(self, project: str, scores: int) -> models.ExternalScoresOut:
        """One column of scores, also before it is kept."""
        return self._send(
            models.ExternalScoresOut,
            "GET",
            f"/api/v1/projects/{self._part(project)}/external-scores/{self._part(scores)}",
        )

    def keep_external_scores(
        self, project: str, scores: int, *, idempotency_key: str | None = None
    ) -> models.ExternalScoresOut:
        """Keep scores, so that evaluations of their release can use them."""
        return self._send(
            models.ExternalScoresOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/external-scores/{self._part(scores)}/keep",
            idempotency_key=idempotency_key,
        )

    def hold_out(
        self, project: str, body: models.HoldOutIn | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.HoldOutOut:
        """Draw people whose answers become candidates instead of references; a query is drawn for once."""
        return self._send(
            models.HoldOutOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/hold-out",
            body=body,
            idempotency_key=idempotency_key,
        )

    def list_invitations(
        self,
        project: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.InvitationOut]:
        """Invitations of the last half year, with who accepted them."""
        return self._send(
            models.Page[models.InvitationOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/invitations",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def create_invitation(
        self,
        project: str,
        body: models.InvitationIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.NewInvitation:
        """Invite people to the project. The link works as long as the token's person owns it."""
        return self._send(
            models.NewInvitation,
            "POST",
            f"/api/v1/projects/{self._part(project)}/invitations",
            body=body,
            idempotency_key=idempotency_key,
        )

    def revoke_invitation(self, project: str, invitation: int) -> None:
        """Revoke an invitation. People who accepted it keep their role."""
        self._send_nothing(
            "DELETE", f"/api/v1/projects/{self._part(project)}/invitations/{self._part(invitation)}"
        )

    def list_jobs(
        self,
        project: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        state: Literal["queued", "running", "done", "failed", "cancelled"] | None = None,
        kind: str | None = None,
    ) -> models.Page[models.JobDetails]:
        """Jobs of a project and its stages."""
        return self._send(
            models.Page[models.JobDetails],
            "GET",
            f"/api/v1/projects/{self._part(project)}/jobs",
            query={"limit": limit, "cursor": cursor, "order": order, "state": state, "kind": kind},
        )

    def get_job(self, project: str, job: int) -> models.JobDetails:
        """One job: ask again until its state is done, failed or cancelled."""
        return self._send(
            models.JobDetails, "GET", f"/api/v1/projects/{self._part(project)}/jobs/{self._part(job)}"
        )

    def cancel_job(self, project: str, job: int, *, idempotency_key: str | None = None) -> models.JobDetails:
        """Cancel a job that waits or runs; nothing of an import is stored."""
        return self._send(
            models.JobDetails,
            "POST",
            f"/api/v1/projects/{self._part(project)}/jobs/{self._part(job)}/cancel",
            idempotency_key=idempotency_key,
        )

    def list_matches(
        self,
        project: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        verdict: Literal["open", "same", "different"] | None = None,
    ) -> models.Page[models.MatchOut]:
        """Workers of two marketplaces who have something in common, such as the id at a panel.

        Until a person decides, and after "same", an exclusion of one also excludes the other; what either did
        stays as it is.
        """
        return self._send(
            models.Page[models.MatchOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/matches",
            query={"limit": limit, "cursor": cursor, "order": order, "verdict": verdict},
        )

    def decide_match(
        self,
        project: str,
        match: int,
        body: models.MatchVerdict | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.MatchOut:
        """Say whether two workers are the same person. It can be changed later, and is logged each time."""
        return self._send(
            models.MatchOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/matches/{self._part(match)}/decide",
            body=body,
            idempotency_key=idempotency_key,
        )

    def list_members(
        self,
        project: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.MemberOut]:
        """All members of the project with their roles."""
        return self._send(
            models.Page[models.MemberOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/members",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def remove_member(self, project: str, username: str) -> None:
        """Remove a member. The last owner stays."""
        self._send_nothing("DELETE", f"/api/v1/projects/{self._part(project)}/members/{self._part(username)}")

    def set_member(
        self, project: str, username: str, body: models.MemberIn | Mapping[str, Any]
    ) -> models.MemberOut:
        """Add a person who has an account, or change a member's role. The last owner stays owner."""
        return self._send(
            models.MemberOut,
            "PUT",
            f"/api/v1/projects/{self._part(project)}/members/{self._part(username)}",
            body=body,
        )

    def list_project_notices(
        self,
        project: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        state: Literal["open", "unread", "over", "all"] | None = None,
    ) -> models.Page[models.NoticeOut]:
        """Notices of one project."""
        return self._send(
            models.Page[models.NoticeOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/notices",
            query={"limit": limit, "cursor": cursor, "order": order, "state": state},
        )

    def get_notice_mail(self, project: str) -> models.NoticeMail:
        """Which notices of the project the token's person gets by e-mail; the ETag is for changing it."""
        return self._send(models.NoticeMail, "GET", f"/api/v1/projects/{self._part(project)}/notices/e-mail")

    def change_notice_mail(
        self, project: str, body: models.NoticeMailChanges | Mapping[str, Any], *, if_match: str
    ) -> models.NoticeMail:
        """Choose which notices of the project come by e-mail. This is for the token's person alone."""
        return self._send(
            models.NoticeMail,
            "PATCH",
            f"/api/v1/projects/{self._part(project)}/notices/e-mail",
            body=body,
            if_match=if_match,
        )

    def read_project_notices(
        self,
        project: str,
        *,
        body: models.NoticesToRead | Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> models.NoticesRead:
        """Mark notices of the project as read by the token's person. Others still see them as unread."""
        return self._send(
            models.NoticesRead,
            "POST",
            f"/api/v1/projects/{self._part(project)}/notices/read",
            body=body,
            idempotency_key=idempotency_key,
        )

    def get_notice(self, project: str, notice: int) -> models.NoticeOut:
        """One notice."""
        return self._send(
            models.NoticeOut, "GET", f"/api/v1/projects/{self._part(project)}/notices/{self._part(notice)}"
        )

    def read_notice(
        self, project: str, notice: int, *, idempotency_key: str | None = None
    ) -> models.NoticeOut:
        """Mark a notice as read by the token's person."""
        return self._send(
            models.NoticeOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/notices/{self._part(notice)}/read",
            idempotency_key=idempotency_key,
        )

    def list_waiting_operations(
        self,
        project: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.OperationOut]:
        """Calls without an answer, in all stages: a person must find out what became of them."""
        return self._send(
            models.Page[models.OperationOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/operations/waiting",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def resolve_operation(
        self,
        project: str,
        operation: str,
        body: models.Resolution | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.OperationOut:
        """State what became of a call without an answer: it is booked as done, or its money is free again."""
        return self._send(
            models.OperationOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/operations/{self._part(operation)}/resolve",
            body=body,
            idempotency_key=idempotency_key,
        )

    def check_privacy(self, project: str, *, idempotency_key: str | None = None) -> models.JobRef:
        """Check all texts of the project, by a job."""
        return self._send(
            models.JobRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/privacy/checks",
            idempotency_key=idempotency_key,
        )

    def decide_findings(
        self,
        project: str,
        body: models.FindingDecision | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.FindingOutcome:
        """Accept findings, black them out, or open them again."""
        return self._send(
            models.FindingOutcome,
            "POST",
            f"/api/v1/projects/{self._part(project)}/privacy/decisions",
            body=body,
            idempotency_key=idempotency_key,
        )

    def list_findings(
        self,
        project: str,
        *,
        state: Literal["open", "accepted", "redacted", "gone"] | None = None,
        rule: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.FindingOut]:
        """What the privacy check found; a release is built when none of it is open."""
        return self._send(
            models.Page[models.FindingOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/privacy/findings",
            query={"state": state, "rule": rule, "limit": limit, "cursor": cursor, "order": order},
        )

    def list_queries(
        self,
        project: str,
        *,
        status: Literal[
            "",
            "waiting",
            "tied",
            "excluded",
            "accepted",
            "disputed",
            "unanswerable",
            "curated",
            "answered",
            "withdrawn",
            "through-screening",
            "through-curation",
            "taken-out-screening",
            "taken-out-curation",
            "taken-out-distillation",
        ]
        | None = None,
        type: Literal["", "PERSON", "NUMERIC", "LOCATION", "ENTITY", "DESCRIPTION", "none", "yes-no"]
        | None = None,
        only: Literal[
            "", "rewrite", "flagged", "undecided", "no-answer", "no-passages", "by-hand", "one-flag"
        ]
        | None = None,
        source: int | None = None,
        q: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.QueryOut]:
        """The queries of the project, in the order of their import."""
        return self._send(
            models.Page[models.QueryOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/queries",
            query={
                "status": status,
                "type": type,
                "only": only,
                "source": source,
                "q": q,
                "limit": limit,
                "cursor": cursor,
                "order": order,
            },
        )

    def export_queries(
        self,
        project: str,
        *,
        status: Literal[
            "",
            "waiting",
            "tied",
            "excluded",
            "accepted",
            "disputed",
            "unanswerable",
            "curated",
            "answered",
            "withdrawn",
            "through-screening",
            "through-curation",
            "taken-out-screening",
            "taken-out-curation",
            "taken-out-distillation",
        ]
        | None = None,
        type: Literal["", "PERSON", "NUMERIC", "LOCATION", "ENTITY", "DESCRIPTION", "none", "yes-no"]
        | None = None,
        only: Literal[
            "", "rewrite", "flagged", "undecided", "no-answer", "no-passages", "by-hand", "one-flag"
        ]
        | None = None,
        source: int | None = None,
        q: str | None = None,
    ) -> Iterator[dict[str, Any]]:
        """All queries of the filters, one per line."""
        return self._lines(
            "GET",
            f"/api/v1/projects/{self._part(project)}/queries.jsonl",
            query={"status": status, "type": type, "only": only, "source": source, "q": q},
        )

    def decide_queries(
        self,
        project: str,
        body: models.QueryDecisions | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.DecisionOutcome:
        """Accept or exclude queries by hand, or take that back, each for itself."""
        return self._send(
            models.DecisionOutcome,
            "POST",
            f"/api/v1/projects/{self._part(project)}/queries/decisions",
            body=body,
            idempotency_key=idempotency_key,
        )

    def get_query(self, project: str, number: int) -> models.QueryDetails:
        """One query by its id, with its passages and its history from the log to its answers."""
        return self._send(
            models.QueryDetails, "GET", f"/api/v1/projects/{self._part(project)}/queries/{self._part(number)}"
        )

    def find_candidates(
        self,
        project: str,
        number: int,
        *,
        body: models.CandidatesIn | Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> models.CandidatesFound:
        """Find candidate passages for a query in the project's corpora; those that it has already stay."""
        return self._send(
            models.CandidatesFound,
            "POST",
            f"/api/v1/projects/{self._part(project)}/queries/{self._part(number)}/candidates",
            body=body,
            idempotency_key=idempotency_key,
        )

    def put_query_back(
        self,
        project: str,
        number: int,
        body: models.ReasonIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.QueryDetails:
        """Return a query that was taken out to its earlier state."""
        return self._send(
            models.QueryDetails,
            "POST",
            f"/api/v1/projects/{self._part(project)}/queries/{self._part(number)}/put-back",
            body=body,
            idempotency_key=idempotency_key,
        )

    def withdraw_query(
        self,
        project: str,
        number: int,
        body: models.ReasonIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.QueryDetails:
        """Take a query out: people are no longer asked about it; work already done stays and is paid."""
        return self._send(
            models.QueryDetails,
            "POST",
            f"/api/v1/projects/{self._part(project)}/queries/{self._part(number)}/withdraw",
            body=body,
            idempotency_key=idempotency_key,
        )

    def list_query_imports(
        self,
        project: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.QueryImportOut]:
        """Imports of queries with their reports."""
        return self._send(
            models.Page[models.QueryImportOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/query-imports",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def import_queries(
        self,
        project: str,
        body: models.QueryImportIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.JobRef:
        """Import an upload as queries, by a job: all of it or nothing."""
        return self._send(
            models.JobRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/query-imports",
            body=body,
            idempotency_key=idempotency_key,
        )

    def import_query_lines(
        self,
        project: str,
        content: Content,
        *,
        name: str | None = None,
        shortest: int | None = None,
        longest: int | None = None,
        start_at: Literal["screening", "curation", "distillation"] | None = None,
        idempotency_key: str | None = None,
    ) -> models.JobRef:
        """Send queries as the body, one JSON object per line; a job imports them, all or nothing.

        Every line is checked before anything is kept: a fault names its line and field.
        """
        return self._send(
            models.JobRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/query-imports/lines",
            content=content,
            media="application/jsonl",
            query={"name": name, "shortest": shortest, "longest": longest, "start_at": start_at},
            idempotency_key=idempotency_key,
        )

    def preview_query_import(
        self,
        project: str,
        body: models.QueryImportIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.QueryImportLook:
        """Look at the beginning of an upload with these options; nothing is stored."""
        return self._send(
            models.QueryImportLook,
            "POST",
            f"/api/v1/projects/{self._part(project)}/query-imports/preview",
            body=body,
            idempotency_key=idempotency_key,
        )

    def get_query_import(self, project: str, number: int) -> models.QueryImportOut:
        """One import with its report."""
        return self._send(
            models.QueryImportOut,
            "GET",
            f"/api/v1/projects/{self._part(project)}/query-imports/{self._part(number)}",
        )

    def list_queues(self, project: str) -> models.Page[models.QueueOut]:
        """What waits for a person in the project: queries, answers, work and calls, with how many of each."""
        return self._send(
            models.Page[models.QueueOut], "GET", f"/api/v1/projects/{self._part(project)}/queues"
        )

    def list_releases(
        self,
        project: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.ReleaseOut]:
        """The releases of the project."""
        return self._send(
            models.Page[models.ReleaseOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/releases",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def build_release(
        self, project: str, body: models.ReleaseIn | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.ReleaseOut:
        """Build a release, by a job. The same content gives the earlier release, byte by byte."""
        return self._send(
            models.ReleaseOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/releases",
            body=body,
            idempotency_key=idempotency_key,
        )

    def preview_release_content(self, project: str, *, include: list[str] | None = None) -> models.ContentOut:
        """Count what would go into a release built now."""
        return self._send(
            models.ContentOut,
            "GET",
            f"/api/v1/projects/{self._part(project)}/releases/content",
            query={"include": include},
        )

    def get_release(self, project: str, version: str) -> models.ReleaseDetails:
        """One release with its files."""
        return self._send(
            models.ReleaseDetails,
            "GET",
            f"/api/v1/projects/{self._part(project)}/releases/{self._part(version)}",
        )

    def download_archive(self, project: str, version: str) -> bytes:
        """All files of a release as a ZIP archive."""
        return self._bytes(
            "GET", f"/api/v1/projects/{self._part(project)}/releases/{self._part(version)}/archive"
        )

    def cancel_build(
        self, project: str, version: str, *, idempotency_key: str | None = None
    ) -> models.ReleaseOut:
        """Cancel a build; no files are kept."""
        return self._send(
            models.ReleaseOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/releases/{self._part(version)}/cancel",
            idempotency_key=idempotency_key,
        )

    def start_evaluation(
        self,
        project: str,
        version: str,
        body: models.EvaluationIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.EvaluationOut:
        """Compute metrics over a release and compare them with its human scores, by a job."""
        return self._send(
            models.EvaluationOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/releases/{self._part(version)}/evaluations",
            body=body,
            idempotency_key=idempotency_key,
        )

    def get_evaluation(self, project: str, version: str, number: int) -> models.EvaluationDetails:
        """One evaluation with its report."""
        return self._send(
            models.EvaluationDetails,
            "GET",
            f"/api/v1/projects/{self._part(project)}/releases/{self._part(version)}/evaluations/{self._part(number)}",
        )

    def cancel_evaluation(
        self, project: str, version: str, number: int, *, idempotency_key: str | None = None
    ) -> models.EvaluationOut:
        """Cancel an evaluation; no results are kept."""
        return self._send(
            models.EvaluationOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/releases/{self._part(version)}/evaluations/{self._part(number)}/cancel",
            idempotency_key=idempotency_key,
        )

    def download_evaluation_file(self, project: str, version: str, number: int, name: str) -> bytes:
        """One file of a report, such as report.html, report.json, scores.csv or table.tex."""
        return self._bytes(
            "GET",
            f"/api/v1/projects/{self._part(project)}/releases/{self._part(version)}/evaluations/{self._part(number)}/files/{self._part(name)}",
        )

    def hide_leaderboard(
        self, project: str, version: str, number: int, *, idempotency_key: str | None = None
    ) -> models.EvaluationOut:
        """Remove the public leaderboard."""
        return self._send(
            models.EvaluationOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/releases/{self._part(version)}/evaluations/{self._part(number)}/hide",
            idempotency_key=idempotency_key,
        )

    def retry_evaluation(
        self, project: str, version: str, number: int, *, idempotency_key: str | None = None
    ) -> models.EvaluationOut:
        """Compute an evaluation that failed or was cancelled again, with the same plan."""
        return self._send(
            models.EvaluationOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/releases/{self._part(version)}/evaluations/{self._part(number)}/retry",
            idempotency_key=idempotency_key,
        )

    def show_leaderboard(
        self, project: str, version: str, number: int, *, idempotency_key: str | None = None
    ) -> models.EvaluationOut:
        """Make an evaluation the public leaderboard of its release."""
        return self._send(
            models.EvaluationOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/releases/{self._part(version)}/evaluations/{self._part(number)}/show",
            idempotency_key=idempotency_key,
        )

    def download_file(self, project: str, version: str, path: str) -> bytes:
        """One file of a release, in whole or in part (Range)."""
        return self._bytes(
            "GET",
            f"/api/v1/projects/{self._part(project)}/releases/{self._part(version)}/files/{self._part(path)}",
        )

    def hide_release(
        self, project: str, version: str, *, idempotency_key: str | None = None
    ) -> models.ReleaseOut:
        """Remove the public page of a release."""
        return self._send(
            models.ReleaseOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/releases/{self._part(version)}/hide",
            idempotency_key=idempotency_key,
        )

    def publish_release(
        self, project: str, version: str, *, idempotency_key: str | None = None
    ) -> models.ReleaseOut:
        """Give a release a page that needs no log-in."""
        return self._send(
            models.ReleaseOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/releases/{self._part(version)}/publish",
            idempotency_key=idempotency_key,
        )

    def retry_build(
        self, project: str, version: str, *, idempotency_key: str | None = None
    ) -> models.ReleaseOut:
        """Build a failed version again, with the same options."""
        return self._send(
            models.ReleaseOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/releases/{self._part(version)}/retry",
            idempotency_key=idempotency_key,
        )

    def withdraw_release(
        self,
        project: str,
        version: str,
        body: models.WithdrawIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.ReleaseOut:
        """Stop offering the files of a release; the record stays. This cannot be undone."""
        return self._send(
            models.ReleaseOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/releases/{self._part(version)}/withdraw",
            body=body,
            idempotency_key=idempotency_key,
        )

    def reopen_project(
        self,
        project: str,
        *,
        body: models.ProjectReason | Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> models.ProjectOut:
        """Let stages be made and opened again. No stage is opened by this."""
        return self._send(
            models.ProjectOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/reopen",
            body=body,
            idempotency_key=idempotency_key,
        )

    def search(
        self, project: str, body: models.SearchIn | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.SearchOut:
        """Answer the last question of a conversation from the project's corpora."""
        return self._send(
            models.SearchOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/search",
            body=body,
            idempotency_key=idempotency_key,
        )

    def send_search_to_curation(
        self,
        project: str,
        body: models.SearchSendIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.SentQueryOut:
        """Search for the last question of a conversation, and have editors choose among the best passages.

        A question that the project does not have becomes an accepted query; one that has candidates is refused.
        """
        return self._send(
            models.SentQueryOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/search/send",
            body=body,
            idempotency_key=idempotency_key,
        )

    def list_stages(
        self,
        project: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.StageOut]:
        """The stages of a project, in the order in which they were made."""
        return self._send(
            models.Page[models.StageOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def create_stage(
        self, project: str, body: models.StageIn | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.StageOut:
        """Make a draft; nothing is published before it is opened."""
        return self._send(
            models.StageOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages",
            body=body,
            idempotency_key=idempotency_key,
        )

    def get_stage(self, project: str, stage: str) -> models.StageOut:
        """One stage; the ETag is for changing it."""
        return self._send(
            models.StageOut, "GET", f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}"
        )

    def change_stage(
        self, project: str, stage: str, body: models.StageChanges | Mapping[str, Any], *, if_match: str
    ) -> models.StageOut:
        """Change a stage, all of it or nothing. Terms under which people work already cannot change."""
        return self._send(
            models.StageOut,
            "PATCH",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}",
            body=body,
            if_match=if_match,
        )

    def get_agreement(self, project: str, stage: str) -> models.AgreementOut:
        """How far people agree in a stage of screening, curation or judging."""
        return self._send(
            models.AgreementOut,
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/agreement",
        )

    def make_agreement_report(
        self, project: str, stage: str, *, idempotency_key: str | None = None
    ) -> models.JobRef:
        """Make the report on agreement from the present judgments, by a job."""
        return self._send(
            models.JobRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/agreement",
            idempotency_key=idempotency_key,
        )

    def list_answers(
        self,
        project: str,
        stage: str,
        *,
        state: Literal["", "undecided", "approved", "rewrite", "excluded", "replaced"] | None = None,
        flagged: bool | None = None,
        query: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.AnswerOut]:
        """Answers of a stage in which people write, with their flags."""
        return self._send(
            models.Page[models.AnswerOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/answers",
            query={
                "state": state,
                "flagged": flagged,
                "query": query,
                "limit": limit,
                "cursor": cursor,
                "order": order,
            },
        )

    def export_answers(
        self,
        project: str,
        stage: str,
        *,
        state: Literal["", "undecided", "approved", "rewrite", "excluded", "replaced"] | None = None,
        flagged: bool | None = None,
        query: int | None = None,
    ) -> Iterator[dict[str, Any]]:
        """All answers of the filters, one per line."""
        return self._lines(
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/answers.jsonl",
            query={"state": state, "flagged": flagged, "query": query},
        )

    def decide_answers(
        self,
        project: str,
        stage: str,
        body: models.AnswerDecisions | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.AnswerOutcome:
        """Approve, exclude, ask for a rewrite, or take a decision back; each answer for itself.

        With the decision about the last answer of work that waits for a person, the work is approved and paid.
        """
        return self._send(
            models.AnswerOutcome,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/answers/decisions",
            body=body,
            idempotency_key=idempotency_key,
        )

    def hold_out_answer(
        self,
        project: str,
        stage: str,
        body: models.AnswerHoldOut | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.HeldOutState:
        """Hold an answer out as a candidate of the system `human`, or make it a reference again."""
        return self._send(
            models.HeldOutState,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/answers/hold-outs",
            body=body,
            idempotency_key=idempotency_key,
        )

    def approve_assignments(
        self,
        project: str,
        stage: str,
        body: models.ChosenWork | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.ApprovalOutcome:
        """Approve several at once; one that cannot be approved is named and stops no other."""
        return self._send(
            models.ApprovalOutcome,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/approvals",
            body=body,
            idempotency_key=idempotency_key,
        )

    def list_assignments(
        self,
        project: str,
        stage: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        state: Literal["waiting", "held", "quarantined", "approved", "rejected", "working", "all"]
        | None = None,
        worker: str | None = None,
    ) -> models.Page[models.AssignmentOut]:
        """Work of a stage, without answers; `get_assignment` and the export have them."""
        return self._send(
            models.Page[models.AssignmentOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/assignments",
            query={"limit": limit, "cursor": cursor, "order": order, "state": state, "worker": worker},
        )

    def export_assignments(self, project: str, stage: str) -> Iterator[dict[str, Any]]:
        """All work of a stage with its answers, one assignment per line."""
        return self._lines(
            "GET", f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/assignments.jsonl"
        )

    def get_assignment(self, project: str, stage: str, assignment: int) -> models.AssignmentDetails:
        """One assignment with its answers."""
        return self._send(
            models.AssignmentDetails,
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/assignments/{self._part(assignment)}",
        )

    def approve_assignment(
        self,
        project: str,
        stage: str,
        assignment: int,
        *,
        body: models.Approval | Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> models.OperationRef:
        """Approve work; its reward is paid."""
        return self._send(
            models.OperationRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/assignments/{self._part(assignment)}/approve",
            body=body,
            idempotency_key=idempotency_key,
        )

    def pay_bonus(
        self,
        project: str,
        stage: str,
        assignment: int,
        body: models.BonusIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.OperationRef:
        """Pay a bonus. With an Idempotency-Key it is paid once, however often and late it is asked for."""
        return self._send(
            models.OperationRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/assignments/{self._part(assignment)}/bonus",
            body=body,
            idempotency_key=idempotency_key,
        )

    def override_rejection(
        self,
        project: str,
        stage: str,
        assignment: int,
        *,
        body: models.Approval | Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> models.OperationRef:
        """Approve rejected work after all."""
        return self._send(
            models.OperationRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/assignments/{self._part(assignment)}/override",
            body=body,
            idempotency_key=idempotency_key,
        )

    def reject_assignment(
        self,
        project: str,
        stage: str,
        assignment: int,
        body: models.Rejection | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.OperationRef:
        """Reject work, with a reason; it can be approved after all for 30 days."""
        return self._send(
            models.OperationRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/assignments/{self._part(assignment)}/reject",
            body=body,
            idempotency_key=idempotency_key,
        )

    def release_assignment(
        self, project: str, stage: str, assignment: int, *, idempotency_key: str | None = None
    ) -> models.OperationRef:
        """Let held work go on: it is approved."""
        return self._send(
            models.OperationRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/assignments/{self._part(assignment)}/release",
            idempotency_key=idempotency_key,
        )

    def check_stage(self, project: str, stage: str) -> models.StageCheck:
        """Whether it could be opened by what it says; nothing is changed, and money is not looked at."""
        return self._send(
            models.StageCheck,
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/check",
        )

    def close_stage(
        self,
        project: str,
        stage: str,
        *,
        body: models.Reason | Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> models.StageOut:
        """Expire all its HITs; work that people have begun may still come in, and is paid."""
        return self._send(
            models.StageOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/close",
            body=body,
            idempotency_key=idempotency_key,
        )

    def copy_stage(
        self,
        project: str,
        stage: str,
        body: models.CopyIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.StageOut:
        """A draft with the same questions, terms and sources, without work and without a budget."""
        return self._send(
            models.StageOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/copies",
            body=body,
            idempotency_key=idempotency_key,
        )

    def list_filter_runs(
        self,
        project: str,
        stage: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.FilterRunOut]:
        """All runs of filters; the one `in force` decides what counts."""
        return self._send(
            models.Page[models.FilterRunOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/filters",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def apply_filters(
        self,
        project: str,
        stage: str,
        body: models.ApplyIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.JobRef:
        """Put a recipe in force, by a job; the run before gives way. No judgment is changed or deleted."""
        return self._send(
            models.JobRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/filters",
            body=body,
            idempotency_key=idempotency_key,
        )

    def preview_filters(
        self,
        project: str,
        stage: str,
        body: models.RecipeIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.FilterPreviewOut:
        """What a recipe would remove, and what asking again would cost; nothing is changed."""
        return self._send(
            models.FilterPreviewOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/filters/preview",
            body=body,
            idempotency_key=idempotency_key,
        )

    def ask_again(
        self,
        project: str,
        stage: str,
        body: models.TopUpIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.JobRef:
        """Ask again for what filters removed, for at most the amount that is sent."""
        return self._send(
            models.JobRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/filters/top-up",
            body=body,
            idempotency_key=idempotency_key,
        )

    def undo_filters(
        self,
        project: str,
        stage: str,
        number: int,
        body: models.UndoIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.FilterRunOut:
        """Take a run out of force: all judgments that count are kept again."""
        return self._send(
            models.FilterRunOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/filters/{self._part(number)}/undo",
            body=body,
            idempotency_key=idempotency_key,
        )

    def list_hits(
        self,
        project: str,
        stage: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        state: Literal["all", "planned", "open", "closed", "refused"] | None = None,
    ) -> models.Page[models.HitOut]:
        """HITs of a stage, by number."""
        return self._send(
            models.Page[models.HitOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/hits",
            query={"limit": limit, "cursor": cursor, "order": order, "state": state},
        )

    def export_hits(self, project: str, stage: str) -> Iterator[dict[str, Any]]:
        """All HITs of a stage, one per line."""
        return self._lines(
            "GET", f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/hits.jsonl"
        )

    def get_hit(self, project: str, stage: str, number: int) -> models.HitDetails:
        """One HIT with its units."""
        return self._send(
            models.HitDetails,
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/hits/{self._part(number)}",
        )

    def expire_hit(
        self, project: str, stage: str, number: int, *, idempotency_key: str | None = None
    ) -> models.OperationRef:
        """End it; who works on it may still submit."""
        return self._send(
            models.OperationRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/hits/{self._part(number)}/expire",
            idempotency_key=idempotency_key,
        )

    def extend_hit_places(
        self,
        project: str,
        stage: str,
        number: int,
        body: models.MorePlaces | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.OperationRef:
        """More people for it; their money is reserved."""
        return self._send(
            models.OperationRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/hits/{self._part(number)}/more-places",
            body=body,
            idempotency_key=idempotency_key,
        )

    def extend_hit_time(
        self,
        project: str,
        stage: str,
        number: int,
        body: models.MoreTime | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.OperationRef:
        """Keep it on offer longer."""
        return self._send(
            models.OperationRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/hits/{self._part(number)}/more-time",
            body=body,
            idempotency_key=idempotency_key,
        )

    def export_judgments(
        self, project: str, stage: str, *, counted: bool | None = None, kept: bool | None = None
    ) -> Iterator[dict[str, Any]]:
        """All judgments of a judging stage, one per line."""
        return self._lines(
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/judgments.jsonl",
            query={"counted": counted, "kept": kept},
        )

    def list_movements(
        self,
        project: str,
        stage: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.MovementOut]:
        """Every cent of a stage: reserved, given back, or spent."""
        return self._send(
            models.Page[models.MovementOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/ledger",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def write_to_workers(
        self,
        project: str,
        stage: str,
        body: models.WorkerLetter | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.WorkerLetterOutcome:
        """Write to workers of the stage: to the named ones, or to all of them.

        The answer says how many it goes to, and names those who cannot be written to.
        """
        return self._send(
            models.WorkerLetterOutcome,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/messages",
            body=body,
            idempotency_key=idempotency_key,
        )

    def open_stage(
        self,
        project: str,
        stage: str,
        *,
        body: models.OpeningTerms | Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> models.QuoteOut:
        """Open a draft or paused stage: its HITs are published, and their money is reserved."""
        return self._send(
            models.QuoteOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/open",
            body=body,
            idempotency_key=idempotency_key,
        )

    def list_operations(
        self,
        project: str,
        stage: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        state: Literal["all", "unfinished", "unknown", "refused", "confirmed"] | None = None,
    ) -> models.Page[models.OperationOut]:
        """Every call of a stage that changed something, or should have."""
        return self._send(
            models.Page[models.OperationOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/operations",
            query={"limit": limit, "cursor": cursor, "order": order, "state": state},
        )

    def ask_return(
        self,
        project: str,
        stage: str,
        submission: int,
        body: models.ReturnRequest | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.OperationRef:
        """Ask a participant to return a submission; the person decides. Once for each submission."""
        return self._send(
            models.OperationRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/panel-submissions/{self._part(submission)}/ask-return",
            body=body,
            idempotency_key=idempotency_key,
        )

    def state_paid_amount(
        self,
        project: str,
        stage: str,
        submission: int,
        body: models.PaidPart | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.SubmissionOut:
        """Book what was paid in part on the panel's own pages, where the panel does not tell it."""
        return self._send(
            models.SubmissionOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/panel-submissions/{self._part(submission)}/paid-amount",
            body=body,
            idempotency_key=idempotency_key,
        )

    def pay_in_part(
        self,
        project: str,
        stage: str,
        submission: int,
        body: models.PartOfReward | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.OperationRef:
        """Pay a participant a share of the reward, which ends their submission. Once for each submission."""
        return self._send(
            models.OperationRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/panel-submissions/{self._part(submission)}/pay-in-part",
            body=body,
            idempotency_key=idempotency_key,
        )

    def get_panel_study(self, project: str, stage: str, endpoint: str) -> models.PanelStudyOut:
        """The study of a stage at a panel, with how many came and what became of them."""
        return self._send(
            models.PanelStudyOut,
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/panels/{self._part(endpoint)}",
        )

    def list_participant_messages(
        self,
        project: str,
        stage: str,
        endpoint: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.ParticipantMessage]:
        """What participants wrote. What was written to them is in `list_operations`."""
        return self._send(
            models.Page[models.ParticipantMessage],
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/panels/{self._part(endpoint)}/messages",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def write_to_participants(
        self,
        project: str,
        stage: str,
        endpoint: str,
        body: models.LetterToParticipants | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.ParticipantLetterOutcome:
        """Write to participants of the study. A message is sent once; one without an answer is not repeated."""
        return self._send(
            models.ParticipantLetterOutcome,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/panels/{self._part(endpoint)}/messages",
            body=body,
            idempotency_key=idempotency_key,
        )

    def read_participant_messages(
        self,
        project: str,
        stage: str,
        endpoint: str,
        body: models.MessagesRead | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.ReadCount:
        """Note messages as read here; the panel keeps its own mark."""
        return self._send(
            models.ReadCount,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/panels/{self._part(endpoint)}/messages/read",
            body=body,
            idempotency_key=idempotency_key,
        )

    def read_panel(
        self, project: str, stage: str, endpoint: str, *, idempotency_key: str | None = None
    ) -> models.PanelReading:
        """Read the submissions of the study, and what participants wrote, now instead of at the next round."""
        return self._send(
            models.PanelReading,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/panels/{self._part(endpoint)}/read",
            idempotency_key=idempotency_key,
        )

    def raise_screen_outs(
        self,
        project: str,
        stage: str,
        endpoint: str,
        body: models.MoreScreenOuts | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.OperationRef:
        """Let a study that is at the panel pay more screen-outs in all; their money is reserved with it."""
        return self._send(
            models.OperationRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/panels/{self._part(endpoint)}/screen-outs",
            body=body,
            idempotency_key=idempotency_key,
        )

    def list_submissions(
        self,
        project: str,
        stage: str,
        endpoint: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        state: Literal["all", "unanswered"] | None = None,
    ) -> models.Page[models.SubmissionOut]:
        """Submissions of the study, as the panel has them."""
        return self._send(
            models.Page[models.SubmissionOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/panels/{self._part(endpoint)}/submissions",
            query={"limit": limit, "cursor": cursor, "order": order, "state": state},
        )

    def set_study_terms(
        self,
        project: str,
        stage: str,
        endpoint: str,
        body: models.PanelStudyTerms | Mapping[str, Any],
        *,
        if_match: str,
    ) -> models.PanelStudyOut:
        """Set what the study pays beside whole rewards. It goes with the study when the stage opens."""
        return self._send(
            models.PanelStudyOut,
            "PATCH",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/panels/{self._part(endpoint)}/terms",
            body=body,
            if_match=if_match,
        )

    def pause_stage(
        self,
        project: str,
        stage: str,
        *,
        body: models.Reason | Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> models.StageOut:
        """Publish nothing more for now; what is on offer stays, and what comes in is collected."""
        return self._send(
            models.StageOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/pause",
            body=body,
            idempotency_key=idempotency_key,
        )

    def get_progress(self, project: str, stage: str) -> models.ProgressOut:
        """How far a stage is, what it costs and pays, and what is urgent."""
        return self._send(
            models.ProgressOut,
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/progress",
        )

    def quote_stage(self, project: str, stage: str, *, idempotency_key: str | None = None) -> models.QuoteOut:
        """What opening it would cost; brings its units up to date and publishes nothing."""
        return self._send(
            models.QuoteOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/quote",
            idempotency_key=idempotency_key,
        )

    def reopen_stage(
        self,
        project: str,
        stage: str,
        *,
        body: models.Reason | Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> models.StageOut:
        """Set a closed stage back to paused; open it to publish what is still missing."""
        return self._send(
            models.StageOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/reopen",
            body=body,
            idempotency_key=idempotency_key,
        )

    def export_scores(
        self,
        project: str,
        stage: str,
        *,
        system: str | None = None,
        order: Literal["query", "mean", "sd", "n"] | None = None,
        descending: bool | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Human scores of candidates: by the filters in force, or else of all judgments that count."""
        return self._lines(
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/scores.jsonl",
            query={"system": system, "order": order, "descending": descending},
        )

    def export_selections(self, project: str, stage: str) -> Iterator[dict[str, Any]]:
        """All choices of passages of a curation stage, one per line; those that do not count are marked."""
        return self._lines(
            "GET", f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/selections.jsonl"
        )

    def simulate_workers(
        self,
        project: str,
        stage: str,
        body: models.SimulationIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.JobRef:
        """Let simulated workers do what the stage offers, by a job that ends when nothing is left for them."""
        return self._send(
            models.JobRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/simulations",
            body=body,
            idempotency_key=idempotency_key,
        )

    def get_sources(self, project: str, stage: str) -> models.StageSources:
        """The sources of a stage, with what became of the part of each."""
        return self._send(
            models.StageSources,
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/sources",
        )

    def set_sources(
        self, project: str, stage: str, body: models.SourcesIn | Mapping[str, Any], *, if_match: str
    ) -> models.StageSources:
        """Set all sources and their quotas. New HITs are divided in this way, also while the stage runs.

        A source that has published stays in the list; close it to end it.
        """
        return self._send(
            models.StageSources,
            "PUT",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/sources",
            body=body,
            if_match=if_match,
        )

    def close_source(
        self,
        project: str,
        stage: str,
        endpoint: str,
        *,
        body: models.SourceReason | Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> models.StageSources:
        """Close a source: its HITs expire, and the other sources do its unfinished part.

        Work that people have begun may still come in, and is paid.
        """
        return self._send(
            models.StageSources,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/sources/{self._part(endpoint)}/close",
            body=body,
            idempotency_key=idempotency_key,
        )

    def move_work(
        self, project: str, stage: str, endpoint: str, *, idempotency_key: str | None = None
    ) -> models.MovedWork:
        """Give the free places of a source to the others: its HITs with free places expire."""
        return self._send(
            models.MovedWork,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/sources/{self._part(endpoint)}/move-work",
            idempotency_key=idempotency_key,
        )

    def open_source(
        self,
        project: str,
        stage: str,
        endpoint: str,
        *,
        body: models.SourceOpening | Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> models.StageSources:
        """Let a paused or closed source take work again."""
        return self._send(
            models.StageSources,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/sources/{self._part(endpoint)}/open",
            body=body,
            idempotency_key=idempotency_key,
        )

    def pause_source(
        self,
        project: str,
        stage: str,
        endpoint: str,
        *,
        body: models.SourceReason | Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> models.StageSources:
        """Publish nothing more there for now. What is on offer stays, and its part waits for it."""
        return self._send(
            models.StageSources,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/sources/{self._part(endpoint)}/pause",
            body=body,
            idempotency_key=idempotency_key,
        )

    def top_up_stage(
        self, project: str, stage: str, *, idempotency_key: str | None = None
    ) -> models.Publication:
        """Ask again for what was rejected, removed or expired, now instead of at the next round."""
        return self._send(
            models.Publication,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/top-up",
            idempotency_key=idempotency_key,
        )

    def export_votes(self, project: str, stage: str) -> Iterator[dict[str, Any]]:
        """All votes of a screening stage, one per line; those that do not count are marked."""
        return self._lines(
            "GET", f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/votes.jsonl"
        )

    def list_stage_workers(
        self,
        project: str,
        stage: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        state: Literal["all", "failed", "rejected", "excluded"] | None = None,
        worker: str | None = None,
    ) -> models.Page[models.StageWorker]:
        """Workers of a stage, with the state of their work."""
        return self._send(
            models.Page[models.StageWorker],
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/workers",
            query={"limit": limit, "cursor": cursor, "order": order, "state": state, "worker": worker},
        )

    def get_stage_worker(self, project: str, stage: str, worker: int) -> models.StageWorker:
        """One worker of a stage. Their work is in `list_assignments`, by their id at the marketplace."""
        return self._send(
            models.StageWorker,
            "GET",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/workers/{self._part(worker)}",
        )

    def compensate_worker(
        self,
        project: str,
        stage: str,
        worker: int,
        body: models.BonusIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.OperationRef:
        """Pay a worker whose session failed, once in a stage.

        A worker who submitted something gets a bonus, another one a HIT of their own without work. What the
        marketplace refused can be asked for again: the worker's `compensation` says so.
        """
        return self._send(
            models.OperationRef,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/workers/{self._part(worker)}/compensate",
            body=body,
            idempotency_key=idempotency_key,
        )

    def exclude_stage_worker(
        self,
        project: str,
        stage: str,
        worker: int,
        body: models.ReasonForWorker | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.StageWorker:
        """Exclude a worker from the stage from now on. What they did stays, and is paid."""
        return self._send(
            models.StageWorker,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/workers/{self._part(worker)}/exclude",
            body=body,
            idempotency_key=idempotency_key,
        )

    def readmit_stage_worker(
        self,
        project: str,
        stage: str,
        worker: int,
        body: models.ReasonForLog | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.StageWorker:
        """Let an excluded worker take work of the stage again."""
        return self._send(
            models.StageWorker,
            "POST",
            f"/api/v1/projects/{self._part(project)}/stages/{self._part(stage)}/workers/{self._part(worker)}/readmit",
            body=body,
            idempotency_key=idempotency_key,
        )

    def get_status(self, project: str) -> models.ProjectStatus:
        """All stages of a project at a glance."""
        return self._send(models.ProjectStatus, "GET", f"/api/v1/projects/{self._part(project)}/status")

    def list_study_links(
        self,
        project: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.LinkOut]:
        """The study links of a project."""
        return self._send(
            models.Page[models.LinkOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/study-links",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def create_study_link(
        self, project: str, body: models.LinkIn | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.LinkOut:
        """Make a link. The project gets its first consent text where it has none."""
        return self._send(
            models.LinkOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/study-links",
            body=body,
            idempotency_key=idempotency_key,
        )

    def list_link_targets(self, project: str) -> models.LinkTargets:
        """What links of the project can lead to: stages on study links, or the whole project."""
        return self._send(
            models.LinkTargets, "GET", f"/api/v1/projects/{self._part(project)}/study-links/targets"
        )

    def get_study_link(self, project: str, link: int) -> models.LinkOut:
        """One link, with how many people came."""
        return self._send(
            models.LinkOut, "GET", f"/api/v1/projects/{self._part(project)}/study-links/{self._part(link)}"
        )

    def change_study_link(
        self, project: str, link: int, body: models.LinkChanges | Mapping[str, Any]
    ) -> models.LinkOut:
        """Change what may change while people come. Those who have joined stay."""
        return self._send(
            models.LinkOut,
            "PATCH",
            f"/api/v1/projects/{self._part(project)}/study-links/{self._part(link)}",
            body=body,
        )

    def close_study_link(
        self, project: str, link: int, *, idempotency_key: str | None = None
    ) -> models.LinkOut:
        """Close a link: no one else joins. People who have begun can finish."""
        return self._send(
            models.LinkOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/study-links/{self._part(link)}/close",
            idempotency_key=idempotency_key,
        )

    def list_roster(
        self,
        project: str,
        link: int,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.RosterPersonOut]:
        """People of the list of a link, such as a class, with their personal links and what they finished."""
        return self._send(
            models.Page[models.RosterPersonOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/study-links/{self._part(link)}/people",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def add_to_roster(
        self,
        project: str,
        link: int,
        body: models.RosterIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.RosterAdded:
        """Put people on the list of a link. This sends nothing."""
        return self._send(
            models.RosterAdded,
            "POST",
            f"/api/v1/projects/{self._part(project)}/study-links/{self._part(link)}/people",
            body=body,
            idempotency_key=idempotency_key,
        )

    def mail_roster(
        self,
        project: str,
        link: int,
        body: models.RosterMail | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.RosterMailPlan:
        """Send personal links to all without one, or remind those who finished nothing, at most once a day."""
        return self._send(
            models.RosterMailPlan,
            "POST",
            f"/api/v1/projects/{self._part(project)}/study-links/{self._part(link)}/people/mail",
            body=body,
            idempotency_key=idempotency_key,
        )

    def reopen_study_link(
        self, project: str, link: int, *, idempotency_key: str | None = None
    ) -> models.LinkOut:
        """People may join again, under the same address."""
        return self._send(
            models.LinkOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/study-links/{self._part(link)}/reopen",
            idempotency_key=idempotency_key,
        )

    def export_visits(self, project: str, link: int) -> Iterator[dict[str, Any]]:
        """Every visit of a link: to which text its person agreed, how far they came, and their code."""
        return self._lines(
            "GET", f"/api/v1/projects/{self._part(project)}/study-links/{self._part(link)}/visits.jsonl"
        )

    def get_study(self, project: str) -> bytes:
        """The project as the file that would make it; applied, it would change nothing."""
        return self._bytes("GET", f"/api/v1/projects/{self._part(project)}/study.toml")

    def list_systems(self, project: str) -> models.Page[models.SystemOut]:
        """All systems of the project; of a large one the counts may be some seconds old."""
        return self._send(
            models.Page[models.SystemOut], "GET", f"/api/v1/projects/{self._part(project)}/systems"
        )

    def keep_copies(
        self,
        project: str,
        system: int,
        body: models.ReasonIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.CandidateCount:
        """Put back all answers of a system that were set aside as copies of a reference: people judge them."""
        return self._send(
            models.CandidateCount,
            "POST",
            f"/api/v1/projects/{self._part(project)}/systems/{self._part(system)}/keep-copies",
            body=body,
            idempotency_key=idempotency_key,
        )

    def upload_file(self, project: str, content: Content, *, name: str | None = None) -> models.UploadOut:
        """Send a file as the body: a log, a table of answers, passages. The same bytes are one upload."""
        return self._send(
            models.UploadOut,
            "PUT",
            f"/api/v1/projects/{self._part(project)}/uploads",
            content=content,
            media="application/octet-stream",
            query={"name": name},
        )

    def list_webhooks(
        self,
        project: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.WebhookOut]:
        """The webhooks of a project."""
        return self._send(
            models.Page[models.WebhookOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/webhooks",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def create_webhook(
        self, project: str, body: models.WebhookIn | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.WebhookWithSecret:
        """Send messages to an address from now on. The answer has the secret, which is shown only once."""
        return self._send(
            models.WebhookWithSecret,
            "POST",
            f"/api/v1/projects/{self._part(project)}/webhooks",
            body=body,
            idempotency_key=idempotency_key,
        )

    def list_event_types(self, project: str) -> models.EventTypes:
        """All types of events that a webhook of a project can ask for."""
        return self._send(
            models.EventTypes, "GET", f"/api/v1/projects/{self._part(project)}/webhooks/event-types"
        )

    def remove_webhook(self, project: str, webhook: int) -> None:
        """Remove a webhook. Waiting messages are given up; address and secret are deleted."""
        self._send_nothing("DELETE", f"/api/v1/projects/{self._part(project)}/webhooks/{self._part(webhook)}")

    def get_webhook(self, project: str, webhook: int) -> models.WebhookOut:
        """One webhook, with the state of its delivery."""
        return self._send(
            models.WebhookOut, "GET", f"/api/v1/projects/{self._part(project)}/webhooks/{self._part(webhook)}"
        )

    def change_webhook(
        self, project: str, webhook: int, body: models.WebhookChanges | Mapping[str, Any]
    ) -> models.WebhookOut:
        """Change name, address or events."""
        return self._send(
            models.WebhookOut,
            "PATCH",
            f"/api/v1/projects/{self._part(project)}/webhooks/{self._part(webhook)}",
            body=body,
        )

    def activate_webhook(
        self, project: str, webhook: int, *, idempotency_key: str | None = None
    ) -> models.WebhookOut:
        """Send again after a pause, or after it was disabled. Messages that waited go first."""
        return self._send(
            models.WebhookOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/webhooks/{self._part(webhook)}/activate",
            idempotency_key=idempotency_key,
        )

    def end_former_webhook_secret(
        self, project: str, webhook: int, *, idempotency_key: str | None = None
    ) -> models.WebhookOut:
        """Sign with the present secret alone from now on."""
        return self._send(
            models.WebhookOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/webhooks/{self._part(webhook)}/end-former-secret",
            idempotency_key=idempotency_key,
        )

    def list_webhook_messages(
        self,
        project: str,
        webhook: int,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        state: Literal["waiting", "sent", "gave_up"] | None = None,
        type: str | None = None,
    ) -> models.Page[models.MessageOut]:
        """Messages with every attempt at delivery."""
        return self._send(
            models.Page[models.MessageOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/webhooks/{self._part(webhook)}/messages",
            query={"limit": limit, "cursor": cursor, "order": order, "state": state, "type": type},
        )

    def resend_webhook_message(
        self, project: str, webhook: int, message: str, *, idempotency_key: str | None = None
    ) -> models.MessageOut:
        """Send a message again under its old id and number. It is named by `id` or `message_id`."""
        return self._send(
            models.MessageOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/webhooks/{self._part(webhook)}/messages/{self._part(message)}/resend",
            idempotency_key=idempotency_key,
        )

    def skip_webhook_message(
        self, project: str, webhook: int, message: str, *, idempotency_key: str | None = None
    ) -> models.MessageOut:
        """Skip a message that waits, so that later ones are sent."""
        return self._send(
            models.MessageOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/webhooks/{self._part(webhook)}/messages/{self._part(message)}/skip",
            idempotency_key=idempotency_key,
        )

    def pause_webhook(
        self, project: str, webhook: int, *, idempotency_key: str | None = None
    ) -> models.WebhookOut:
        """Send nothing for now. Events of the meantime are not kept for it."""
        return self._send(
            models.WebhookOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/webhooks/{self._part(webhook)}/pause",
            idempotency_key=idempotency_key,
        )

    def rotate_webhook_secret(
        self, project: str, webhook: int, *, idempotency_key: str | None = None
    ) -> models.WebhookWithSecret:
        """Make a new secret, which is shown only once. For a day messages are signed with both."""
        return self._send(
            models.WebhookWithSecret,
            "POST",
            f"/api/v1/projects/{self._part(project)}/webhooks/{self._part(webhook)}/rotate-secret",
            idempotency_key=idempotency_key,
        )

    def send_webhook_test(
        self, project: str, webhook: int, *, idempotency_key: str | None = None
    ) -> models.MessageOut:
        """Send a message of the type webhook.test, behind those that wait."""
        return self._send(
            models.MessageOut,
            "POST",
            f"/api/v1/projects/{self._part(project)}/webhooks/{self._part(webhook)}/test",
            idempotency_key=idempotency_key,
        )

    def list_workers(
        self,
        project: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        state: Literal["all", "flagged", "rejected", "few", "excluded"] | None = None,
        worker: str | None = None,
    ) -> models.Page[models.WorkerOut]:
        """Who took work of the project, with their figures over all its stages. A flag decides nothing."""
        return self._send(
            models.Page[models.WorkerOut],
            "GET",
            f"/api/v1/projects/{self._part(project)}/workers",
            query={"limit": limit, "cursor": cursor, "order": order, "state": state, "worker": worker},
        )

    def export_workers(
        self,
        project: str,
        *,
        state: Literal["all", "flagged", "rejected", "few", "excluded"] | None = None,
        worker: str | None = None,
    ) -> Iterator[dict[str, Any]]:
        """All workers of the filters with their figures, one per line."""
        return self._lines(
            "GET",
            f"/api/v1/projects/{self._part(project)}/workers.jsonl",
            query={"state": state, "worker": worker},
        )

    def get_worker(self, project: str, worker: int) -> models.WorkerDetails:
        """One worker over all stages and in each of them, and what they are excluded from."""
        return self._send(
            models.WorkerDetails,
            "GET",
            f"/api/v1/projects/{self._part(project)}/workers/{self._part(worker)}",
        )

    def exclude_worker(
        self,
        project: str,
        worker: int,
        body: models.ReasonForWorker | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.WorkerAccess:
        """Exclude a worker from every stage that the project has now at their marketplace.

        What they did stays, and is paid. Stages made later are not among them.
        """
        return self._send(
            models.WorkerAccess,
            "POST",
            f"/api/v1/projects/{self._part(project)}/workers/{self._part(worker)}/exclude",
            body=body,
            idempotency_key=idempotency_key,
        )

    def readmit_worker(
        self,
        project: str,
        worker: int,
        body: models.ReasonForLog | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.WorkerAccess:
        """Let a worker take work again of every stage that they are excluded from.

        Exclusions from single units, such as a query that they curated, stay.
        """
        return self._send(
            models.WorkerAccess,
            "POST",
            f"/api/v1/projects/{self._part(project)}/workers/{self._part(worker)}/readmit",
            body=body,
            idempotency_key=idempotency_key,
        )

    def list_requesters(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.RequesterOut]:
        """The requesters of which the token's person is owner or member; for staff all."""
        return self._send(
            models.Page[models.RequesterOut],
            "GET",
            "/api/v1/requesters",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def get_requester(self, requester: str) -> models.RequesterOut:
        """One requester, with its money."""
        return self._send(models.RequesterOut, "GET", f"/api/v1/requesters/{self._part(requester)}")

    def get_requester_audit_state(self, requester: str) -> models.AuditState:
        """How far the log of a requester is chained by digests, and what the nightly verification found."""
        return self._send(models.AuditState, "GET", f"/api/v1/requesters/{self._part(requester)}/audit")

    def list_requester_audit_entries(
        self,
        requester: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        action: str | None = None,
        via: Literal["page", "api", "call", "job", "timer", "command"] | None = None,
        who: str | None = None,
        about: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> models.Page[models.AuditEntry]:
        """Who did what, from where and by which way, with the digest of each entry."""
        return self._send(
            models.Page[models.AuditEntry],
            "GET",
            f"/api/v1/requesters/{self._part(requester)}/audit/entries",
            query={
                "limit": limit,
                "cursor": cursor,
                "order": order,
                "action": action,
                "via": via,
                "who": who,
                "about": about,
                "since": since,
                "until": until,
            },
        )

    def export_requester_audit_entries(
        self,
        requester: str,
        *,
        action: str | None = None,
        via: Literal["page", "api", "call", "job", "timer", "command"] | None = None,
        who: str | None = None,
        about: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Iterator[dict[str, Any]]:
        """All entries of the filters in the order of the chain, one per line, with their digests."""
        return self._lines(
            "GET",
            f"/api/v1/requesters/{self._part(requester)}/audit/entries.jsonl",
            query={"action": action, "via": via, "who": who, "about": about, "since": since, "until": until},
        )

    def verify_requester_audit_log(
        self, requester: str, *, idempotency_key: str | None = None
    ) -> models.AuditVerification:
        """Compute every digest of the log again. Nothing is changed."""
        return self._send(
            models.AuditVerification,
            "POST",
            f"/api/v1/requesters/{self._part(requester)}/audit/verify",
            idempotency_key=idempotency_key,
        )

    def list_batches(
        self,
        requester: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        state: Literal["draft", "publishing", "published", "failed", "cancelled"] | None = None,
    ) -> models.Page[models.BatchOut]:
        """Batches of a requester, each with how far it is and its hours."""
        return self._send(
            models.Page[models.BatchOut],
            "GET",
            f"/api/v1/requesters/{self._part(requester)}/batches",
            query={"limit": limit, "cursor": cursor, "order": order, "state": state},
        )

    def get_batch(self, requester: str, batch: int) -> models.BatchOut:
        """One batch."""
        return self._send(
            models.BatchOut, "GET", f"/api/v1/requesters/{self._part(requester)}/batches/{self._part(batch)}"
        )

    def cancel_batch(
        self, requester: str, batch: int, *, idempotency_key: str | None = None
    ) -> models.BatchOut:
        """Expire all HITs of a batch, by a job. Work that was begun can still be submitted, and is paid."""
        return self._send(
            models.BatchOut,
            "POST",
            f"/api/v1/requesters/{self._part(requester)}/batches/{self._part(batch)}/cancel",
            idempotency_key=idempotency_key,
        )

    def remove_batch_hours(self, requester: str, batch: int) -> None:
        """Let HITs of a batch be accepted at any time."""
        self._send_nothing(
            "DELETE", f"/api/v1/requesters/{self._part(requester)}/batches/{self._part(batch)}/hours"
        )

    def get_batch_hours(self, requester: str, batch: int) -> models.BatchHours:
        """When HITs of a batch can be accepted."""
        return self._send(
            models.BatchHours,
            "GET",
            f"/api/v1/requesters/{self._part(requester)}/batches/{self._part(batch)}/hours",
        )

    def set_batch_hours(
        self, requester: str, batch: int, body: models.HoursIn | Mapping[str, Any], *, if_match: str
    ) -> models.BatchHours:
        """Set when HITs of a batch can be accepted. Work that was begun can be finished outside of them."""
        return self._send(
            models.BatchHours,
            "PUT",
            f"/api/v1/requesters/{self._part(requester)}/batches/{self._part(batch)}/hours",
            body=body,
            if_match=if_match,
        )

    def publish_batch(
        self,
        requester: str,
        batch: int,
        body: models.PublicationTotal | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.BatchOut:
        """Publish a draft, or continue a batch that stopped. Its total is put on hold; a job makes the HITs."""
        return self._send(
            models.BatchOut,
            "POST",
            f"/api/v1/requesters/{self._part(requester)}/batches/{self._part(batch)}/publish",
            body=body,
            idempotency_key=idempotency_key,
        )

    def get_batch_schedule(self, requester: str, batch: int) -> models.BatchSchedule:
        """When a batch is published and ended by itself."""
        return self._send(
            models.BatchSchedule,
            "GET",
            f"/api/v1/requesters/{self._part(requester)}/batches/{self._part(batch)}/schedule",
        )

    def set_batch_schedule(
        self, requester: str, batch: int, body: models.ScheduleIn | Mapping[str, Any], *, if_match: str
    ) -> models.BatchSchedule:
        """Set when a draft is published and when a batch ends. The total is confirmed first."""
        return self._send(
            models.BatchSchedule,
            "PUT",
            f"/api/v1/requesters/{self._part(requester)}/batches/{self._part(batch)}/schedule",
            body=body,
            if_match=if_match,
        )

    def list_requester_consent_texts(
        self,
        requester: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        language: str | None = None,
        in_force: bool | None = None,
    ) -> models.Page[models.ConsentTextOut]:
        """Versions of the texts that people agree to before they join by a link of the requester."""
        return self._send(
            models.Page[models.ConsentTextOut],
            "GET",
            f"/api/v1/requesters/{self._part(requester)}/consent-texts",
            query={
                "limit": limit,
                "cursor": cursor,
                "order": order,
                "language": language,
                "in_force": in_force,
            },
        )

    def publish_requester_consent_text(
        self,
        requester: str,
        body: models.ConsentTextIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.ConsentTextOut:
        """Publish a version for people who join from now on. What others agreed to stays.

        Where nothing differs from the newest version, no new one is made, and that one is the answer.
        """
        return self._send(
            models.ConsentTextOut,
            "POST",
            f"/api/v1/requesters/{self._part(requester)}/consent-texts",
            body=body,
            idempotency_key=idempotency_key,
        )

    def get_requester_consent_text(self, requester: str, text: int) -> models.ConsentTextOut:
        """One version of a consent text."""
        return self._send(
            models.ConsentTextOut,
            "GET",
            f"/api/v1/requesters/{self._part(requester)}/consent-texts/{self._part(text)}",
        )

    def list_requester_members(
        self,
        requester: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.RequesterMemberOut]:
        """The people who act for the requester besides its owner."""
        return self._send(
            models.Page[models.RequesterMemberOut],
            "GET",
            f"/api/v1/requesters/{self._part(requester)}/members",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def remove_requester_member(self, requester: str, username: str) -> None:
        """Remove a member, for owners; everyone may leave by themselves."""
        self._send_nothing(
            "DELETE", f"/api/v1/requesters/{self._part(requester)}/members/{self._part(username)}"
        )

    def set_requester_member(
        self, requester: str, username: str, body: models.RequesterMemberIn | Mapping[str, Any]
    ) -> models.RequesterMemberOut:
        """Add a person who has an account, or change a member's role."""
        return self._send(
            models.RequesterMemberOut,
            "PUT",
            f"/api/v1/requesters/{self._part(requester)}/members/{self._part(username)}",
            body=body,
        )

    def list_requester_study_links(
        self,
        requester: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.LinkOut]:
        """All study links of a requester, a page at a time."""
        return self._send(
            models.Page[models.LinkOut],
            "GET",
            f"/api/v1/requesters/{self._part(requester)}/study-links",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def create_requester_study_link(
        self,
        requester: str,
        body: models.RequesterLinkIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.LinkOut:
        """Make a link. The requester gets its first consent text where it has none."""
        return self._send(
            models.LinkOut,
            "POST",
            f"/api/v1/requesters/{self._part(requester)}/study-links",
            body=body,
            idempotency_key=idempotency_key,
        )

    def list_requester_link_targets(self, requester: str) -> models.LinkTargets:
        """What links of the requester can lead to: its batches, or all its open HITs."""
        return self._send(
            models.LinkTargets, "GET", f"/api/v1/requesters/{self._part(requester)}/study-links/targets"
        )

    def get_requester_study_link(self, requester: str, link: int) -> models.LinkOut:
        """One link, with how many people came."""
        return self._send(
            models.LinkOut,
            "GET",
            f"/api/v1/requesters/{self._part(requester)}/study-links/{self._part(link)}",
        )

    def change_requester_study_link(
        self, requester: str, link: int, body: models.LinkChanges | Mapping[str, Any]
    ) -> models.LinkOut:
        """Change what may change while people come. Those who have joined stay."""
        return self._send(
            models.LinkOut,
            "PATCH",
            f"/api/v1/requesters/{self._part(requester)}/study-links/{self._part(link)}",
            body=body,
        )

    def close_requester_study_link(
        self, requester: str, link: int, *, idempotency_key: str | None = None
    ) -> models.LinkOut:
        """Close a link: no one else joins. People who have begun can finish."""
        return self._send(
            models.LinkOut,
            "POST",
            f"/api/v1/requesters/{self._part(requester)}/study-links/{self._part(link)}/close",
            idempotency_key=idempotency_key,
        )

    def list_requester_roster(
        self,
        requester: str,
        link: int,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.RosterPersonOut]:
        """People of the list of a link, such as a class, with their personal links and what they finished."""
        return self._send(
            models.Page[models.RosterPersonOut],
            "GET",
            f"/api/v1/requesters/{self._part(requester)}/study-links/{self._part(link)}/people",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def add_to_requester_roster(
        self,
        requester: str,
        link: int,
        body: models.RosterIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.RosterAdded:
        """Put people on the list of a link. This sends nothing."""
        return self._send(
            models.RosterAdded,
            "POST",
            f"/api/v1/requesters/{self._part(requester)}/study-links/{self._part(link)}/people",
            body=body,
            idempotency_key=idempotency_key,
        )

    def mail_requester_roster(
        self,
        requester: str,
        link: int,
        body: models.RosterMail | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.RosterMailPlan:
        """Send personal links to all without one, or remind those who finished nothing, at most once a day."""
        return self._send(
            models.RosterMailPlan,
            "POST",
            f"/api/v1/requesters/{self._part(requester)}/study-links/{self._part(link)}/people/mail",
            body=body,
            idempotency_key=idempotency_key,
        )

    def reopen_requester_study_link(
        self, requester: str, link: int, *, idempotency_key: str | None = None
    ) -> models.LinkOut:
        """People may join again, under the same address."""
        return self._send(
            models.LinkOut,
            "POST",
            f"/api/v1/requesters/{self._part(requester)}/study-links/{self._part(link)}/reopen",
            idempotency_key=idempotency_key,
        )

    def export_requester_visits(self, requester: str, link: int) -> Iterator[dict[str, Any]]:
        """Every visit of a link: to which text its person agreed, how far they came, and their code."""
        return self._lines(
            "GET", f"/api/v1/requesters/{self._part(requester)}/study-links/{self._part(link)}/visits.jsonl"
        )

    def list_requester_webhooks(
        self,
        requester: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
    ) -> models.Page[models.WebhookOut]:
        """All webhooks of a requester, a page at a time."""
        return self._send(
            models.Page[models.WebhookOut],
            "GET",
            f"/api/v1/requesters/{self._part(requester)}/webhooks",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    def create_requester_webhook(
        self,
        requester: str,
        body: models.WebhookIn | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.WebhookWithSecret:
        """Send messages to an address from now on. The answer has the secret, which is shown only once."""
        return self._send(
            models.WebhookWithSecret,
            "POST",
            f"/api/v1/requesters/{self._part(requester)}/webhooks",
            body=body,
            idempotency_key=idempotency_key,
        )

    def list_requester_event_types(self, requester: str) -> models.EventTypes:
        """All types of events that a webhook of a requester can ask for."""
        return self._send(
            models.EventTypes, "GET", f"/api/v1/requesters/{self._part(requester)}/webhooks/event-types"
        )

    def remove_requester_webhook(self, requester: str, webhook: int) -> None:
        """Remove a webhook. Waiting messages are given up; address and secret are deleted."""
        self._send_nothing(
            "DELETE", f"/api/v1/requesters/{self._part(requester)}/webhooks/{self._part(webhook)}"
        )

    def get_requester_webhook(self, requester: str, webhook: int) -> models.WebhookOut:
        """One webhook, with the state of its delivery."""
        return self._send(
            models.WebhookOut,
            "GET",
            f"/api/v1/requesters/{self._part(requester)}/webhooks/{self._part(webhook)}",
        )

    def change_requester_webhook(
        self, requester: str, webhook: int, body: models.WebhookChanges | Mapping[str, Any]
    ) -> models.WebhookOut:
        """Change name, address or events."""
        return self._send(
            models.WebhookOut,
            "PATCH",
            f"/api/v1/requesters/{self._part(requester)}/webhooks/{self._part(webhook)}",
            body=body,
        )

    def activate_requester_webhook(
        self, requester: str, webhook: int, *, idempotency_key: str | None = None
    ) -> models.WebhookOut:
        """Send again after a pause, or after it was disabled. Messages that waited go first."""
        return self._send(
            models.WebhookOut,
            "POST",
            f"/api/v1/requesters/{self._part(requester)}/webhooks/{self._part(webhook)}/activate",
            idempotency_key=idempotency_key,
        )

    def end_former_requester_webhook_secret(
        self, requester: str, webhook: int, *, idempotency_key: str | None = None
    ) -> models.WebhookOut:
        """Sign with the present secret alone from now on."""
        return self._send(
            models.WebhookOut,
            "POST",
            f"/api/v1/requesters/{self._part(requester)}/webhooks/{self._part(webhook)}/end-former-secret",
            idempotency_key=idempotency_key,
        )

    def list_requester_webhook_messages(
        self,
        requester: str,
        webhook: int,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["oldest", "newest"] | None = None,
        state: Literal["waiting", "sent", "gave_up"] | None = None,
        type: str | None = None,
    ) -> models.Page[models.MessageOut]:
        """Messages with every attempt at delivery."""
        return self._send(
            models.Page[models.MessageOut],
            "GET",
            f"/api/v1/requesters/{self._part(requester)}/webhooks/{self._part(webhook)}/messages",
            query={"limit": limit, "cursor": cursor, "order": order, "state": state, "type": type},
        )

    def resend_requester_webhook_message(
        self, requester: str, webhook: int, message: str, *, idempotency_key: str | None = None
    ) -> models.MessageOut:
        """Send a message again under its old id and number. It is named by `id` or `message_id`."""
        return self._send(
            models.MessageOut,
            "POST",
            f"/api/v1/requesters/{self._part(requester)}/webhooks/{self._part(webhook)}/messages/{self._part(message)}/resend",
            idempotency_key=idempotency_key,
        )

    def skip_requester_webhook_message(
        self, requester: str, webhook: int, message: str, *, idempotency_key: str | None = None
    ) -> models.MessageOut:
        """Skip a message that waits, so that later ones are sent."""
        return self._send(
            models.MessageOut,
            "POST",
            f"/api/v1/requesters/{self._part(requester)}/webhooks/{self._part(webhook)}/messages/{self._part(message)}/skip",
            idempotency_key=idempotency_key,
        )

    def pause_requester_webhook(
        self, requester: str, webhook: int, *, idempotency_key: str | None = None
    ) -> models.WebhookOut:
        """Send nothing for now. Events of the meantime are not kept for it."""
        return self._send(
            models.WebhookOut,
            "POST",
            f"/api/v1/requesters/{self._part(requester)}/webhooks/{self._part(webhook)}/pause",
            idempotency_key=idempotency_key,
        )

    def rotate_requester_webhook_secret(
        self, requester: str, webhook: int, *, idempotency_key: str | None = None
    ) -> models.WebhookWithSecret:
        """Make a new secret, which is shown only once. For a day messages are signed with both."""
        return self._send(
            models.WebhookWithSecret,
            "POST",
            f"/api/v1/requesters/{self._part(requester)}/webhooks/{self._part(webhook)}/rotate-secret",
            idempotency_key=idempotency_key,
        )

    def send_requester_webhook_test(
        self, requester: str, webhook: int, *, idempotency_key: str | None = None
    ) -> models.MessageOut:
        """Send a message of the type webhook.test, behind those that wait."""
        return self._send(
            models.MessageOut,
            "POST",
            f"/api/v1/requesters/{self._part(requester)}/webhooks/{self._part(webhook)}/test",
            idempotency_key=idempotency_key,
        )

    def apply_study(self, content: Content, *, idempotency_key: str | None = None) -> models.StudyOut:
        """Make the project and its stages match the file: all of it or nothing.

        A new project is owned by the token's person. Endpoints are those of the installation: a file that makes
        or changes one is refused. A file that adds paid screen-outs to a study at a panel needs the scope `pay`
        too.
        """
        return self._send(
            models.StudyOut,
            "POST",
            "/api/v1/studies/apply",
            content=content,
            media="application/toml",
            idempotency_key=idempotency_key,
        )

    def check_study(self, content: Content, *, idempotency_key: str | None = None) -> models.StudyOut:
        """All that is wrong with a study's file, and what applying it would change; nothing is changed."""
        return self._send(
            models.StudyOut,
            "POST",
            "/api/v1/studies/check",
            content=content,
            media="application/toml",
            idempotency_key=idempotency_key,
        )
