"""What every address of the installation answers to whom. An address that is not named here fails the test.

Names of addresses stand in groups. `look` takes GET and HEAD, `act` takes POST, `form` takes all three; the
second word is the least role of the project, or who else may.
"""

from dataclasses import dataclass

#: Everybody who is tried, from those who may least to those who may most; the former one owned the project.
PEOPLE = (
    "anonymous", "stranger", "former", "worker", "staff", "neighbour", "viewer", "manager", "owner",
)  # fmt: skip
_RANK = {"viewer": 0, "manager": 1, "owner": 2}
LOOK, ACT, FORM = "look", "act", "form"
#: Answers of pages that are there, and of actions that were heard: done or refused in words.
SHOWN, HEARD = frozenset({200}), frozenset({200, 204, 302, 400, 422})
#: Of an action that was heard: back to a page, or its form once more with what is wrong.
LED_ON, FORM_AGAIN = frozenset({302}), frozenset({422})
TO_LOG_IN, NOT_THERE, WRONG_METHOD, NOT_A_WORKER = (frozenset({each}) for each in (302, 404, 405, 403))


@dataclass(frozen=True)
class Rule:
    """What an address is, and for whom."""

    kind: str
    least: str

    def expected(self, who: str, method: str) -> frozenset[int]:
        """The statuses that somebody may get; 302 of visitors leads to log-in."""
        posted = method == "POST"
        if self.kind == (LOOK if posted else ACT):
            return WRONG_METHOD
        return self._refused(who) or (HEARD if posted else SHOWN)

    def _refused(self, who: str) -> frozenset[int] | None:
        if self.least == "everybody":
            return None
        if who == "anonymous":
            return TO_LOG_IN
        if self.least == "account":
            return None
        if self.least == "worker":
            return None if who == "worker" else NOT_A_WORKER
        if self.least == "holder":
            return None if who == "worker" else NOT_THERE
        if self.least == "site desk":
            return None if who == "staff" else NOT_THERE
        if self.least == "member":
            return None if who in _RANK or who in ("staff", "neighbour") else NOT_THERE
        return None if _RANK.get(who, -1) >= _RANK[self.least] else NOT_THERE


