"""What people do on a page, programs do by an operation, or there is a reason why not.

Each page of projects and requesters that takes a POST is in one of the tables below. A new page that is in
none of them fails here.
"""

import pytest
from django.core.management import load_command_class

from marketplace.protocol.endpoint import OPERATIONS as PROTOCOL
from tests.access.expectations import ACT, FORM, RULES
from tests.api.world import operations

#: Apps whose pages are about projects and requesters.
APPS = ("desk", "annotation", "judgments", "releases", "evaluations", "people", "requester")
#: Pages of accounts among them.
MEMBERSHIP = ("accounts:invite", "accounts:revoke_invitation", "accounts:offer_ownership")

#: Pages, and the operations by which programs do the same.
BY_API: dict[str, str] = {
    "desk:new_project": "create_project",
    "desk:edit_project": "change_project",
    "desk:close_project": "close_project",
    "desk:reopen_project": "reopen_project",
    "desk:set_member": "set_member",
    "desk:remove_member": "remove_member",
    "desk:see_notices": "read_notices",
    "desk:see_notice": "read_notice",
    "desk:see_project_notices": "read_project_notices",
    "desk:notice_wish": "change_notice_mail",
    "desk:add_endpoint": "create_endpoint",
    "desk:allow_spending": "allow_spending",
    "desk:disallow_spending": "disallow_spending",
    "desk:check_endpoint": "check_endpoint",
    "desk:move_endpoint": "move_endpoint",
    "desk:remove_endpoint": "remove_endpoint",
    "desk:endpoint_hooks": "subscribe_to_hooks",
    "desk:webhooks": "create_webhook",
    "desk:webhook": "change_webhook",
    "desk:webhook_action": "pause_webhook activate_webhook remove_webhook rotate_webhook_secret "
    "end_former_webhook_secret send_webhook_test",
    "desk:webhook_message": "resend_webhook_message skip_webhook_message",
    "desk:new_stage": "create_stage",
    "desk:edit_stage": "change_stage",
    "desk:set_stage_budget": "change_stage",
    "desk:expect": "change_stage",
    "desk:opening": "quote_stage open_stage",
    "desk:pause": "pause_stage",
    "desk:close": "close_stage",
    "desk:reopen": "reopen_stage",
    "desk:top_up": "top_up_stage",
    "desk:set_sources": "set_sources",
    "desk:copy_project": "copy_project",
    "desk:copy_stage": "copy_stage",
    "desk:pause_source": "pause_source",
    "desk:open_source": "open_source",
    "desk:close_source": "close_source",
    "desk:move_work": "move_work",
    "desk:more_time": "extend_hit_time",
    "desk:more_places": "extend_hit_places",
    "desk:expire": "expire_hit",
    "desk:approve": "approve_assignment",
    "desk:approve_chosen": "approve_assignments",
    "desk:reject": "reject_assignment",
    "desk:override": "override_rejection",
    "desk:bonus": "pay_bonus",
    "desk:release": "release_assignment",
    "desk:resolve": "resolve_operation",
    "desk:message": "write_to_workers",
    "desk:exclude": "exclude_stage_worker",
    "desk:exclude_person": "exclude_worker",
    "desk:readmit": "readmit_stage_worker",
    "desk:readmit_person": "readmit_worker",
    "desk:compensate": "compensate_worker",
    "desk:decide_match": "decide_match",
    "desk:read_panel": "read_panel",
    "desk:panel_terms": "set_study_terms raise_screen_outs",
    "desk:ask_return": "ask_return",
    "desk:pay_in_part": "pay_in_part",
    "desk:state_part_amount": "state_paid_amount",
    "desk:write_panel_message": "write_to_participants",
    "desk:read_panel_messages": "read_panel read_participant_messages",
    "annotation:import_new": "upload_file import_queries import_query_lines",
    "annotation:import_preview": "preview_query_import import_queries",
    "annotation:import_cancel": "cancel_job",
    "annotation:take_out": "withdraw_query",
    "annotation:put_back": "put_query_back",
    "annotation:decide_query": "decide_queries",
    "annotation:decide_queries": "decide_queries",
    "annotation:accept": "decide_case",
    "annotation:exclude": "decide_case",
    "annotation:curate": "decide_case",
    "annotation:unanswerable": "decide_case",
    "annotation:settle_doubt": "decide_case",
    "annotation:search": "search",
    "annotation:search_api": "search",
    "annotation:search_send": "send_search_to_curation",
    "annotation:corpus_new": "upload_file create_corpus_from_upload add_passage_lines",
    "annotation:corpus_new_look": "create_corpus_from_upload",
    "annotation:corpus_add": "upload_file add_corpus_file add_passage_lines",
    "annotation:corpus_add_look": "add_corpus_file",
    "annotation:corpus_index": "build_index",
    "annotation:corpus_network": "build_network",
    "annotation:corpus_remove": "remove_a_corpus",
    "annotation:corpus_cancel": "cancel_job",
    "annotation:queries_file_cancel": "cancel_job",
    "annotation:draw_holdout": "hold_out",
    "annotation:hold_out": "hold_out_answer",
    "annotation:take_back": "hold_out_answer",
    "annotation:approve_unflagged": "list_answers decide_answers",
    "annotation:approve_answer": "decide_answers",
    "annotation:ask_rewrite": "decide_answers",
    "annotation:exclude_answer": "decide_answers",
    "annotation:reopen_answer": "decide_answers",
    "judgments:import_new": "upload_file import_candidates import_candidate_lines",
    "judgments:import_preview": "import_candidates",
    "judgments:import_cancel": "cancel_job",
    "judgments:human": "update_human_candidates",
    "judgments:refresh_exact": "set_copies_aside",
    "judgments:keep_copies": "keep_copies",
    "judgments:take_out": "withdraw_candidate",
    "judgments:put_back": "put_candidate_back",
    "judgments:apply_filter": "preview_filters apply_filters",
    "judgments:top_up": "ask_again",
    "judgments:undo_filter": "undo_filters",
    "judgments:exclude_judge": "exclude_stage_worker exclude_worker",
    "judgments:calculate": "make_agreement_report",
    "judgments:cancel_report": "cancel_job",
    "releases:card": "build_release",
    "releases:check": "check_privacy",
    "releases:check_cancel": "cancel_job",
    "releases:decide": "decide_findings",
    "releases:cancel": "cancel_build",
    "releases:again": "retry_build",
    "releases:publish": "publish_release",
    "releases:hide": "hide_release",
    "releases:withdraw": "withdraw_release",
    "evaluations:new": "start_evaluation",
    "evaluations:cancel": "cancel_evaluation",
    "evaluations:again": "retry_evaluation",
    "evaluations:show_board": "show_leaderboard",
    "evaluations:hide_board": "hide_leaderboard",
    "evaluations:upload": "upload_file add_external_scores",
    "evaluations:keep": "keep_external_scores",
    "evaluations:remove": "remove_external_scores",
    "people:new_link": "create_study_link",
    "people:edit_link": "change_study_link",
    "people:quota": "change_study_link",
    "people:close_link": "close_study_link",
    "people:reopen_link": "reopen_study_link",
    "people:consent": "publish_consent_text",
    "people:roster": "add_to_roster",
    "people:mail": "mail_roster",
    "people:rehearse": "simulate_workers",
    "people:own_texts": "publish_installation_text",
    "accounts:invite": "create_invitation",
    "accounts:revoke_invitation": "revoke_invitation",
    "requester:set_member": "set_requester_member",
    "requester:remove_member": "remove_requester_member",
    "requester:webhooks": "create_requester_webhook",
    "requester:webhook": "change_requester_webhook",
    "requester:webhook_action": "pause_requester_webhook activate_requester_webhook "
    "remove_requester_webhook rotate_requester_webhook_secret end_former_requester_webhook_secret "
    "send_requester_webhook_test",
    "requester:webhook_message": "resend_requester_webhook_message skip_requester_webhook_message",
    "requester:new_study_link": "create_requester_study_link",
    "requester:edit_study_link": "change_requester_study_link",
    "requester:study_link_quota": "change_requester_study_link",
    "requester:close_study_link": "close_requester_study_link",
    "requester:reopen_study_link": "reopen_requester_study_link",
    "requester:study_consent": "publish_requester_consent_text",
    "requester:study_link_list": "add_to_requester_roster",
    "requester:study_link_mail": "mail_requester_roster",
    "requester:batch_schedule": "set_batch_hours remove_batch_hours set_batch_schedule",
    "requester:batch_publish": "publish_batch",
    "requester:batch_cancel": "cancel_batch",
}