_GROUPS: dict[tuple[str, str, str], str] = {
    ("desk", LOOK, "member"): "projects notices all_workers my_settings find components",
    ("desk", FORM, "site desk"): "new_project",
    ("desk", ACT, "member"): "see_notices create_token end_token",
    ("desk", ACT, "site desk"): """
        add_endpoint move_endpoint remove_endpoint check_endpoint endpoint_hooks
        allow_spending disallow_spending
    """,
    ("desk", LOOK, "viewer"): """
        project events members stage live hits hit work assignment workers worker operations decisions
        project_notices board agreement project_workers person settings queues queue submissions try
        panel panel_messages sources matches
    """,
    ("desk", FORM, "viewer"): "try_task",
    ("desk", ACT, "viewer"): "see_notice see_project_notices notice_wish",
    ("desk", FORM, "manager"): "webhooks webhook new_stage edit_stage opening message",
    ("desk", ACT, "manager"): """
        copy_project copy_stage
        expect pause close reopen top_up approve_chosen more_time more_places expire approve reject override
        bonus release exclude exclude_person readmit readmit_person compensate resolve read_panel ask_return
        panel_terms read_panel_messages write_panel_message pay_in_part state_part_amount
        webhook_action webhook_message
        set_sources pause_source open_source close_source move_work decide_match remove_picture
    """,
    ("desk", FORM, "owner"): "edit_project",
    ("desk", ACT, "owner"): """
        set_member remove_member set_stage_budget end_project_token close_project reopen_project
    """,
    ("annotation", LOOK, "viewer"): """
        queries queries_csv queries_file queries_file_job queries_file_live query source adjudication case
        following agreement answers spread_of_answers answer_writers answers_of_worker answers_of_query
        corpora corpus
    """,
    ("annotation", FORM, "viewer"): "search",
    ("annotation", ACT, "viewer"): "search_api queries_file_cancel",
    ("annotation", LOOK, "manager"): "import_job import_live corpus_job corpus_live",
    ("annotation", FORM, "manager"): """
        import_new import_preview corpus_new corpus_add corpus_new_look corpus_add_look
    """,
    ("annotation", ACT, "manager"): """
        take_out put_back decide_query decide_queries settle_doubt
        accept exclude curate unanswerable draw_holdout approve_unflagged hold_out take_back
        approve_answer ask_rewrite exclude_answer reopen_answer undo_review add_note
        approve_chosen_unflagged import_cancel search_send
        corpus_index corpus_network corpus_remove corpus_cancel
    """,
    ("judgments", LOOK, "viewer"): """
        systems system system_csv candidate source agreement agreement_live report_json figure_csv filters
        scores scores_csv judges judge planning plot judge_plot
        results results_file units units_file compare_results
    """,
    ("judgments", LOOK, "manager"): "import_job import_live",
    ("judgments", FORM, "manager"): "import_new import_preview",
    ("judgments", ACT, "manager"): """
        human refresh_exact keep_copies take_out put_back apply_filter top_up undo_filter exclude_judge
        import_cancel cancel_report calculate calculate_results import_units take_nuggets
    """,
    ("releases", LOOK, "member"): "everywhere",
    ("releases", LOOK, "viewer"): "list release difference file archive build live",
    ("releases", LOOK, "manager"): "content formats preview privacy check_job check_live",
    ("releases", FORM, "manager"): "card",
    ("releases", ACT, "manager"): "decide check check_cancel cancel again",
    ("releases", ACT, "owner"): "publish hide withdraw",
    ("evaluations", LOOK, "member"): "everywhere models model",
    ("evaluations", LOOK, "viewer"): "list one live compare external file query keyphrases keyphrases_live",
    ("evaluations", LOOK, "manager"): "look",
    ("evaluations", FORM, "manager"): "new upload",
    ("evaluations", ACT, "manager"): "cancel again keep remove weigh",
    ("evaluations", ACT, "owner"): "show_board hide_board",
    ("public_releases", LOOK, "everybody"): "page file archive linked",
    ("leaderboards", LOOK, "everybody"): "page json csv",
    ("site", LOOK, "everybody"): "groups preview preview_by_query password_letter_sent",
    ("site", FORM, "everybody"): "ask_for_password",
    ("site", LOOK, "worker"): "queue history earnings continue qualifications qualification feedback sent",
    ("site", LOOK, "holder"): "work",
    ("site", FORM, "worker"): """
        email profile former_id inbox accept qualification_test rate contact reply close payment digest
        country
    """,
    ("site", ACT, "worker"): """
        remove_email return request_qualification ask accept_next export forget_payment attention keep_storage
    """,
    ("site", LOOK, "site desk"): "desk",
    ("requester", LOOK, "site desk"): """
        former_id_conflicts topics
        overview keys members activity money payables payable report_payouts payouts payout paid_people
        invoices invoice letters ratings batches batch
        batch_live batch_task batch_results batch_review_report batch_review_live templates
        worker_file worker_file_live
        template_look sample_table hits hit hit_question review review_by_worker review_table
        review_hit review_worker work answer workers worker qualifications qualification
        qualification_requests qualification_request
        study_links study_link study_link_live study_link_visits study_link_list_csv
    """,
    ("requester", FORM, "site desk"): """
        former_ids deposit new_invoice new letter new_batch batch_properties batch_review new_template
        template
        batch_rows batch_extend batch_schedule bonus_files
        message new_qualification edit_qualification webhooks webhook
        new_study_link edit_study_link study_consent study_link_list
    """,
    ("requester", ACT, "site desk"): """
        invite_workers
        settle_former_id topic_resend
        webhook_action webhook_message
        set_member remove_member reject_chosen batch_extension_continue batch_mail batch_copy template_copy
        worker_file_confirm worker_file_withdraw worker_file_continue template_preview
        new_key see_key_alerts end_key make_payable pay_out make_payout ask_for_another_way book_results
        payout_file payout_paid
        withdraw_payout release_payments settle_letter batch_hosts batch_publish
        batch_cancel batch_approve_waiting batch_delete template_delete use_sample hit_more_time
        hit_more_places hit_expire hit_reviewing hit_delete approve reject bonus approve_chosen
        approve_hit approve_worker block unblock worker_grant delete_qualification give_qualification
        revoke_qualification upload_grants accept_request reject_request
        close_study_link reopen_study_link study_link_quota study_link_mail
    """,
    ("people", LOOK, "viewer"): "links link live",
    ("people", LOOK, "manager"): "visits roster_csv",
    ("people", FORM, "manager"): "new_link edit_link consent roster",
    ("people", ACT, "manager"): "close_link reopen_link quota rehearse mail",
    ("people", LOOK, "account"): "own",
    ("people", FORM, "site desk"): "own_texts",
    ("join", LOOK, "everybody"): "text",
    ("accounts", LOOK, "account"): "factors profile sessions",
    ("accounts", FORM, "account"): """
        password_change home confirm factor_prompt new_app new_passkey recovery_codes
    """,
    ("accounts", FORM, "everybody"): "login passkey",
    ("", FORM, "everybody"): "account_login mfa_authenticate",
    ("accounts", ACT, "everybody"): "logout",
    ("examples", LOOK, "account"): "progress",
    ("examples", ACT, "account"): "tour",
    ("", LOOK, "everybody"): "health languages llms security",
    ("api", LOOK, "everybody"): "reference",
    ("accounts", ACT, "account"): """
        sign_out_everywhere end_key save_view set_name set_email remove_email end_session remove_factor
        disconnect answer_offer
    """,
    ("accounts", ACT, "site desk"): "invite revoke_invitation offer_ownership",
}

RULES = {
    f"{room}:{name}" if room else name: Rule(kind, least)
    for (room, kind, least), names in _GROUPS.items()
    for name in names.split()
}

#: Pages that only lead to another one.
LEADING = {
    "annotation:following", "desk:queue", "releases:build", "releases:check_job", "accounts:home",
    "accounts:login", "account_login", "mfa_authenticate", "site:accept", "site:preview_by_query",
    "site:continue",
}  # fmt: skip

#: Actions of the desk that answer an empty form with the form; all others lead on.
SHOWN_AGAIN = {"desk:create_token", "desk:write_panel_message"}

#: Downloads, of which the event log has a line, and pages that hand out a key, which the list of keys
#: has then. Nothing else changes.
LOGGED = {
    "releases:file", "releases:archive", "public_releases:file", "public_releases:archive",
    "public_releases:linked", "releases:release", "annotation:search",
}  # fmt: skip

#: Addresses that look at a credential in the call and not at who is logged in: (GET, POST) for everybody.
BY_CREDENTIAL: dict[str, tuple[int, int]] = {
    "signed-submit": (405, 400),
    "bare-submit": (405, 400),
    "signed-upload": (405, 400),
    "lent-file": (403, 405),
    "batch-frame": (404, 405),
    "signed-task": (404, 405),
    "signed-preview": (404, 405),
    "/worker-api/next": (405, 401),
    "/worker-api/accept": (405, 401),
    "/worker-api/return": (405, 401),
    "/worker-api/qualification": (405, 401),
    "worker-api-test": (405, 401),
    "metrics": (404, 405),
    "/mturk/test/clock": (404, 404),
    "/mturk/test/chaos": (404, 404),
    "/mturk/test/reset": (404, 404),
    "requester:controls": (404, 404),
    "requester:no_faults": (404, 404),
    "requester:advance": (404, 404),
    "accounts:confirm_email": (404, 404),
    "accounts:invitation": (404, 404),
    "accounts:sign_in_link": (404, 404),
    "accounts:connect": (405, 404),
    "openid_connect_login": (404, 405),
    "openid_connect_callback": (404, 405),
    "site:signup": (403, 403),
    "site:invitation": (404, 404),
    "site:confirm_email": (404, 404),
    "site:unsubscribe": (404, 404),
    "site:guest_work": (404, 405),
    "site:guest_continue": (404, 405),
    "site:guest_return": (405, 404),
    "site:guest_attention": (405, 404),
    "site:guest_storage": (405, 404),
    "site:new_password": (200, 200),
    "site:confirm_payment": (404, 404),
    "join:open": (404, 405),
    "join:next": (404, 405),
    "join:handed_over": (404, 405),
    "join:end": (404, 405),
    "join:stop": (404, 405),
    "join:work": (404, 405),
    "join:back": (404, 405),
    "join:invited": (404, 405),
    "join:consent": (405, 404),
    "join:withdraw": (405, 404),
    "join:account": (405, 404),
    "join:code": (405, 404),
    "crowd:task": (200, 403),
    "crowd:draft": (405, 403),
    "crowd:picture": (200, 405),
    "crowd:panel": (404, 405),
    "crowd:panel_done": (404, 405),
    "crowd:panel_consent": (405, 404),
    "crowd:panel_hook": (405, 404),
    "rewriting:rewrite": (200, 422),
}