#: Pages of requesters, and the operations of the MTurk protocol by which programs do the same.
BY_PROTOCOL: dict[str, str] = {
    "requester:hit_more_time": "UpdateExpirationForHIT",
    "requester:hit_expire": "UpdateExpirationForHIT",
    "requester:hit_more_places": "CreateAdditionalAssignmentsForHIT",
    "requester:hit_reviewing": "UpdateHITReviewStatus",
    "requester:hit_delete": "DeleteHIT",
    "requester:approve": "ApproveAssignment",
    "requester:approve_chosen": "ApproveAssignment",
    "requester:approve_hit": "ApproveAssignment",
    "requester:approve_worker": "ApproveAssignment",
    "requester:batch_approve_waiting": "ApproveAssignment",
    "requester:reject": "RejectAssignment",
    "requester:reject_chosen": "RejectAssignment",
    "requester:bonus": "SendBonus",
    "requester:bonus_files": "SendBonus",
    "requester:block": "CreateWorkerBlock",
    "requester:unblock": "DeleteWorkerBlock",
    "requester:message": "NotifyWorkers",
    "requester:new_qualification": "CreateQualificationType",
    "requester:edit_qualification": "UpdateQualificationType",
    "requester:delete_qualification": "DeleteQualificationType",
    "requester:give_qualification": "AssociateQualificationWithWorker",
    "requester:worker_grant": "AssociateQualificationWithWorker",
    "requester:upload_grants": "AssociateQualificationWithWorker",
    "requester:revoke_qualification": "DisassociateQualificationFromWorker",
    "requester:accept_request": "AcceptQualificationRequest",
    "requester:reject_request": "RejectQualificationRequest",
    "requester:batch_extend": "CreateAdditionalAssignmentsForHIT",
}

#: Pages of requesters, and the command `manage.py marketplace …` by which scripts do the same.
BY_COMMAND: dict[str, str] = {
    "requester:new": "requester create",
    "requester:deposit": "deposit",
    "requester:make_payable": "payable make",
    "requester:pay_out": "payable paid",
    "requester:new_invoice": "invoice",
    "requester:new_batch": "batch create",
    "requester:new_template": "batch create",
    "requester:batch_hosts": "batch create",
    "requester:batch_review": "batch review",
    "requester:batch_delete": "batch delete",
    "requester:former_ids": "former-ids import",
    "requester:invite_workers": "invite",
    "requester:new_key": "key new",
    "requester:end_key": "key end",
}

_TOKEN = "A token makes and ends no tokens: people do, who sign in. Operators have the command api-token."
_PREVIEW = "It shows a person what workers will see, and keeps nothing."
_DRAFT = "A draft is changed by a person who looks at it; a script throws it away and makes another."
_MONEY = "A person who signed in again a moment ago moves money out of the books."
_FILE = "It is a step of a file that a person uploaded and looks at; a script makes the calls themselves."
#: Pages for which there is none on purpose, and why.
REASONS: dict[str, str] = {
    "desk:create_token": _TOKEN,
    "desk:end_token": _TOKEN,
    "desk:end_project_token": _TOKEN,
    "desk:try_task": _PREVIEW,
    "evaluations:weigh": "It draws weights of words for a person; evaluations with KPQA have them in files.",
    "accounts:offer_ownership": "A person who signed in again a moment ago hands over what they own.",
    "requester:see_key_alerts": "It hides a warning about keys from the person who has read it.",
    "requester:letter": "What workers write is read and answered by people.",
    "requester:settle_letter": "What workers write is read and answered by people.",
    "requester:settle_former_id": "Staff decide between two workers, with what both have said before them.",
    "requester:topic_resend": "What is due is sent by itself; one again is for who looks at it.",
    "requester:template": _DRAFT,
    "requester:template_copy": _DRAFT,
    "requester:template_delete": _DRAFT,
    "requester:template_preview": _PREVIEW,
    "requester:use_sample": _DRAFT,
    "requester:batch_properties": _DRAFT,
    "requester:batch_copy": _DRAFT,
    "requester:batch_rows": _DRAFT,
    "requester:batch_extension_continue": "It goes on where adding places stopped; calls can be repeated.",
    "requester:batch_mail": "An e-mail for the person who looks at the page; programs have webhooks.",
    "requester:worker_file_confirm": _FILE,
    "requester:worker_file_withdraw": _FILE,
    "requester:worker_file_continue": _FILE,
    "requester:make_payout": _MONEY,
    "requester:ask_for_another_way": _MONEY,
    "requester:book_results": _MONEY,
    "requester:payout_file": _MONEY,
    "requester:payout_paid": _MONEY,
    "requester:withdraw_payout": _MONEY,
    "requester:release_payments": _MONEY,
}
TABLES = (BY_API, BY_PROTOCOL, BY_COMMAND, REASONS)


def pages_that_take_posts() -> set[str]:
    named = {name for name, rule in RULES.items() if rule.kind in (ACT, FORM)}
    return {name for name in named if name.partition(":")[0] in APPS or name in MEMBERSHIP}


def test_every_page_that_changes_something_is_in_one_table():
    pages = pages_that_take_posts()
    listed = [name for table in TABLES for name in table]
    missing = sorted(pages - set(listed))
    assert not missing, f"Give programs an operation, or say why there is none: {missing}"
    assert sorted(set(listed) - pages) == [], "These pages are gone."
    assert len(listed) == len(set(listed)), "A page is in two tables."


def test_the_operations_are_there():
    known = {operation.name for operation in operations()}
    wrong = [(page, name) for page, names in BY_API.items() for name in names.split() if name not in known]
    assert wrong == []
    assert [name for name in BY_PROTOCOL.values() if name not in PROTOCOL] == []


@pytest.mark.parametrize("words", sorted(set(BY_COMMAND.values())))
def test_the_commands_are_there(words, capsys):
    parser = load_command_class("marketplace", "marketplace").create_parser("manage.py", "marketplace")
    with pytest.raises(SystemExit) as ended:
        parser.parse_args([*words.split(), "--help"])
    assert ended.value.code == 0, words


def test_reasons_are_sentences():
    assert [why for why in REASONS.values() if not why.endswith(".") or len(why) < 30] == []
