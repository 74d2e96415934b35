CREATE TABLE "account_emailaddress" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "verified" bool NOT NULL, "primary" bool NOT NULL, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "email" varchar(254) NOT NULL)
-- next statement
CREATE TABLE "account_emailconfirmation" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "created" datetime NOT NULL, "sent" datetime NULL, "key" varchar(64) NOT NULL UNIQUE, "email_address_id" integer NOT NULL REFERENCES "account_emailaddress" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "accounts_factorprompt" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "put_off_at" datetime NOT NULL, "user_id" integer NOT NULL UNIQUE REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "accounts_failedtries" ("key" varchar(60) NOT NULL PRIMARY KEY, "failures" integer unsigned NOT NULL CHECK ("failures" >= 0), "last_at" datetime NOT NULL, "blocked_until" datetime NULL)
-- next statement
CREATE TABLE "accounts_invitationuse" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "at" datetime NOT NULL, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "invitation_id" bigint NOT NULL REFERENCES "accounts_memberinvitation" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "invitation_accepted_once" UNIQUE ("invitation_id", "user_id"))
-- next statement
CREATE TABLE "accounts_memberinvitation" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "kind" varchar(20) NOT NULL, "target" varchar(120) NOT NULL, "role" varchar(20) NOT NULL, "email" varchar(254) NOT NULL, "token_digest" varchar(64) NOT NULL UNIQUE, "max_uses" integer unsigned NOT NULL CHECK ("max_uses" >= 0), "uses" integer unsigned NOT NULL CHECK ("uses" >= 0), "made_at" datetime NOT NULL, "expires_at" datetime NOT NULL, "revoked_at" datetime NULL, "made_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "member_invitation_uses_bounded" CHECK (("max_uses" >= 1 AND "uses" <= ("max_uses"))))
-- next statement
CREATE TABLE "accounts_ownershipoffer" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "kind" varchar(20) NOT NULL, "target" varchar(120) NOT NULL, "offered_at" datetime NOT NULL, "ended_at" datetime NULL, "outcome" varchar(10) NOT NULL, "giver_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "taker_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "accounts_passwordletter" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "sent_at" datetime NOT NULL, "user_id" integer NOT NULL UNIQUE REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "accounts_passwordstate" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "must_change" bool NOT NULL, "user_id" integer NOT NULL UNIQUE REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "accounts_providergrant" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "provider" varchar(60) NOT NULL, "kind" varchar(20) NOT NULL, "target" varchar(120) NOT NULL, "role" varchar(20) NOT NULL, "at" datetime NOT NULL, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_grant_of_a_provider" UNIQUE ("user_id", "provider", "kind", "target"))
-- next statement
CREATE TABLE "accounts_savedview" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "path" varchar(300) NOT NULL, "name" varchar(60) NOT NULL, "query" varchar(2000) NOT NULL, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "saved_view_name" UNIQUE ("user_id", "path", "name"))
-- next statement
CREATE TABLE "accounts_signedinsession" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "session_key" varchar(40) NOT NULL UNIQUE, "device" varchar(80) NOT NULL, "address" varchar(45) NOT NULL, "began_at" datetime NOT NULL, "seen_at" datetime NOT NULL, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "accounts_signedkey" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "digest" varchar(64) NOT NULL UNIQUE, "epoch" varchar(20) NOT NULL, "name" varchar(200) NOT NULL, "made_at" datetime NOT NULL, "expires_at" datetime NOT NULL, "ended_at" datetime NULL, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "first_used_at" datetime NULL, "last_used_at" datetime NULL)
-- next statement
CREATE TABLE "accounts_waitingemail" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "email" varchar(254) NOT NULL, "asked_at" datetime NOT NULL, "user_id" integer NOT NULL UNIQUE REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "annotation_answer" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "text" text NOT NULL, "opinion" varchar(7) NOT NULL, "entities" text NOT NULL CHECK ((JSON_VALID("entities") OR "entities" IS NULL)), "state" varchar(9) NOT NULL, "created_at" datetime NOT NULL, "checked_at" datetime NULL, "assignment_id" bigint NOT NULL REFERENCES "crowd_assignment" ("id") DEFERRABLE INITIALLY DEFERRED, "revises_id" bigint NULL UNIQUE REFERENCES "annotation_answer" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "crowd_worker" ("id") DEFERRABLE INITIALLY DEFERRED, "query_id" bigint NOT NULL REFERENCES "annotation_query" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "annotation_answerflag" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(40) NOT NULL, "value" real NULL, "limit" real NULL, "evidence" text NOT NULL CHECK ((JSON_VALID("evidence") OR "evidence" IS NULL)), "created_at" datetime NOT NULL, "answer_id" bigint NOT NULL REFERENCES "annotation_answer" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "flag_once_per_answer" UNIQUE ("answer_id", "name"))
-- next statement
CREATE TABLE "annotation_answernote" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "text" varchar(1000) NOT NULL, "at" datetime NOT NULL, "answer_id" bigint NOT NULL REFERENCES "annotation_answer" ("id") DEFERRABLE INITIALLY DEFERRED, "author_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "answer_note_says_something" CHECK (NOT ("text" = '')))
-- next statement
CREATE TABLE "annotation_answerreview" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "action" varchar(7) NOT NULL, "reason" varchar(300) NOT NULL, "at" datetime NOT NULL, "actor_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "answer_id" bigint NOT NULL REFERENCES "annotation_answer" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "exclusion_and_rewrite_say_why" CHECK ((NOT ("action" IN ('rewrite', 'exclude')) OR NOT ("reason" = ''))))
-- next statement
CREATE TABLE "annotation_candidatepassage" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "rank" integer unsigned NOT NULL CHECK ("rank" >= 0), "score" real NULL, "origin" varchar(60) NOT NULL, "key" varchar(200) NOT NULL, "text" text NOT NULL, "title" text NOT NULL, "url" varchar(2000) NOT NULL, "page" varchar(2000) NOT NULL, "start" integer unsigned NULL CHECK ("start" >= 0), "end" integer unsigned NULL CHECK ("end" >= 0), "fold_reason" varchar(200) NOT NULL, "imported_selected" bool NOT NULL, "query_id" bigint NOT NULL REFERENCES "annotation_query" ("id") DEFERRABLE INITIALLY DEFERRED, "retrieval" text NOT NULL CHECK ((JSON_VALID("retrieval") OR "retrieval" IS NULL)), "folded_into_id" bigint NULL REFERENCES "annotation_candidatepassage" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "candidate_rank_once" UNIQUE ("query_id", "rank"), CONSTRAINT "candidate_once" UNIQUE ("query_id", "key"), CONSTRAINT "candidate_region" CHECK ((("end" IS NULL AND "start" IS NULL) OR "start" < ("end"))))
-- next statement
CREATE TABLE "annotation_curatedpassage" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "position" integer unsigned NOT NULL CHECK ("position" >= 0), "candidate_id" bigint NOT NULL REFERENCES "annotation_candidatepassage" ("id") DEFERRABLE INITIALLY DEFERRED, "curated_set_id" bigint NOT NULL REFERENCES "annotation_curatedset" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "curated_position_once" UNIQUE ("curated_set_id", "position"), CONSTRAINT "curated_passage_once" UNIQUE ("curated_set_id", "candidate_id"))
-- next statement
CREATE TABLE "annotation_curatedset" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "rule" varchar(60) NOT NULL, "created_at" datetime NOT NULL, "decided_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, "query_id" bigint NOT NULL UNIQUE REFERENCES "annotation_query" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "annotation_doubt" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "why" varchar(300) NOT NULL, "says" varchar(300) NOT NULL, "raised_at" datetime NOT NULL, "outcome" varchar(6) NOT NULL, "settled_at" datetime NULL, "query_id" bigint NOT NULL REFERENCES "annotation_query" ("id") DEFERRABLE INITIALLY DEFERRED, "settled_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "annotation_heldoutworker" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "seed" bigint NULL, "created_at" datetime NOT NULL, "worker_id" bigint NOT NULL REFERENCES "crowd_worker" ("id") DEFERRABLE INITIALLY DEFERRED, "query_id" bigint NOT NULL REFERENCES "annotation_query" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "held_out_once" UNIQUE ("query_id", "worker_id"))
-- next statement
CREATE TABLE "annotation_passageselection" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "answerable" bool NOT NULL, "passages" text NOT NULL CHECK ((JSON_VALID("passages") OR "passages" IS NULL)), "conflicts" text NOT NULL CHECK ((JSON_VALID("conflicts") OR "conflicts" IS NULL)), "highlights" text NOT NULL CHECK ((JSON_VALID("highlights") OR "highlights" IS NULL)), "assignment_id" bigint NOT NULL REFERENCES "crowd_assignment" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, "query_id" bigint NOT NULL REFERENCES "annotation_query" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_selection_per_query" UNIQUE ("assignment_id", "query_id"))
-- next statement
CREATE TABLE "annotation_query" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "key" varchar(200) NOT NULL, "text" text NOT NULL, "digest" varchar(64) NOT NULL, "context" text NOT NULL CHECK ((JSON_VALID("context") OR "context" IS NULL)), "conversation" varchar(200) NOT NULL, "turn" integer unsigned NULL CHECK ("turn" >= 0), "type" varchar(11) NOT NULL, "yes_no" bool NOT NULL, "count" bigint NOT NULL, "stratum" varchar(60) NOT NULL, "weight" real NOT NULL, "line" bigint NULL, "references" text NOT NULL CHECK ((JSON_VALID("references") OR "references" IS NULL)), "extra" text NOT NULL CHECK ((JSON_VALID("extra") OR "extra" IS NULL)), "status" varchar(12) NOT NULL, "status_reason" varchar(300) NOT NULL, "project_id" bigint NOT NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED, "source_id" bigint NOT NULL REFERENCES "annotation_querysource" ("id") DEFERRABLE INITIALLY DEFERRED, "by_hand" bool NOT NULL, "plain_digest" varchar(64) DEFAULT '' NOT NULL, CONSTRAINT "query_key_in_project" UNIQUE ("project_id", "key"), CONSTRAINT "query_once_in_project" UNIQUE ("project_id", "digest"))
-- next statement
CREATE TABLE "annotation_querysource" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(300) NOT NULL, "format" varchar(20) NOT NULL, "sha256" varchar(64) NOT NULL, "options" text NOT NULL CHECK ((JSON_VALID("options") OR "options" IS NULL)), "report" text NOT NULL CHECK ((JSON_VALID("report") OR "report" IS NULL)), "state" varchar(9) NOT NULL, "created_at" datetime NOT NULL, "finished_at" datetime NULL, "created_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "project_id" bigint NOT NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "annotation_querystep" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "at" datetime NOT NULL, "before" varchar(12) NOT NULL, "after" varchar(12) NOT NULL, "reason" varchar(300) NOT NULL, "details" text NOT NULL CHECK ((JSON_VALID("details") OR "details" IS NULL)), "actor_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "query_id" bigint NOT NULL REFERENCES "annotation_query" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "a_person_or_a_rule_says_why" CHECK (NOT ("reason" = '')))
-- next statement
CREATE TABLE "annotation_screeningvote" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "unambiguous" bool NOT NULL, "answerable" bool NOT NULL, "intent" varchar(13) NOT NULL, "excluded_kind" varchar(10) NOT NULL, "sensitive" bool NOT NULL, "adult" bool NOT NULL, "assignment_id" bigint NOT NULL REFERENCES "crowd_assignment" ("id") DEFERRABLE INITIALLY DEFERRED, "query_id" bigint NOT NULL REFERENCES "annotation_query" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_screening_vote_per_query" UNIQUE ("assignment_id", "query_id"))
-- next statement
CREATE TABLE "api_apitoken" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(100) NOT NULL, "prefix" varchar(16) NOT NULL, "digest" varchar(64) NOT NULL UNIQUE, "scopes" text NOT NULL CHECK ((JSON_VALID("scopes") OR "scopes" IS NULL)), "created_at" datetime NOT NULL, "expires_at" datetime NULL, "last_used_at" datetime NULL, "last_used_from" varchar(45) DEFAULT '' NOT NULL, "revoked_at" datetime NULL, "project_id" bigint NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "api_idempotencyrecord" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "key" varchar(200) NOT NULL, "digest" varchar(64) NOT NULL, "created_at" datetime NOT NULL, "claim" char(32) NULL, "claimed_until" datetime NULL, "status" smallint unsigned NULL CHECK ("status" >= 0), "headers" text NOT NULL CHECK ((JSON_VALID("headers") OR "headers" IS NULL)), "body" text DEFAULT '' NOT NULL, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "body_sealed" text DEFAULT '' NOT NULL, CONSTRAINT "idempotency_key_once" UNIQUE ("user_id", "key"), CONSTRAINT "idempotency_claimed_or_done" CHECK ((("claim" IS NOT NULL AND "claimed_until" IS NOT NULL AND "status" IS NULL) OR ("claim" IS NULL AND "claimed_until" IS NULL AND "status" IS NOT NULL))))
-- next statement
CREATE TABLE "audit_auditchain" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "kind" varchar(9) NOT NULL, "owner_id" bigint NOT NULL, "length" bigint NOT NULL, "head" varchar(64) NOT NULL, "began_at" datetime NOT NULL, CONSTRAINT "one_audit_chain_of_owner" UNIQUE ("kind", "owner_id"))
-- next statement
CREATE TABLE "audit_auditcheckpoint" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "number" bigint NOT NULL, "digest" varchar(64) NOT NULL, "rows" bigint NOT NULL, "made_at" datetime NOT NULL, "why" varchar(200) NOT NULL, "chain_id" bigint NOT NULL REFERENCES "audit_auditchain" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_audit_checkpoint_per_number" UNIQUE ("chain_id", "number"))
-- next statement
CREATE TABLE "audit_auditlink" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "number" bigint NOT NULL, "kind" varchar(9) NOT NULL, "row" bigint NOT NULL, "digest" varchar(64) NOT NULL, "sealed_at" datetime NOT NULL, "chain_id" bigint NOT NULL REFERENCES "audit_auditchain" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_audit_link_per_number" UNIQUE ("chain_id", "number"), CONSTRAINT "one_audit_link_per_row" UNIQUE ("kind", "row"))
-- next statement
CREATE TABLE "audit_auditprogress" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "kind" varchar(9) NOT NULL UNIQUE, "floor" bigint NOT NULL, "top" bigint NOT NULL, "top_at" datetime NOT NULL)
-- next statement
CREATE TABLE "auth_group" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(150) NOT NULL UNIQUE)
-- next statement
CREATE TABLE "auth_group_permissions" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "group_id" integer NOT NULL REFERENCES "auth_group" ("id") DEFERRABLE INITIALLY DEFERRED, "permission_id" integer NOT NULL REFERENCES "auth_permission" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "auth_permission" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "content_type_id" integer NOT NULL REFERENCES "django_content_type" ("id") DEFERRABLE INITIALLY DEFERRED, "codename" varchar(100) NOT NULL, "name" varchar(255) NOT NULL)
-- next statement
CREATE TABLE "auth_user" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "password" varchar(128) NOT NULL, "last_login" datetime NULL, "is_superuser" bool NOT NULL, "username" varchar(150) NOT NULL UNIQUE, "last_name" varchar(150) NOT NULL, "email" varchar(254) NOT NULL, "is_staff" bool NOT NULL, "is_active" bool NOT NULL, "date_joined" datetime NOT NULL, "first_name" varchar(150) NOT NULL)
-- next statement
CREATE TABLE "auth_user_groups" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "group_id" integer NOT NULL REFERENCES "auth_group" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "auth_user_user_permissions" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "permission_id" integer NOT NULL REFERENCES "auth_permission" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "axes_accessattempt" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "user_agent" varchar(255) NOT NULL, "ip_address" char(39) NULL, "username" varchar(255) NULL, "http_accept" varchar(1025) NOT NULL, "path_info" varchar(255) NOT NULL, "attempt_time" datetime NOT NULL, "get_data" text NOT NULL, "post_data" text NOT NULL, "failures_since_start" integer unsigned NOT NULL CHECK ("failures_since_start" >= 0))
-- next statement
CREATE TABLE "axes_accessattemptexpiration" ("access_attempt_id" integer NOT NULL PRIMARY KEY REFERENCES "axes_accessattempt" ("id") DEFERRABLE INITIALLY DEFERRED, "expires_at" datetime NOT NULL)
-- next statement
CREATE TABLE "axes_accessfailurelog" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "user_agent" varchar(255) NOT NULL, "ip_address" char(39) NULL, "username" varchar(255) NULL, "http_accept" varchar(1025) NOT NULL, "path_info" varchar(255) NOT NULL, "attempt_time" datetime NOT NULL, "locked_out" bool NOT NULL)
-- next statement
CREATE TABLE "axes_accesslog" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "user_agent" varchar(255) NOT NULL, "ip_address" char(39) NULL, "username" varchar(255) NULL, "http_accept" varchar(1025) NOT NULL, "path_info" varchar(255) NOT NULL, "attempt_time" datetime NOT NULL, "logout_time" datetime NULL, "session_hash" varchar(64) NOT NULL)
-- next statement
CREATE TABLE "crowd_assignment" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "external_id" varchar(64) NOT NULL, "state" varchar(11) NOT NULL, "arrived_at" datetime NOT NULL, "stored_at" datetime NULL, "submitted_at" datetime NULL, "auto_approve_at" datetime NULL, "decided_at" datetime NULL, "receipt" char(32) NOT NULL UNIQUE, "draft" text NOT NULL CHECK ((JSON_VALID("draft") OR "draft" IS NULL)), "response" text NULL CHECK ((JSON_VALID("response") OR "response" IS NULL)), "telemetry" text NOT NULL CHECK ((JSON_VALID("telemetry") OR "telemetry" IS NULL)), "failed_checks" integer unsigned NOT NULL CHECK ("failed_checks" >= 0), "held" bool NOT NULL, "note" varchar(300) NOT NULL, "hit_id" bigint NOT NULL REFERENCES "crowd_hit" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "crowd_worker" ("id") DEFERRABLE INITIALLY DEFERRED, "proven" bool NOT NULL, "arrived_from" varchar(32) DEFAULT '' NOT NULL, "saved_at" datetime NULL, "paid_cents" integer unsigned NULL CHECK ("paid_cents" >= 0), "withdrawn" bool DEFAULT 0 NOT NULL, "instructions_version" integer unsigned DEFAULT 1 NOT NULL CHECK ("instructions_version" >= 0), "language" varchar(35) DEFAULT '' NOT NULL, CONSTRAINT "assignment_of_worker" UNIQUE ("external_id", "worker_id"))
-- next statement
CREATE TABLE "crowd_claim" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "unit" varchar(200) NOT NULL, "assignment_id" bigint NOT NULL REFERENCES "crowd_assignment" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "crowd_worker" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "unit_once_per_worker" UNIQUE ("stage_id", "unit", "worker_id"))
-- next statement
CREATE TABLE "crowd_compensation" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "at" datetime NOT NULL, "operation_id" char(32) NOT NULL UNIQUE REFERENCES "crowd_marketoperation" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "crowd_worker" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "compensated_once_per_stage" UNIQUE ("stage_id", "worker_id"))
-- next statement
CREATE TABLE "crowd_dispatchepoch" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "installation" char(32) NOT NULL, "number" bigint NOT NULL, "vouched" bigint NOT NULL, "vouched_at" datetime NULL)
-- next statement
CREATE TABLE "crowd_dispatchhalt" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "why" varchar(300) NOT NULL, "since" datetime NOT NULL, "looked_up_to" bigint NOT NULL, "endpoint_id" bigint NOT NULL UNIQUE REFERENCES "crowd_endpoint" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "crowd_endpoint" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(60) NOT NULL UNIQUE, "label" varchar(200) NOT NULL, "protocol" varchar(10) NOT NULL, "url" varchar(300) NOT NULL, "region" varchar(40) NOT NULL, "access_key" varchar(128) NOT NULL, "secret_sealed" text NOT NULL, "currency" varchar(3) NOT NULL, "real_money" bool NOT NULL, "fee_profile" varchar(40) NOT NULL, "submit_origins" text NOT NULL CHECK ((JSON_VALID("submit_origins") OR "submit_origins" IS NULL)), "rate" real NOT NULL, "burst" integer unsigned NOT NULL CHECK ("burst" >= 0), "created_at" datetime NOT NULL, "proves_arrivals" bool NOT NULL, "hook_secret_sealed" text DEFAULT '' NOT NULL, "balance_at" datetime NULL, "balance_cents" bigint NULL, "balance_held_cents" bigint NULL, "told_fees" text NULL CHECK ((JSON_VALID("told_fees") OR "told_fees" IS NULL)))
-- next statement
CREATE TABLE "crowd_endpointround" ("endpoint_id" bigint NOT NULL PRIMARY KEY REFERENCES "crowd_endpoint" ("id") DEFERRABLE INITIALLY DEFERRED, "lease_owner" char(32) NULL, "lease_until" datetime NULL, "began_at" datetime NULL, "ended_at" datetime NULL, "down_since" datetime NULL, "down_cause" varchar(300) NOT NULL, "outcome" varchar(8) DEFAULT '' NOT NULL, "seconds" real NULL, "succeeded_at" datetime NULL, "compared_to" datetime NULL, CONSTRAINT "round_lease_whole" CHECK ((("lease_owner" IS NULL AND "lease_until" IS NULL) OR ("lease_owner" IS NOT NULL AND "lease_until" IS NOT NULL))))
-- next statement
CREATE TABLE "crowd_endpointspender" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "created_at" datetime NOT NULL, "endpoint_id" bigint NOT NULL REFERENCES "crowd_endpoint" ("id") DEFERRABLE INITIALLY DEFERRED, "given_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "project_id" bigint NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED, "user_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "endpoint_once_per_project" UNIQUE ("endpoint_id", "project_id"), CONSTRAINT "endpoint_once_per_person" UNIQUE ("endpoint_id", "user_id"), CONSTRAINT "endpoint_spender_is_one" CHECK ((("project_id" IS NULL AND "user_id" IS NOT NULL) OR ("project_id" IS NOT NULL AND "user_id" IS NULL))))
-- next statement
CREATE TABLE "crowd_exclusion" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "scope" varchar(200) NOT NULL, "reason" varchar(300) NOT NULL, "created_at" datetime NOT NULL, "worker_id" bigint NOT NULL REFERENCES "crowd_worker" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "excluded_once_per_scope" UNIQUE ("worker_id", "scope"))
-- next statement
CREATE TABLE "crowd_group" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(200) NOT NULL, "external_id" varchar(64) NOT NULL, "created_at" datetime NOT NULL, "endpoint_id" bigint NOT NULL REFERENCES "crowd_endpoint" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "group_name_at_endpoint" UNIQUE ("endpoint_id", "name"))
-- next statement
CREATE TABLE "crowd_hit" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "key" char(32) NOT NULL UNIQUE, "ordinal" integer unsigned NOT NULL CHECK ("ordinal" >= 0), "places" integer unsigned NOT NULL CHECK ("places" >= 0), "reward_cents" integer unsigned NOT NULL CHECK ("reward_cents" >= 0), "fee_cents" integer unsigned NOT NULL CHECK ("fee_cents" >= 0), "external_id" varchar(64) NOT NULL, "state" varchar(8) NOT NULL, "wave" integer unsigned NOT NULL CHECK ("wave" >= 0), "part" integer unsigned NULL CHECK ("part" >= 0), "part_count" integer unsigned NOT NULL CHECK ("part_count" >= 0), "published_at" datetime NULL, "expires_at" datetime NULL, "synced_at" datetime NULL, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, "compensates_id" bigint NULL REFERENCES "crowd_worker" ("id") DEFERRABLE INITIALLY DEFERRED, "source_id" bigint NULL REFERENCES "crowd_stagesource" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "hit_ordinal_in_stage" UNIQUE ("stage_id", "ordinal"))
-- next statement
CREATE TABLE "crowd_hitunit" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "unit" varchar(200) NOT NULL, "role" varchar(7) NOT NULL, "position" integer unsigned NOT NULL CHECK ("position" >= 0), "hit_id" bigint NOT NULL REFERENCES "crowd_hit" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "unit_once_per_hit" UNIQUE ("hit_id", "unit"), CONSTRAINT "position_once_per_hit" UNIQUE ("hit_id", "position"))
-- next statement
CREATE TABLE "crowd_instructions" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "version" integer unsigned NOT NULL CHECK ("version" >= 0), "description" varchar(2000) NOT NULL, "text" text NOT NULL, "written_at" datetime NOT NULL, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, "written_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "languages" text NULL CHECK ((JSON_VALID("languages") OR "languages" IS NULL)), CONSTRAINT "instructions_version_of_stage" UNIQUE ("stage_id", "version"))
-- next statement
CREATE TABLE "crowd_ledgerentry" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "kind" varchar(7) NOT NULL, "cents" bigint NOT NULL, "fee_cents" bigint NOT NULL, "reason" varchar(120) NOT NULL, "at" datetime NOT NULL, "assignment_id" bigint NULL REFERENCES "crowd_assignment" ("id") DEFERRABLE INITIALLY DEFERRED, "hit_id" bigint NULL REFERENCES "crowd_hit" ("id") DEFERRABLE INITIALLY DEFERRED, "operation_id" char(32) NULL REFERENCES "crowd_marketoperation" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "crowd_ledger_moves_forward" CHECK (("cents" >= 0 AND "fee_cents" >= 0)))
-- next statement
CREATE TABLE "crowd_marketoperation" ("id" char(32) NOT NULL PRIMARY KEY, "endpoint_url" varchar(300) NOT NULL, "kind" varchar(8) NOT NULL, "target" varchar(120) NOT NULL, "purpose" varchar(120) NOT NULL, "payload" text NOT NULL CHECK ((JSON_VALID("payload") OR "payload" IS NULL)), "amount_cents" bigint NOT NULL, "fee_cents" bigint NOT NULL, "state" varchar(9) NOT NULL, "attempts" integer unsigned NOT NULL CHECK ("attempts" >= 0), "planned_at" datetime NOT NULL, "not_before" datetime NOT NULL, "first_sent_at" datetime NULL, "lease_owner" char(32) NULL, "lease_until" datetime NULL, "finished_at" datetime NULL, "result_ref" varchar(120) NOT NULL, "request_id" varchar(80) NOT NULL, "error_code" varchar(80) NOT NULL, "error_text" text NOT NULL, "result_lost" bool NOT NULL, "needs_person" bool NOT NULL, "assignment_id" bigint NULL REFERENCES "crowd_assignment" ("id") DEFERRABLE INITIALLY DEFERRED, "endpoint_id" bigint NOT NULL REFERENCES "crowd_endpoint" ("id") DEFERRABLE INITIALLY DEFERRED, "hit_id" bigint NULL REFERENCES "crowd_hit" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_operation_per_purpose" UNIQUE ("kind", "target", "purpose"), CONSTRAINT "operation_costs_nothing_negative" CHECK (("amount_cents" >= 0 AND "fee_cents" >= 0)))
-- next statement
CREATE TABLE "crowd_panelhook" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "event_id" varchar(80) NOT NULL, "event_type" varchar(60) NOT NULL, "resource" varchar(80) NOT NULL, "received_at" datetime NOT NULL, "endpoint_id" bigint NOT NULL REFERENCES "crowd_endpoint" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "panel_hook_once" UNIQUE ("endpoint_id", "event_id"))
-- next statement
CREATE TABLE "crowd_panelmessage" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "external_id" varchar(64) NOT NULL, "participant" varchar(64) NOT NULL, "category" varchar(40) NOT NULL, "body" text NOT NULL, "sent_at" datetime NOT NULL, "received_at" datetime NOT NULL, "read_at" datetime NULL, "endpoint_id" bigint NOT NULL REFERENCES "crowd_endpoint" ("id") DEFERRABLE INITIALLY DEFERRED, "study_id" bigint NULL REFERENCES "crowd_panelstudy" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "panel_message_once" UNIQUE ("endpoint_id", "external_id"))
-- next statement
CREATE TABLE "crowd_panelstudy" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "key" char(32) NOT NULL UNIQUE, "external_id" varchar(64) NOT NULL, "state" varchar(7) NOT NULL, "places" integer unsigned NOT NULL CHECK ("places" >= 0), "codes" text NOT NULL CHECK ((JSON_VALID("codes") OR "codes" IS NULL)), "created_at" datetime NOT NULL, "synced_at" datetime NULL, "hinted_at" datetime NULL, "endpoint_id" bigint NOT NULL REFERENCES "crowd_endpoint" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, "messages_read_at" datetime NULL, "pays_in_part" bool DEFAULT 0 NOT NULL, "screen_out_cents" integer unsigned DEFAULT 0 NOT NULL CHECK ("screen_out_cents" >= 0), "screen_out_fee_cents" integer unsigned DEFAULT 0 NOT NULL CHECK ("screen_out_fee_cents" >= 0), "screen_out_left" integer unsigned DEFAULT 0 NOT NULL CHECK ("screen_out_left" >= 0), "screen_out_slots" integer unsigned DEFAULT 0 NOT NULL CHECK ("screen_out_slots" >= 0), CONSTRAINT "panel_study_of_source" UNIQUE ("stage_id", "endpoint_id"))
-- next statement
CREATE TABLE "crowd_panelsubmission" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "external_id" varchar(64) NOT NULL, "participant" varchar(64) NOT NULL, "status" varchar(30) NOT NULL, "entered_code" varchar(80) NOT NULL, "started_at" datetime NULL, "completed_at" datetime NULL, "return_requested" bool NOT NULL, "seen_at" datetime NOT NULL, "study_id" bigint NOT NULL REFERENCES "crowd_panelstudy" ("id") DEFERRABLE INITIALLY DEFERRED, "consent_text_id" bigint NULL REFERENCES "people_consenttext" ("id") DEFERRABLE INITIALLY DEFERRED, "consented_at" datetime NULL, "reward_cents" integer unsigned NULL CHECK ("reward_cents" >= 0), "screen_out_booked_at" datetime NULL, CONSTRAINT "panel_submission_once" UNIQUE ("study_id", "external_id"))
-- next statement
CREATE TABLE "crowd_personmatch" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "kinds" text NOT NULL CHECK ((JSON_VALID("kinds") OR "kinds" IS NULL)), "verdict" varchar(9) NOT NULL, "found_at" datetime NOT NULL, "decided_at" datetime NULL, "decided_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "first_id" bigint NOT NULL REFERENCES "crowd_worker" ("id") DEFERRABLE INITIALLY DEFERRED, "project_id" bigint NOT NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED, "second_id" bigint NOT NULL REFERENCES "crowd_worker" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "matched_once_in_project" UNIQUE ("project_id", "first_id", "second_id"), CONSTRAINT "match_in_order" CHECK ("first_id" < ("second_id")))
-- next statement
CREATE TABLE "crowd_picture" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(80) NOT NULL, "media_type" varchar(20) NOT NULL, "content" BLOB NOT NULL, "sha256" varchar(64) NOT NULL, "added_at" datetime NOT NULL, "added_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "project_id" bigint NOT NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "picture_name_of_project" UNIQUE ("project_id", "name"))
-- next statement
CREATE TABLE "crowd_recount" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "why" varchar(200) NOT NULL, "assignment_id" bigint NOT NULL REFERENCES "crowd_assignment" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "crowd_stage" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "slug" varchar(80) NOT NULL, "title" varchar(200) NOT NULL, "kind" varchar(40) NOT NULL, "config" text NOT NULL CHECK ((JSON_VALID("config") OR "config" IS NULL)), "status" varchar(6) NOT NULL, "seed" bigint NOT NULL, "task_title" varchar(128) NOT NULL, "task_description" varchar(2000) NOT NULL, "task_keywords" varchar(1000) NOT NULL, "reward_cents" integer unsigned NOT NULL CHECK ("reward_cents" >= 0), "redundancy" integer unsigned NOT NULL CHECK ("redundancy" >= 0), "units_per_hit" integer unsigned NOT NULL CHECK ("units_per_hit" >= 0), "checks_per_hit" integer unsigned NOT NULL CHECK ("checks_per_hit" >= 0), "max_hits_per_worker" integer unsigned NULL CHECK ("max_hits_per_worker" >= 0), "work_seconds" integer unsigned NOT NULL CHECK ("work_seconds" >= 0), "open_seconds" integer unsigned NOT NULL CHECK ("open_seconds" >= 0), "auto_approve_seconds" integer unsigned NOT NULL CHECK ("auto_approve_seconds" >= 0), "eligibility" text NOT NULL CHECK ((JSON_VALID("eligibility") OR "eligibility" IS NULL)), "approve_at_once" bool NOT NULL, "hold_failed_checks" bool NOT NULL, "budget_cents" bigint NOT NULL, "reserved_cents" bigint NOT NULL, "spent_cents" bigint NOT NULL, "armed_cents" bigint NOT NULL, "created_at" datetime NOT NULL, "opened_at" datetime NULL, "planner" char(32) NULL, "planner_until" datetime NULL, "endpoint_id" bigint NOT NULL REFERENCES "crowd_endpoint" ("id") DEFERRABLE INITIALLY DEFERRED, "project_id" bigint NOT NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED, "settled_until" datetime NULL, "apart_from" text NOT NULL CHECK ((JSON_VALID("apart_from") OR "apart_from" IS NULL)), "expected_seconds" integer unsigned NULL CHECK ("expected_seconds" >= 0), "opened_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "instructions_version" integer unsigned DEFAULT 1 NOT NULL CHECK ("instructions_version" >= 0), CONSTRAINT "stage_slug_in_project" UNIQUE ("project_id", "slug"), CONSTRAINT "stage_budget_never_passed" CHECK (("budget_cents" >= ("reserved_cents" + "spent_cents") AND "reserved_cents" >= 0 AND "spent_cents" >= 0)), CONSTRAINT "stage_asks_for_somebody" CHECK (("redundancy" >= 1 AND "units_per_hit" >= 1)))
-- next statement
CREATE TABLE "crowd_stagesource" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "position" integer unsigned NOT NULL CHECK ("position" >= 0), "status" varchar(6) NOT NULL, "share" integer unsigned NULL CHECK ("share" >= 0), "most_answers" integer unsigned NULL CHECK ("most_answers" >= 0), "reward_cents" integer unsigned NULL CHECK ("reward_cents" >= 0), "move_after_seconds" integer unsigned NULL CHECK ("move_after_seconds" >= 0), "created_at" datetime NOT NULL, "endpoint_id" bigint NOT NULL REFERENCES "crowd_endpoint" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "source_once_per_stage" UNIQUE ("stage_id", "endpoint_id"), CONSTRAINT "source_position_in_stage" UNIQUE ("stage_id", "position"), CONSTRAINT "source_share_or_count" CHECK ((("most_answers" IS NULL AND "share" >= 1) OR ("most_answers" >= 0 AND "share" IS NULL))))
-- next statement
CREATE TABLE "crowd_worker" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "external_id" varchar(64) NOT NULL, "simulated" bool NOT NULL, "first_seen_at" datetime NOT NULL, "endpoint_id" bigint NOT NULL REFERENCES "crowd_endpoint" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "worker_known_once" UNIQUE ("endpoint_id", "external_id"))
-- next statement
CREATE TABLE "crowd_workermark" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "kind" varchar(5) NOT NULL, "digest" varchar(64) NOT NULL, "worker_id" bigint NOT NULL REFERENCES "crowd_worker" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "worker_marked_once" UNIQUE ("worker_id", "kind", "digest"))
-- next statement
CREATE TABLE "django_admin_log" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "object_id" text NULL, "object_repr" varchar(200) NOT NULL, "action_flag" smallint unsigned NOT NULL CHECK ("action_flag" >= 0), "change_message" text NOT NULL, "content_type_id" integer NULL REFERENCES "django_content_type" ("id") DEFERRABLE INITIALLY DEFERRED, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "action_time" datetime NOT NULL)
-- next statement
CREATE TABLE "django_content_type" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "app_label" varchar(100) NOT NULL, "model" varchar(100) NOT NULL)
-- next statement
CREATE TABLE "django_migrations" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "app" varchar(255) NOT NULL, "name" varchar(255) NOT NULL, "applied" datetime NOT NULL)
-- next statement
CREATE TABLE "django_session" ("session_key" varchar(40) NOT NULL PRIMARY KEY, "session_data" text NOT NULL, "expire_date" datetime NOT NULL)
-- next statement
CREATE TABLE "evaluations_call" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "digest" varchar(64) NOT NULL, "function" BLOB NOT NULL, "evaluation_id" bigint NOT NULL REFERENCES "evaluations_evaluation" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "call_once_in_evaluation" UNIQUE ("evaluation_id", "digest"))
-- next statement
CREATE TABLE "evaluations_evaluation" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "number" integer unsigned NOT NULL CHECK ("number" >= 0), "title" varchar(120) NOT NULL, "plan" text NOT NULL CHECK ((JSON_VALID("plan") OR "plan" IS NULL)), "state" varchar(9) NOT NULL, "why" text NOT NULL, "report" text NOT NULL CHECK ((JSON_VALID("report") OR "report" IS NULL)), "files" text NOT NULL CHECK ((JSON_VALID("files") OR "files" IS NULL)), "best" varchar(100) NOT NULL, "best_value" real NULL, "leaderboard" bool NOT NULL, "job" bigint NULL, "created_at" datetime NOT NULL, "started_at" datetime NULL, "finished_at" datetime NULL, "created_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "release_id" bigint NOT NULL REFERENCES "releases_release" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "evaluation_number_in_release" UNIQUE ("release_id", "number"), CONSTRAINT "a_leaderboard_is_ready" CHECK ((NOT "leaderboard" OR "state" = 'ready')), CONSTRAINT "a_failed_evaluation_says_why" CHECK ((NOT ("state" = 'failed') OR NOT ("why" = ''))), CONSTRAINT "an_evaluation_over_has_an_end" CHECK ((("finished_at" IS NULL AND "state" IN ('planned', 'running')) OR ("finished_at" IS NOT NULL AND "state" IN ('ready', 'failed', 'cancelled')))))
-- next statement
CREATE TABLE "evaluations_externalscores" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(60) NOT NULL, "direction" varchar(6) NOT NULL, "says" varchar(300) NOT NULL, "body" BLOB NOT NULL, "count" integer unsigned NOT NULL CHECK ("count" >= 0), "missing" integer unsigned NOT NULL CHECK ("missing" >= 0), "low" real NOT NULL, "high" real NOT NULL, "file_name" varchar(200) NOT NULL, "digest" varchar(64) NOT NULL, "kept" bool NOT NULL, "created_at" datetime NOT NULL, "created_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "release_id" bigint NOT NULL REFERENCES "releases_release" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "evaluations_part" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "digest" varchar(64) NOT NULL, "given" BLOB NOT NULL, "result" BLOB NULL, "why" text NOT NULL, "owner" char(32) NULL, "call_id" bigint NOT NULL REFERENCES "evaluations_call" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "part_once_in_call" UNIQUE ("call_id", "digest"))
-- next statement
CREATE TABLE "jobs_hostsign" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "host" varchar(64) NOT NULL, "part" varchar(16) NOT NULL, "host_name" varchar(200) NOT NULL, "facts" text NOT NULL CHECK ((JSON_VALID("facts") OR "facts" IS NULL)), "seen_at" datetime DEFAULT (STRFTIME('%Y-%m-%d %H:%M:%f', 'NOW')) NOT NULL, CONSTRAINT "one_sign_of_each_part" UNIQUE ("host", "part"))
-- next statement
CREATE TABLE "jobs_job" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "kind" varchar(100) NOT NULL, "effect" varchar(200) NULL UNIQUE, "payload" text NOT NULL CHECK ((JSON_VALID("payload") OR "payload" IS NULL)), "state" varchar(10) NOT NULL, "attempts" integer unsigned NOT NULL CHECK ("attempts" >= 0), "max_attempts" integer unsigned NOT NULL CHECK ("max_attempts" >= 0), "run_after" datetime DEFAULT (STRFTIME('%Y-%m-%d %H:%M:%f', 'NOW')) NOT NULL, "announcements" integer unsigned NOT NULL CHECK ("announcements" >= 0), "announce_after" datetime DEFAULT (STRFTIME('%Y-%m-%d %H:%M:%f', 'NOW')) NOT NULL, "lease_owner" char(32) NULL, "lease_until" datetime NULL, "heartbeat_at" datetime NULL, "progress_done" integer unsigned NOT NULL CHECK ("progress_done" >= 0), "progress_total" integer unsigned NOT NULL CHECK ("progress_total" >= 0), "progress_note" varchar(200) NOT NULL, "result" text NULL CHECK ((JSON_VALID("result") OR "result" IS NULL)), "error" text NOT NULL, "created_at" datetime DEFAULT (STRFTIME('%Y-%m-%d %H:%M:%f', 'NOW')) NOT NULL, "started_at" datetime NULL, "finished_at" datetime NULL, "request_id" varchar(64) DEFAULT '' NOT NULL, "reported_at" datetime NULL, CONSTRAINT "jobs_state_known" CHECK ("state" IN ('queued', 'running', 'done', 'failed', 'cancelled')), CONSTRAINT "jobs_lease_while_running" CHECK ((("lease_owner" IS NOT NULL AND "lease_until" IS NOT NULL AND "state" = 'running') OR (NOT ("state" = 'running') AND "lease_owner" IS NULL AND "lease_until" IS NULL))), CONSTRAINT "jobs_finished_when_closed" CHECK ((("finished_at" IS NULL AND "state" IN ('queued', 'running')) OR (NOT ("state" IN ('queued', 'running')) AND "finished_at" IS NOT NULL))), CONSTRAINT "jobs_attempts_bounded" CHECK (("attempts" <= ("max_attempts") AND "max_attempts" >= 1)), CONSTRAINT "jobs_effect_not_empty" CHECK (("effect" IS NULL OR NOT ("effect" = '' AND "effect" IS NOT NULL))))
-- next statement
CREATE TABLE "jobs_workerheartbeat" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(200) NOT NULL UNIQUE, "started_at" datetime DEFAULT (STRFTIME('%Y-%m-%d %H:%M:%f', 'NOW')) NOT NULL, "seen_at" datetime DEFAULT (STRFTIME('%Y-%m-%d %H:%M:%f', 'NOW')) NOT NULL, "polled_at" datetime NULL)
-- next statement
CREATE TABLE "jobs_writeprobe" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "written_at" datetime DEFAULT (STRFTIME('%Y-%m-%d %H:%M:%f', 'NOW')) NOT NULL)
-- next statement
CREATE TABLE "judgments_agreementreport" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "stamp" varchar(120) NOT NULL, "last_judgment" bigint NOT NULL, "judgments" integer unsigned NOT NULL CHECK ("judgments" >= 0), "report" text NOT NULL CHECK ((JSON_VALID("report") OR "report" IS NULL)), "rows" text NOT NULL CHECK ((JSON_VALID("rows") OR "rows" IS NULL)), "seconds" real NOT NULL, "created_at" datetime NOT NULL, "run_id" bigint NULL REFERENCES "judgments_filterrun" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_report_per_stamp" UNIQUE ("stage_id", "stamp"))
-- next statement
CREATE TABLE "judgments_attentioncheck" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "key" varchar(100) NOT NULL, "source" varchar(11) NOT NULL, "text" text NOT NULL, "accepted" text NOT NULL CHECK ((JSON_VALID("accepted") OR "accepted" IS NULL)), "reason" varchar(300) NOT NULL, "query_id" bigint NOT NULL REFERENCES "annotation_query" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "check_once_per_stage" UNIQUE ("stage_id", "key"))
-- next statement
CREATE TABLE "judgments_candidate" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "text" text NOT NULL, "opinion" varchar(7) NOT NULL, "entities" text NOT NULL CHECK ((JSON_VALID("entities") OR "entities" IS NULL)), "aside" varchar(9) NOT NULL, "line" bigint NULL, "created_at" datetime NOT NULL, "answer_id" bigint NULL UNIQUE REFERENCES "annotation_answer" ("id") DEFERRABLE INITIALLY DEFERRED, "query_id" bigint NOT NULL REFERENCES "annotation_query" ("id") DEFERRABLE INITIALLY DEFERRED, "source_id" bigint NULL REFERENCES "judgments_candidatesource" ("id") DEFERRABLE INITIALLY DEFERRED, "system_id" bigint NOT NULL REFERENCES "judgments_system" ("id") DEFERRABLE INITIALLY DEFERRED, "aside_reason" varchar(300) NOT NULL, "kept" bool NOT NULL)
-- next statement
CREATE TABLE "judgments_candidatesource" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(300) NOT NULL, "format" varchar(20) NOT NULL, "sha256" varchar(64) NOT NULL, "options" text NOT NULL CHECK ((JSON_VALID("options") OR "options" IS NULL)), "report" text NOT NULL CHECK ((JSON_VALID("report") OR "report" IS NULL)), "created_at" datetime NOT NULL, "created_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "project_id" bigint NOT NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "judgments_checkanswer" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "score" smallint NOT NULL, "passed" bool NOT NULL, "at" datetime NOT NULL, "assignment_id" bigint NOT NULL REFERENCES "crowd_assignment" ("id") DEFERRABLE INITIALLY DEFERRED, "check_item_id" bigint NOT NULL REFERENCES "judgments_attentioncheck" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "crowd_worker" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "check_once_per_assignment" UNIQUE ("assignment_id", "check_item_id"))
-- next statement
CREATE TABLE "judgments_filterrun" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "recipe" varchar(40) NOT NULL, "parameters" text NOT NULL CHECK ((JSON_VALID("parameters") OR "parameters" IS NULL)), "seed" bigint NOT NULL, "state" varchar(10) NOT NULL, "last_judgment" bigint NOT NULL, "summary" text NOT NULL CHECK ((JSON_VALID("summary") OR "summary" IS NULL)), "created_at" datetime NOT NULL, "ended_at" datetime NULL, "reason" varchar(300) NOT NULL, "created_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "ended_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "judgments_importedscore" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "mean" real NOT NULL, "n" integer unsigned NULL CHECK ("n" >= 0), "ratings" text NOT NULL CHECK ((JSON_VALID("ratings") OR "ratings" IS NULL)), "scale_low" real NOT NULL, "scale_high" real NOT NULL, "candidate_id" bigint NOT NULL UNIQUE REFERENCES "judgments_candidate" ("id") DEFERRABLE INITIALLY DEFERRED, "simulated" bool DEFAULT 0 NOT NULL)
-- next statement
CREATE TABLE "judgments_judgment" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "score" smallint NOT NULL, "aspects" text NOT NULL CHECK ((JSON_VALID("aspects") OR "aspects" IS NULL)), "comment" text NOT NULL, "at" datetime NOT NULL, "assignment_id" bigint NOT NULL REFERENCES "crowd_assignment" ("id") DEFERRABLE INITIALLY DEFERRED, "candidate_id" bigint NOT NULL REFERENCES "judgments_candidate" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "crowd_worker" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_judgment_per_candidate_and_assignment" UNIQUE ("assignment_id", "candidate_id"))
-- next statement
CREATE TABLE "judgments_questionnaireunit" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "key" varchar(300) NOT NULL, "content" text NOT NULL CHECK ((JSON_VALID("content") OR "content" IS NULL)), "gold" text NOT NULL CHECK ((JSON_VALID("gold") OR "gold" IS NULL)), "candidate_id" bigint NULL REFERENCES "judgments_candidate" ("id") DEFERRABLE INITIALLY DEFERRED, "other_id" bigint NULL REFERENCES "judgments_candidate" ("id") DEFERRABLE INITIALLY DEFERRED, "query_id" bigint NULL REFERENCES "annotation_query" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_unit_per_key" UNIQUE ("stage_id", "key"))
-- next statement
CREATE TABLE "judgments_reportpart" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(40) NOT NULL, "number" integer unsigned NOT NULL CHECK ("number" >= 0), "rows" text NOT NULL CHECK ((JSON_VALID("rows") OR "rows" IS NULL)), "report_id" bigint NOT NULL REFERENCES "judgments_agreementreport" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_report_part_per_number" UNIQUE ("report_id", "name", "number"))
-- next statement
CREATE TABLE "judgments_score" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "n_raw" integer unsigned NOT NULL CHECK ("n_raw" >= 0), "n_kept" integer unsigned NOT NULL CHECK ("n_kept" >= 0), "mean" real NULL, "sd" real NULL, "median" real NULL, "trimmed" real NULL, "adjusted" real NULL, "candidate_id" bigint NOT NULL REFERENCES "judgments_candidate" ("id") DEFERRABLE INITIALLY DEFERRED, "run_id" bigint NOT NULL REFERENCES "judgments_filterrun" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_score_per_run" UNIQUE ("run_id", "candidate_id"))
-- next statement
CREATE TABLE "judgments_shownreferences" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "texts" text NOT NULL CHECK ((JSON_VALID("texts") OR "texts" IS NULL)), "query_id" bigint NOT NULL REFERENCES "annotation_query" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "references_shown_once_per_stage" UNIQUE ("stage_id", "query_id"))
-- next statement
CREATE TABLE "judgments_system" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(100) NOT NULL, "kind" varchar(7) NOT NULL, "created_at" datetime NOT NULL, "project_id" bigint NOT NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "system_named_once" UNIQUE ("project_id", "name"))
-- next statement
CREATE TABLE "judgments_unitmaterial" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "key" varchar(300) NOT NULL, "content" text NOT NULL CHECK ((JSON_VALID("content") OR "content" IS NULL)), "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_material_per_key" UNIQUE ("stage_id", "key"))
-- next statement
CREATE TABLE "judgments_unitresponse" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "values" text NOT NULL CHECK ((JSON_VALID("values") OR "values" IS NULL)), "flipped" bool NOT NULL, "at" datetime NOT NULL, "assignment_id" bigint NOT NULL REFERENCES "crowd_assignment" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, "unit_id" bigint NOT NULL REFERENCES "judgments_questionnaireunit" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "crowd_worker" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_response_per_unit_and_assignment" UNIQUE ("assignment_id", "unit_id"))
-- next statement
CREATE TABLE "judgments_verdict" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "rule" varchar(40) NOT NULL, "removes" bool NOT NULL, "value" real NULL, "rank" integer unsigned NULL CHECK ("rank" >= 0), "reason" varchar(300) NOT NULL, "judgment_id" bigint NULL REFERENCES "judgments_judgment" ("id") DEFERRABLE INITIALLY DEFERRED, "run_id" bigint NOT NULL REFERENCES "judgments_filterrun" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "crowd_worker" ("id") DEFERRABLE INITIALLY DEFERRED, "response_id" bigint NULL REFERENCES "judgments_unitresponse" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_accesskey" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "access_key" varchar(64) NOT NULL UNIQUE, "secret_sealed" text NOT NULL, "label" varchar(80) NOT NULL, "created_at" datetime NOT NULL, "ends_at" datetime NULL, "last_used_at" datetime NULL, "made_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "addresses" text NOT NULL CHECK ((JSON_VALID("addresses") OR "addresses" IS NULL)), "read_only" bool NOT NULL)
-- next statement
CREATE TABLE "marketplace_activity" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "at" datetime NOT NULL, "action" varchar(40) NOT NULL, "subject" varchar(120) NOT NULL, "details" varchar(300) NOT NULL, "actor" varchar(150) NOT NULL, "access_key" varchar(64) NOT NULL, "address" varchar(45) NOT NULL, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "user_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "request_id" varchar(64) DEFAULT '' NOT NULL, "via" varchar(8) DEFAULT '' NOT NULL)
-- next statement
CREATE TABLE "marketplace_batch" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "number" integer unsigned NOT NULL CHECK ("number" >= 0), "name" varchar(120) NOT NULL, "html" text NOT NULL, "frame_height" integer unsigned NOT NULL CHECK ("frame_height" >= 0), "hosts" text NOT NULL CHECK ((JSON_VALID("hosts") OR "hosts" IS NULL)), "hosts_of_cells" text NOT NULL CHECK ((JSON_VALID("hosts_of_cells") OR "hosts_of_cells" IS NULL)), "columns" text NOT NULL CHECK ((JSON_VALID("columns") OR "columns" IS NULL)), "properties" text NOT NULL CHECK ((JSON_VALID("properties") OR "properties" IS NULL)), "file_name" varchar(200) NOT NULL, "file_read" varchar(200) NOT NULL, "task_count" integer unsigned NOT NULL CHECK ("task_count" >= 0), "published_count" integer unsigned NOT NULL CHECK ("published_count" >= 0), "state" varchar(10) NOT NULL, "error" text NOT NULL, "created_at" datetime NOT NULL, "published_at" datetime NULL, "created_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "template_id" bigint NULL REFERENCES "marketplace_template" ("id") DEFERRABLE INITIALLY DEFERRED, "end_at" datetime NULL, "end_mail_to_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "end_mailed_at" datetime NULL, "publish_at" datetime NULL, "repeats" text NULL CHECK ((JSON_VALID("repeats") OR "repeats" IS NULL)), "schedule_note" varchar(500) DEFAULT '' NOT NULL, "extends_id" bigint NULL REFERENCES "marketplace_batch" ("id") DEFERRABLE INITIALLY DEFERRED, "scheduled_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "hours" text NULL CHECK ((JSON_VALID("hours") OR "hours" IS NULL)), CONSTRAINT "batch_number" UNIQUE ("requester_id", "number"))
-- next statement
CREATE TABLE "marketplace_batchextension" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "once" char(32) NOT NULL UNIQUE, "ordinals" text NULL CHECK ((JSON_VALID("ordinals") OR "ordinals" IS NULL)), "places" integer unsigned NOT NULL CHECK ("places" >= 0), "seconds" integer unsigned NOT NULL CHECK ("seconds" >= 0), "cents" bigint unsigned NOT NULL CHECK ("cents" >= 0), "state" varchar(7) NOT NULL, "after" integer unsigned NOT NULL CHECK ("after" >= 0), "changed" integer unsigned NOT NULL CHECK ("changed" >= 0), "passed_over" text NOT NULL CHECK ((JSON_VALID("passed_over") OR "passed_over" IS NULL)), "passed_over_count" integer unsigned NOT NULL CHECK ("passed_over_count" >= 0), "held_cents" bigint unsigned NOT NULL CHECK ("held_cents" >= 0), "error" text NOT NULL, "at" datetime NOT NULL, "done_at" datetime NULL, "batch_id" bigint NOT NULL REFERENCES "marketplace_batch" ("id") DEFERRABLE INITIALLY DEFERRED, "by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_batchtask" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "ordinal" integer unsigned NOT NULL CHECK ("ordinal" >= 0), "values" text NOT NULL CHECK ((JSON_VALID("values") OR "values" IS NULL)), "batch_id" bigint NOT NULL REFERENCES "marketplace_batch" ("id") DEFERRABLE INITIALLY DEFERRED, "hit_id" bigint NULL UNIQUE REFERENCES "marketplace_hit" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "batch_task_ordinal" UNIQUE ("batch_id", "ordinal"))
-- next statement
CREATE TABLE "marketplace_block" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "reason" text NOT NULL, "created_at" datetime NOT NULL, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_block_per_worker" UNIQUE ("requester_id", "worker_id"))
-- next statement
CREATE TABLE "marketplace_bonus" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "assignment_id" varchar(64) NOT NULL, "cents" integer unsigned NOT NULL CHECK ("cents" >= 0), "fee_cents" integer unsigned NOT NULL CHECK ("fee_cents" >= 0), "reason" text NOT NULL, "granted_at" datetime NOT NULL, "hit_id" bigint NOT NULL REFERENCES "marketplace_hit" ("id") DEFERRABLE INITIALLY DEFERRED, "holding_id" bigint NOT NULL REFERENCES "marketplace_holding" ("id") DEFERRABLE INITIALLY DEFERRED, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_calllog" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "at" datetime NOT NULL, "request_id" char(32) NOT NULL, "operation" varchar(60) NOT NULL, "parameters" text NOT NULL CHECK ((JSON_VALID("parameters") OR "parameters" IS NULL)), "executed" bool NOT NULL, "result" varchar(120) NOT NULL, "milliseconds" real NOT NULL, "requester_id" bigint NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "access_key" varchar(64) NOT NULL, "address" varchar(45) NOT NULL)
-- next statement
CREATE TABLE "marketplace_chaos" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "lose_response_after_commit" integer unsigned NOT NULL CHECK ("lose_response_after_commit" >= 0), "throttle_next" integer unsigned NOT NULL CHECK ("throttle_next" >= 0), "throttle_rate" real NOT NULL, "error_rate" real NOT NULL, "visibility_delay_s" real NOT NULL, "duplicate_events" bool NOT NULL, "requester_id" bigint NULL UNIQUE REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_contact" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "email" varchar(254) NOT NULL, "confirmed_at" datetime NULL, "waiting_email" varchar(254) NOT NULL, "waiting_since" datetime NULL, "reset_mailed_at" datetime NULL, "digest" varchar(6) NOT NULL, "digest_due_at" datetime NULL, "digest_since" datetime NULL, "worker_id" bigint NOT NULL UNIQUE REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_countrychange" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "before" varchar(5) NOT NULL, "after" varchar(5) NOT NULL, "reason" varchar(300) NOT NULL, "at" datetime NOT NULL, "worker_id" bigint NOT NULL REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_deposit" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "cents" bigint unsigned NOT NULL CHECK ("cents" >= 0), "reference" varchar(120) NOT NULL, "note" varchar(500) NOT NULL, "at" datetime NOT NULL, "once" char(32) NOT NULL UNIQUE, "by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "entry_id" bigint NOT NULL UNIQUE REFERENCES "marketplace_ledgerentry" ("id") DEFERRABLE INITIALLY DEFERRED, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_formeridclaim" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "former_id" varchar(64) NOT NULL, "accepted" bool NOT NULL, "at" datetime NOT NULL, "worker_id" bigint NOT NULL UNIQUE REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED, "settled_at" datetime NULL)
-- next statement
CREATE TABLE "marketplace_formeridrecord" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "former_id" varchar(64) NOT NULL, "kind" varchar(6) NOT NULL, "value" integer NOT NULL, "cents" integer unsigned NOT NULL CHECK ("cents" >= 0), "reason" text NOT NULL, "created_at" datetime NOT NULL, "applied_at" datetime NULL, "why" varchar(300) NOT NULL, "qualification_type_id" bigint NULL REFERENCES "marketplace_qualificationtype" ("id") DEFERRABLE INITIALLY DEFERRED, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NULL REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_hit" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "hit_id" varchar(64) NOT NULL UNIQUE, "question" text NOT NULL, "annotation" varchar(255) NOT NULL, "created_at" datetime NOT NULL, "expires_at" datetime NOT NULL, "max_assignments" integer unsigned NOT NULL CHECK ("max_assignments" >= 0), "max_at_creation" integer unsigned NOT NULL CHECK ("max_at_creation" >= 0), "reward_cents" integer unsigned NOT NULL CHECK ("reward_cents" >= 0), "fee_cents" integer unsigned NOT NULL CHECK ("fee_cents" >= 0), "fee_profile" varchar(40) NOT NULL, "reviewing" bool NOT NULL, "disposed_at" datetime NULL, "open_places" integer unsigned NOT NULL CHECK ("open_places" >= 0), "pending" integer unsigned NOT NULL CHECK ("pending" >= 0), "submitted" integer unsigned NOT NULL CHECK ("submitted" >= 0), "approved" integer unsigned NOT NULL CHECK ("approved" >= 0), "rejected" integer unsigned NOT NULL CHECK ("rejected" >= 0), "places_made" integer unsigned NOT NULL CHECK ("places_made" >= 0), "held_places" integer unsigned NOT NULL CHECK ("held_places" >= 0), "hit_type_id" bigint NOT NULL REFERENCES "marketplace_hittype" ("id") DEFERRABLE INITIALLY DEFERRED, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "assignment_review_policy" text NULL CHECK ((JSON_VALID("assignment_review_policy") OR "assignment_review_policy" IS NULL)), "expiry_watched" bool NOT NULL, "hit_review_policy" text NULL CHECK ((JSON_VALID("hit_review_policy") OR "hit_review_policy" IS NULL)), "batch_id" bigint NULL REFERENCES "marketplace_batch" ("id") DEFERRABLE INITIALLY DEFERRED, "layout_id" varchar(64) DEFAULT '' NOT NULL, CONSTRAINT "hit_places_add_up" CHECK ("max_assignments" = (((("open_places" + "pending") + "submitted") + "approved") + "rejected")))
-- next statement
CREATE TABLE "marketplace_hittype" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "type_id" varchar(64) NOT NULL UNIQUE, "group_id" varchar(64) NOT NULL UNIQUE, "title" varchar(128) NOT NULL, "description" varchar(2000) NOT NULL, "keywords" varchar(1000) NOT NULL, "reward_cents" integer unsigned NOT NULL CHECK ("reward_cents" >= 0), "duration_s" integer unsigned NOT NULL CHECK ("duration_s" >= 0), "auto_approval_s" integer unsigned NOT NULL CHECK ("auto_approval_s" >= 0), "requirements" text NOT NULL CHECK ((JSON_VALID("requirements") OR "requirements" IS NULL)), "value_digest" varchar(64) NOT NULL, "created_at" datetime NOT NULL, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "notification" text NULL CHECK ((JSON_VALID("notification") OR "notification" IS NULL)), CONSTRAINT "hit_type_by_value" UNIQUE ("requester_id", "value_digest"))
-- next statement
CREATE TABLE "marketplace_holding" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "assignment_id" varchar(64) NOT NULL, "state" varchar(9) NOT NULL, "accepted_at" datetime NOT NULL, "deadline" datetime NOT NULL, "ended_at" datetime NULL, "submitted_at" datetime NULL, "visible_at" datetime NULL, "auto_approve_at" datetime NULL, "approved_at" datetime NULL, "rejected_at" datetime NULL, "auto_approved" bool NOT NULL, "feedback" varchar(1024) NOT NULL, "answer" text NOT NULL, "hit_id" bigint NOT NULL REFERENCES "marketplace_hit" ("id") DEFERRABLE INITIALLY DEFERRED, "place_id" bigint NOT NULL REFERENCES "marketplace_place" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED, "paid_cents" integer unsigned NULL CHECK ("paid_cents" >= 0), "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "unpaid" bool DEFAULT 0 NOT NULL, "visit_id" bigint NULL REFERENCES "people_visit" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_invitation" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "token_digest" varchar(64) NOT NULL UNIQUE, "label" varchar(120) NOT NULL, "max_uses" integer unsigned NOT NULL CHECK ("max_uses" >= 0), "uses" integer unsigned NOT NULL CHECK ("uses" >= 0), "expires_at" datetime NULL, "created_at" datetime NOT NULL, CONSTRAINT "invitation_uses_bounded" CHECK ("uses" <= ("max_uses")))
-- next statement
CREATE TABLE "marketplace_invoice" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "number" integer unsigned NOT NULL UNIQUE CHECK ("number" >= 0), "begins_at" datetime NOT NULL, "ends_at" datetime NOT NULL, "address" text NOT NULL, "lines" text NOT NULL CHECK ((JSON_VALID("lines") OR "lines" IS NULL)), "cents" bigint unsigned NOT NULL CHECK ("cents" >= 0), "real_money" bool NOT NULL, "issued_at" datetime NOT NULL, "issued_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "invoice_period" CHECK ("begins_at" < ("ends_at")))
-- next statement
CREATE TABLE "marketplace_keyalert" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "address" varchar(45) NOT NULL, "at" datetime NOT NULL, "seen_at" datetime NULL, "key_id" bigint NOT NULL REFERENCES "marketplace_accesskey" ("id") DEFERRABLE INITIALLY DEFERRED, "seen_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_ledgerentry" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "at" datetime NOT NULL, "kind" varchar(10) NOT NULL, "debit" varchar(9) NOT NULL, "credit" varchar(9) NOT NULL, "cents" bigint NOT NULL, "memo" varchar(200) NOT NULL, "hit_id" bigint NULL REFERENCES "marketplace_hit" ("id") DEFERRABLE INITIALLY DEFERRED, "holding_id" bigint NULL REFERENCES "marketplace_holding" ("id") DEFERRABLE INITIALLY DEFERRED, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NULL REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED, "payable_id" bigint NULL REFERENCES "marketplace_payable" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "ledger_moves_something" CHECK ("cents" > 0), CONSTRAINT "ledger_moves_somewhere" CHECK (NOT ("debit" = ("credit"))))
-- next statement
CREATE TABLE "marketplace_letter" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "assignment_id" varchar(64) NOT NULL, "subject" varchar(200) NOT NULL, "body" text NOT NULL, "sent_at" datetime NOT NULL, "read_at" datetime NULL, "answered_at" datetime NULL, "hit_type_id" bigint NULL REFERENCES "marketplace_hittype" ("id") DEFERRABLE INITIALLY DEFERRED, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_likeness" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "identical" bool NOT NULL, "at" datetime NOT NULL, "holding_id" bigint NOT NULL REFERENCES "marketplace_holding" ("id") DEFERRABLE INITIALLY DEFERRED, "other_id" bigint NOT NULL REFERENCES "marketplace_holding" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_likeness_of_pair" UNIQUE ("holding_id", "other_id"))
-- next statement
CREATE TABLE "marketplace_message" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "subject" varchar(200) NOT NULL, "body" text NOT NULL, "sent_at" datetime NOT NULL, "read_at" datetime NULL, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED, "answers_id" bigint NULL REFERENCES "marketplace_letter" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_pagestorage" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "values" text NOT NULL, "changed_at" datetime NOT NULL, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_storage_per_worker_and_requester" UNIQUE ("worker_id", "requester_id"))
-- next statement
CREATE TABLE "marketplace_payable" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "number" integer unsigned NOT NULL CHECK ("number" >= 0), "until" datetime NOT NULL, "workers" integer unsigned NOT NULL CHECK ("workers" >= 0), "cents" bigint unsigned NOT NULL CHECK ("cents" >= 0), "made_at" datetime NOT NULL, "paid_at" datetime NULL, "made_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "payable_number" UNIQUE ("requester_id", "number"))
-- next statement
CREATE TABLE "marketplace_payeedetails" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "method" varchar(10) NOT NULL, "details_sealed" text NOT NULL, "digest" varchar(64) NOT NULL, "set_at" datetime NULL, "confirmed_at" datetime NULL, "waiting_method" varchar(10) NOT NULL, "waiting_sealed" text NOT NULL, "waiting_digest" varchar(64) NOT NULL, "waiting_since" datetime NULL, "link_digest" varchar(64) NULL UNIQUE, "mailed_at" datetime NULL, "worker_id" bigint NOT NULL UNIQUE REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_payout" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "number" integer unsigned NOT NULL CHECK ("number" >= 0), "method" varchar(10) NOT NULL, "currency" varchar(3) NOT NULL, "cents" bigint unsigned NOT NULL CHECK ("cents" >= 0), "people" integer unsigned NOT NULL CHECK ("people" >= 0), "sender_sealed" text NOT NULL, "digest" varchar(64) NOT NULL, "made_at" datetime NOT NULL, "sent_at" datetime NULL, "withdrawn_at" datetime NULL, "made_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "report_id" bigint NOT NULL REFERENCES "marketplace_payable" ("id") DEFERRABLE INITIALLY DEFERRED, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "payout_number" UNIQUE ("requester_id", "number"))
-- next statement
CREATE TABLE "marketplace_payoutline" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "number" integer unsigned NOT NULL CHECK ("number" >= 0), "reference" varchar(35) NOT NULL UNIQUE, "cents" bigint unsigned NOT NULL CHECK ("cents" >= 0), "state" varchar(6) NOT NULL, "reason" varchar(300) NOT NULL, "details_sealed" text NOT NULL, "confirmed" bool NOT NULL, "at" datetime NOT NULL, "payout_id" bigint NOT NULL REFERENCES "marketplace_payout" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "payout_line_pays_something" CHECK ("cents" > 0), CONSTRAINT "one_line_per_person" UNIQUE ("payout_id", "worker_id"))
-- next statement
CREATE TABLE "marketplace_payoutpart" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "cents" bigint unsigned NOT NULL CHECK ("cents" >= 0), "in_force" bool NOT NULL, "line_id" bigint NOT NULL REFERENCES "marketplace_payoutline" ("id") DEFERRABLE INITIALLY DEFERRED, "report_id" bigint NOT NULL REFERENCES "marketplace_payable" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_place" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "ordinal" integer unsigned NOT NULL CHECK ("ordinal" >= 0), "assignment_id" varchar(64) NOT NULL UNIQUE, "free" bool NOT NULL, "hit_id" bigint NOT NULL REFERENCES "marketplace_hit" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "place_ordinal_in_hit" UNIQUE ("hit_id", "ordinal"))
-- next statement
CREATE TABLE "marketplace_policyaction" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "level" varchar(10) NOT NULL, "action_id" char(32) NOT NULL UNIQUE, "name" varchar(20) NOT NULL, "target_id" varchar(64) NOT NULL, "target_type" varchar(10) NOT NULL, "status" varchar(10) NOT NULL, "at" datetime NOT NULL, "result" text NOT NULL, "error_code" varchar(80) NOT NULL, "hit_id" bigint NOT NULL REFERENCES "marketplace_hit" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_policyresult" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "level" varchar(10) NOT NULL, "action_id" char(32) NOT NULL, "subject_id" varchar(64) NOT NULL, "subject_type" varchar(10) NOT NULL, "question_id" varchar(255) NOT NULL, "key" varchar(80) NOT NULL, "value" text NOT NULL, "at" datetime NOT NULL, "hit_id" bigint NOT NULL REFERENCES "marketplace_hit" ("id") DEFERRABLE INITIALLY DEFERRED, "holding_id" bigint NULL REFERENCES "marketplace_holding" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_qualificationgrant" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "value" integer NOT NULL, "status" varchar(7) NOT NULL, "granted_at" datetime NOT NULL, "reason" varchar(1024) NOT NULL, "qualification_type_id" bigint NOT NULL REFERENCES "marketplace_qualificationtype" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_grant_per_worker" UNIQUE ("qualification_type_id", "worker_id"))
-- next statement
CREATE TABLE "marketplace_qualificationrequest" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "request_id" varchar(64) NOT NULL UNIQUE, "state" varchar(8) NOT NULL, "test" text NOT NULL, "answer_key" text NOT NULL, "answer" text NOT NULL, "score" integer NULL, "started_at" datetime NOT NULL, "deadline" datetime NULL, "submitted_at" datetime NULL, "decided_at" datetime NULL, "reason" varchar(1024) NOT NULL, "qualification_type_id" bigint NOT NULL REFERENCES "marketplace_qualificationtype" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_qualificationtype" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "qualification_type_id" varchar(64) NOT NULL UNIQUE, "name" varchar(200) NOT NULL, "description" text NOT NULL, "keywords" varchar(1000) NOT NULL, "status" varchar(8) NOT NULL, "auto_granted" bool NOT NULL, "auto_granted_value" integer NOT NULL, "retry_delay_s" bigint unsigned NULL CHECK ("retry_delay_s" >= 0), "created_at" datetime NOT NULL, "deleted_at" datetime NULL, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "answer_key" text NOT NULL, "test" text NOT NULL, "test_duration_s" bigint unsigned NULL CHECK ("test_duration_s" >= 0), "disposing_at" datetime NULL)
-- next statement
CREATE TABLE "marketplace_queue" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "address" varchar(255) NOT NULL, "created_at" datetime NOT NULL, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "queue_by_address" UNIQUE ("requester_id", "address"))
-- next statement
CREATE TABLE "marketplace_queuedevent" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "queue" varchar(255) NOT NULL, "message_id" char(32) NOT NULL UNIQUE, "body" text NOT NULL, "sent_at" datetime NOT NULL, "visible_at" datetime NOT NULL, "received_count" integer unsigned NOT NULL CHECK ("received_count" >= 0), "first_received_at" datetime NULL, "receipt" char(32) NULL, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_rating" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "stars" smallint unsigned NOT NULL CHECK ("stars" >= 0), "words" varchar(500) NOT NULL, "at" datetime NOT NULL, "hit_type_id" bigint NOT NULL REFERENCES "marketplace_hittype" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_rating_per_group_and_worker" UNIQUE ("hit_type_id", "worker_id"), CONSTRAINT "rating_stars" CHECK (("stars" >= 1 AND "stars" <= 5)))
-- next statement
CREATE TABLE "marketplace_refusedcalls" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "day" date NOT NULL, "reason" varchar(60) NOT NULL, "count" bigint unsigned NOT NULL CHECK ("count" >= 0), CONSTRAINT "refused_calls_of_a_day" UNIQUE ("day", "reason"))
-- next statement
CREATE TABLE "marketplace_requester" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(120) NOT NULL UNIQUE, "customer_id" varchar(64) NOT NULL UNIQUE, "fee_profile" varchar(40) NOT NULL, "created_at" datetime NOT NULL, "deposited_cents" bigint NOT NULL, "available_cents" bigint NOT NULL, "held_cents" bigint NOT NULL, "paid_cents" bigint NOT NULL, "fees_cents" bigint NOT NULL, "owner_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "real_money" bool NOT NULL, "currency" varchar(3) DEFAULT '' NOT NULL, CONSTRAINT "requester_account_never_negative" CHECK (("available_cents" >= 0 AND "fees_cents" >= 0 AND "held_cents" >= 0 AND "paid_cents" >= 0)), CONSTRAINT "requester_account_balances" CHECK ("deposited_cents" = ((("available_cents" + "held_cents") + "paid_cents") + "fees_cents")))
-- next statement
CREATE TABLE "marketplace_requestermember" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "role" varchar(8) NOT NULL, "since" datetime NOT NULL, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_role_at_a_requester" UNIQUE ("requester_id", "user_id"), CONSTRAINT "requester_role_known" CHECK ("role" IN ('owner', 'manager', 'reviewer', 'payer', 'viewer')))
-- next statement
CREATE TABLE "marketplace_signedwrite" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "signature" varchar(64) NOT NULL UNIQUE, "at" datetime NOT NULL)
-- next statement
CREATE TABLE "marketplace_signingkey" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "purpose" varchar(20) NOT NULL UNIQUE, "private_key_sealed" text NOT NULL, "certificate" text NOT NULL, "fingerprint" varchar(64) NOT NULL UNIQUE, "created_at" datetime NOT NULL)
-- next statement
CREATE TABLE "marketplace_subscription" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "arn" varchar(400) NOT NULL UNIQUE, "protocol" varchar(5) NOT NULL, "endpoint" varchar(2048) NOT NULL, "raw" bool NOT NULL, "token_digest" varchar(64) NOT NULL, "created_at" datetime NOT NULL, "confirmed_at" datetime NULL, "signed_end" bool NOT NULL, "ended_at" datetime NULL, "topic_id" bigint NOT NULL REFERENCES "marketplace_topic" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_template" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(120) NOT NULL, "html" text NOT NULL, "frame_height" integer unsigned NOT NULL CHECK ("frame_height" >= 0), "hosts" text NOT NULL CHECK ((JSON_VALID("hosts") OR "hosts" IS NULL)), "properties" text NOT NULL CHECK ((JSON_VALID("properties") OR "properties" IS NULL)), "created_at" datetime NOT NULL, "updated_at" datetime NOT NULL, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "layout_id" varchar(64) NULL UNIQUE, CONSTRAINT "template_name" UNIQUE ("requester_id", "name"))
-- next statement
CREATE TABLE "marketplace_testclock" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "advanced_seconds" bigint NOT NULL)
-- next statement
CREATE TABLE "marketplace_tokenuse" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "operation" varchar(60) NOT NULL, "token" varchar(128) NOT NULL, "call_id" char(32) NOT NULL, "result" varchar(64) NOT NULL, "at" datetime NOT NULL, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "token_used_once" UNIQUE ("requester_id", "operation", "token"))
-- next statement
CREATE TABLE "marketplace_topic" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(256) NOT NULL, "arn" varchar(350) NOT NULL UNIQUE, "attributes" text NOT NULL CHECK ((JSON_VALID("attributes") OR "attributes" IS NULL)), "base_url" varchar(300) NOT NULL, "created_at" datetime NOT NULL, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_topicdelivery" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "message_id" char(32) NOT NULL, "document" text NOT NULL CHECK ((JSON_VALID("document") OR "document" IS NULL)), "state" varchar(9) NOT NULL, "attempts" integer unsigned NOT NULL CHECK ("attempts" >= 0), "due_at" datetime NULL, "status" integer unsigned NULL CHECK ("status" >= 0), "error" varchar(500) NOT NULL, "created_at" datetime NOT NULL, "ended_at" datetime NULL, "subscription_id" bigint NOT NULL REFERENCES "marketplace_subscription" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_uploadedfile" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "question" varchar(128) NOT NULL, "key" varchar(32) NOT NULL UNIQUE, "name" varchar(255) NOT NULL, "mime" varchar(100) NOT NULL, "size" bigint unsigned NOT NULL CHECK ("size" >= 0), "at" datetime NOT NULL, "holding_id" bigint NOT NULL REFERENCES "marketplace_holding" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_uploaded_file_per_question" UNIQUE ("holding_id", "question"))
-- next statement
CREATE TABLE "marketplace_worker" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "worker_id" varchar(64) NOT NULL UNIQUE, "name" varchar(120) NOT NULL UNIQUE, "token_digest" varchar(64) NULL UNIQUE, "simulated" bool NOT NULL, "country" varchar(2) NOT NULL, "subdivision" varchar(2) NOT NULL, "adult" bool NOT NULL, "accept_next" bool NOT NULL, "created_at" datetime NOT NULL, "submitted_count" integer unsigned NOT NULL CHECK ("submitted_count" >= 0), "approved_count" integer unsigned NOT NULL CHECK ("approved_count" >= 0), "rejected_count" integer unsigned NOT NULL CHECK ("rejected_count" >= 0), "returned_count" integer unsigned NOT NULL CHECK ("returned_count" >= 0), "abandoned_count" integer unsigned NOT NULL CHECK ("abandoned_count" >= 0), "user_id" integer NULL UNIQUE REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "closed_at" datetime NULL, "payment_note_sealed" text NOT NULL, "invitation_id" bigint NULL REFERENCES "marketplace_invitation" ("id") DEFERRABLE INITIALLY DEFERRED, "time_zone" varchar(64) DEFAULT '' NOT NULL, "guest_of_id" bigint NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "language" varchar(8) DEFAULT '' NOT NULL)
-- next statement
CREATE TABLE "marketplace_workerfile" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "number" integer unsigned NOT NULL CHECK ("number" >= 0), "kind" varchar(7) NOT NULL, "file_name" varchar(200) NOT NULL, "file_read" varchar(200) NOT NULL, "line_count" integer unsigned NOT NULL CHECK ("line_count" >= 0), "cents" bigint unsigned NOT NULL CHECK ("cents" >= 0), "fee_cents" bigint unsigned NOT NULL CHECK ("fee_cents" >= 0), "state" varchar(9) NOT NULL, "error" text NOT NULL, "created_at" datetime NOT NULL, "confirmed_at" datetime NULL, "done_at" datetime NULL, "confirmed_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "created_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "qualification_type_id" bigint NULL REFERENCES "marketplace_qualificationtype" ("id") DEFERRABLE INITIALLY DEFERRED, "requester_id" bigint NOT NULL REFERENCES "marketplace_requester" ("id") DEFERRABLE INITIALLY DEFERRED, "read_as" text NULL CHECK ((JSON_VALID("read_as") OR "read_as" IS NULL)), CONSTRAINT "worker_file_number" UNIQUE ("requester_id", "number"))
-- next statement
CREATE TABLE "marketplace_workerfileline" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "line" integer unsigned NOT NULL CHECK ("line" >= 0), "amount" bigint NOT NULL, "words" text NOT NULL, "payment" varchar(64) NOT NULL, "state" varchar(7) NOT NULL, "why" varchar(300) NOT NULL, "file_id" bigint NOT NULL REFERENCES "marketplace_workerfile" ("id") DEFERRABLE INITIALLY DEFERRED, "holding_id" bigint NULL REFERENCES "marketplace_holding" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "worker_file_line" UNIQUE ("file_id", "line"))
-- next statement
CREATE TABLE "marketplace_workertrace" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "kind" varchar(7) NOT NULL, "digest" varchar(64) NOT NULL, "agent_digest" varchar(64) NOT NULL, "country" varchar(2) NOT NULL, "signed_up" bool NOT NULL, "first_at" datetime NOT NULL, "last_at" datetime NOT NULL, "worker_id" bigint NOT NULL REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_trace_of_worker" UNIQUE ("worker_id", "kind", "digest"))
-- next statement
CREATE TABLE "marketplace_worktrace" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "left" integer unsigned NOT NULL CHECK ("left" >= 0), "left_seconds" integer unsigned NOT NULL CHECK ("left_seconds" >= 0), "pastes" integer unsigned NOT NULL CHECK ("pastes" >= 0), "pasted_characters" integer unsigned NOT NULL CHECK ("pasted_characters" >= 0), "text_digest" varchar(64) NOT NULL, "text_sketch" bigint NULL, "compared_at" datetime NULL, "at" datetime NOT NULL, "holding_id" bigint NOT NULL UNIQUE REFERENCES "marketplace_holding" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "marketplace_yearlylimit" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "year" smallint unsigned NOT NULL CHECK ("year" >= 0), "warned_at" datetime NULL, "held_at" datetime NULL, "released_at" datetime NULL, "decision" varchar(300) NOT NULL, "released_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "worker_id" bigint NOT NULL REFERENCES "marketplace_worker" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_limit_per_year" UNIQUE ("worker_id", "year"))
-- next statement
CREATE TABLE "mfa_authenticator" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "type" varchar(20) NOT NULL, "data" text NOT NULL CHECK ((JSON_VALID("data") OR "data" IS NULL)), "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "created_at" datetime NOT NULL, "last_used_at" datetime NULL)
-- next statement
CREATE TABLE "notices_letter" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "claimed_at" datetime NULL, "sent_at" datetime NULL, "error" varchar(300) NOT NULL, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "notice_id" bigint NOT NULL REFERENCES "notices_notice" ("id") DEFERRABLE INITIALLY DEFERRED, "claim" char(32) NULL, "dropped_at" datetime NULL, CONSTRAINT "letter_once" UNIQUE ("notice_id", "user_id"))
-- next statement
CREATE TABLE "notices_notice" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "kind" varchar(40) NOT NULL, "key" varchar(200) NOT NULL, "level" varchar(7) NOT NULL, "sentence" varchar(300) NOT NULL, "address" varchar(300) NOT NULL, "raised_at" datetime NOT NULL, "over_at" datetime NULL, "project_id" bigint NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "notices_seen" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "at" datetime NOT NULL, "notice_id" bigint NOT NULL REFERENCES "notices_notice" ("id") DEFERRABLE INITIALLY DEFERRED, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "notice_seen_once" UNIQUE ("notice_id", "user_id"))
-- next statement
CREATE TABLE "notices_wish" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "post" varchar(8) NOT NULL, "project_id" bigint NOT NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_wish_per_project" UNIQUE ("project_id", "user_id"))
-- next statement
CREATE TABLE "people_consenttext" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "kind" varchar(10) NOT NULL, "language" varchar(35) NOT NULL, "version" integer unsigned NOT NULL CHECK ("version" >= 0), "body" text NOT NULL, "protocol_number" varchar(100) NOT NULL, "contact" varchar(300) NOT NULL, "minimum_age" smallint unsigned NOT NULL CHECK ("minimum_age" >= 0), "what_is_kept" text NOT NULL, "right_to_withdraw" text NOT NULL, "made_at" datetime NOT NULL, "made_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "project_id" bigint NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED, "requester_id" bigint NULL, CONSTRAINT "text_of_one_owner" CHECK (("project_id" IS NULL OR "requester_id" IS NULL)))
-- next statement
CREATE TABLE "people_guest" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "identity_kind" varchar(60) NOT NULL, "identity" varchar(128) NOT NULL, "worker_id" varchar(32) NOT NULL UNIQUE, "recovery_digest" varchar(64) NOT NULL UNIQUE, "recovery_sealed" text NOT NULL, "email_digest" varchar(64) NOT NULL, "made_at" datetime NOT NULL, "withdrawn_at" datetime NULL, "project_id" bigint NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED, "user_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "requester_id" bigint NULL, CONSTRAINT "guest_once_per_identity" UNIQUE ("project_id", "identity_kind", "identity"), CONSTRAINT "guest_of_one_owner" CHECK ((("project_id" IS NOT NULL AND "requester_id" IS NULL) OR ("requester_id" IS NOT NULL AND "project_id" IS NULL))))
-- next statement
CREATE TABLE "people_rosterrow" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(200) NOT NULL, "email_sealed" text NOT NULL, "email_digest" varchar(64) NOT NULL, "invited_at" datetime NULL, "reminded_at" datetime NULL, "made_at" datetime NOT NULL, "guest_id" bigint NULL REFERENCES "people_guest" ("id") DEFERRABLE INITIALLY DEFERRED, "link_id" bigint NOT NULL REFERENCES "people_studylink" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "invited_once_per_link" UNIQUE ("link_id", "email_digest"))
-- next statement
CREATE TABLE "people_studylink" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "token_digest" varchar(64) NOT NULL UNIQUE, "token_sealed" text NOT NULL, "target_kind" varchar(20) NOT NULL, "target_id" bigint NOT NULL, "title" varchar(200) NOT NULL, "quota" integer unsigned NOT NULL CHECK ("quota" >= 0), "expires_at" datetime NULL, "languages" text NOT NULL CHECK ((JSON_VALID("languages") OR "languages" IS NULL)), "code_word_digest" varchar(64) NOT NULL, "granted" varchar(100) NOT NULL, "id_parameters" text NOT NULL CHECK ((JSON_VALID("id_parameters") OR "id_parameters" IS NULL)), "id_required" bool NOT NULL, "kept_parameters" text NOT NULL CHECK ((JSON_VALID("kept_parameters") OR "kept_parameters" IS NULL)), "secret_sealed" text NOT NULL, "returns" text NOT NULL CHECK ((JSON_VALID("returns") OR "returns" IS NULL)), "returns_at_once" bool NOT NULL, "compensation" varchar(10) NOT NULL, "most_tasks" integer unsigned NOT NULL CHECK ("most_tasks" >= 0), "most_per_address" integer unsigned NOT NULL CHECK ("most_per_address" >= 0), "closed_at" datetime NULL, "made_at" datetime NOT NULL, "made_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "project_id" bigint NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED, "granted_value" integer NULL, "id_source" varchar(40) DEFAULT '' NOT NULL, "requester_id" bigint NULL, CONSTRAINT "study_link_of_one_owner" CHECK ((("project_id" IS NOT NULL AND "requester_id" IS NULL) OR ("requester_id" IS NOT NULL AND "project_id" IS NULL))))
-- next statement
CREATE TABLE "people_visit" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "external_kind" varchar(60) NOT NULL, "external_id" varchar(128) NOT NULL, "session" varchar(128) NOT NULL, "parameters" text NOT NULL CHECK ((JSON_VALID("parameters") OR "parameters" IS NULL)), "address_digest" varchar(64) NOT NULL, "browser_digest" varchar(64) NOT NULL, "proven" bool NOT NULL, "opened_at" datetime NOT NULL, "seen_at" datetime NOT NULL, "consented_at" datetime NULL, "first_task_at" datetime NULL, "ended_at" datetime NULL, "outcome" varchar(13) NOT NULL, "code" varchar(100) NOT NULL, "consent_text_id" bigint NULL REFERENCES "people_consenttext" ("id") DEFERRABLE INITIALLY DEFERRED, "guest_id" bigint NULL REFERENCES "people_guest" ("id") DEFERRABLE INITIALLY DEFERRED, "link_id" bigint NOT NULL REFERENCES "people_studylink" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "poll_vote" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "unit" varchar(200) NOT NULL, "choice" varchar(200) NOT NULL, "assignment_id" bigint NOT NULL REFERENCES "crowd_assignment" ("id") DEFERRABLE INITIALLY DEFERRED, "stage_id" bigint NOT NULL REFERENCES "crowd_stage" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_vote_per_unit" UNIQUE ("assignment_id", "unit"))
-- next statement
CREATE TABLE "projects_event" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "at" datetime NOT NULL, "action" varchar(60) NOT NULL, "subject" varchar(200) NOT NULL, "details" text NOT NULL CHECK ((JSON_VALID("details") OR "details" IS NULL)), "actor_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "project_id" bigint NOT NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED, "address" varchar(45) NOT NULL, "credential" varchar(64) DEFAULT '' NOT NULL, "request_id" varchar(64) DEFAULT '' NOT NULL, "via" varchar(8) DEFAULT '' NOT NULL)
-- next statement
CREATE TABLE "projects_membership" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "role" varchar(7) NOT NULL, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "project_id" bigint NOT NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "one_role_per_member" UNIQUE ("project_id", "user_id"))
-- next statement
CREATE TABLE "projects_project" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "slug" varchar(80) NOT NULL UNIQUE, "title" varchar(200) NOT NULL, "language" varchar(35) NOT NULL, "licence" varchar(80) NOT NULL, "pseudonym_key" varchar(64) NOT NULL, "wage_floor_cents" integer unsigned NOT NULL CHECK ("wage_floor_cents" >= 0), "budget_cents" bigint NOT NULL, "reserved_cents" bigint NOT NULL, "spent_cents" bigint NOT NULL, "created_at" datetime NOT NULL, "read_only" bool NOT NULL, "closed_at" datetime NULL, CONSTRAINT "project_budget_never_passed" CHECK (("budget_cents" >= ("reserved_cents" + "spent_cents") AND "reserved_cents" >= 0 AND "spent_cents" >= 0)))
-- next statement
CREATE TABLE "releases_privacyfinding" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "rule" varchar(40) NOT NULL, "subject" varchar(100) NOT NULL, "field" varchar(40) NOT NULL, "start" integer unsigned NOT NULL CHECK ("start" >= 0), "end" integer unsigned NOT NULL CHECK ("end" >= 0), "excerpt" varchar(300) NOT NULL, "state" varchar(8) NOT NULL, "reason" varchar(300) NOT NULL, "decided_at" datetime NULL, "found_at" datetime NOT NULL, "decided_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "project_id" bigint NOT NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "found_once" UNIQUE ("project_id", "rule", "subject", "field", "start", "end"), CONSTRAINT "a_decided_finding_says_why" CHECK ((NOT ("state" IN ('accepted', 'redacted')) OR (NOT ("reason" = '') AND "decided_at" IS NOT NULL))))
-- next statement
CREATE TABLE "releases_release" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "version" varchar(20) NOT NULL, "state" varchar(9) NOT NULL, "notes" text NOT NULL, "options" text NOT NULL CHECK ((JSON_VALID("options") OR "options" IS NULL)), "manifest" text NOT NULL CHECK ((JSON_VALID("manifest") OR "manifest" IS NULL)), "digest" varchar(64) NOT NULL, "content" varchar(64) NOT NULL, "bytes" bigint NOT NULL, "simulated" bool NOT NULL, "imported" bool NOT NULL, "public" bool NOT NULL, "error" text NOT NULL, "job" bigint NULL, "created_at" datetime NOT NULL, "built_at" datetime NULL, "withdrawn_at" datetime NULL, "withdrawn_reason" varchar(300) NOT NULL, "created_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "project_id" bigint NOT NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED, "withdrawn_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "release_version_in_project" UNIQUE ("project_id", "version"), CONSTRAINT "a_built_release_has_a_digest" CHECK (("state" IN ('building', 'failed') OR (NOT ("digest" = '') AND "built_at" IS NOT NULL))), CONSTRAINT "a_withdrawn_release_says_why" CHECK ((NOT ("state" = 'withdrawn') OR (NOT ("withdrawn_reason" = '') AND "withdrawn_at" IS NOT NULL))))
-- next statement
CREATE TABLE "releases_releasefile" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "path" varchar(300) NOT NULL, "format" varchar(20) NOT NULL, "bytes" bigint NOT NULL, "rows" bigint NULL, "sha256" varchar(64) NOT NULL, "release_id" bigint NOT NULL REFERENCES "releases_release" ("id") DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "file_once_in_release" UNIQUE ("release_id", "path"))
-- next statement
CREATE TABLE "retrieval_corpus" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "slug" varchar(80) NOT NULL, "title" varchar(200) NOT NULL, "language" varchar(35) NOT NULL, "licence" varchar(80) NOT NULL, "attribution" text NOT NULL, "created_at" datetime NOT NULL, "project_id" bigint NOT NULL REFERENCES "projects_project" ("id") DEFERRABLE INITIALLY DEFERRED, "adding_after" bigint NULL, "held_by" varchar(64) DEFAULT '' NOT NULL, "held_until" datetime NULL, CONSTRAINT "corpus_slug_in_project" UNIQUE ("project_id", "slug"))
-- next statement
CREATE TABLE "retrieval_index" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "engine" varchar(40) NOT NULL, "location" varchar(500) NOT NULL, "state" varchar(8) NOT NULL, "generation" integer unsigned NOT NULL CHECK ("generation" >= 0), "passages" integer unsigned NOT NULL CHECK ("passages" >= 0), "last_passage" bigint NOT NULL, "built_at" datetime NULL, "note" varchar(300) NOT NULL, "corpus_id" bigint NOT NULL UNIQUE REFERENCES "retrieval_corpus" ("id") DEFERRABLE INITIALLY DEFERRED, "published" varchar(64) DEFAULT '' NOT NULL)
-- next statement
CREATE TABLE "retrieval_passage" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "key" varchar(200) NOT NULL, "text" text NOT NULL, "title" text NOT NULL, "url" varchar(2000) NOT NULL, "page" varchar(2000) NOT NULL, "start" integer unsigned NULL CHECK ("start" >= 0), "end" integer unsigned NULL CHECK ("end" >= 0), "corpus_id" bigint NOT NULL REFERENCES "retrieval_corpus" ("id") DEFERRABLE INITIALLY DEFERRED, "digest" varchar(32) NOT NULL, CONSTRAINT "passage_key_in_corpus" UNIQUE ("corpus_id", "key"), CONSTRAINT "passage_region" CHECK ((("end" IS NULL AND "start" IS NULL) OR "start" < ("end"))))
-- next statement
CREATE TABLE "retrieval_wordnetwork" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "location" varchar(500) NOT NULL, "state" varchar(8) NOT NULL, "generation" integer unsigned NOT NULL CHECK ("generation" >= 0), "passages" integer unsigned NOT NULL CHECK ("passages" >= 0), "words" integer unsigned NOT NULL CHECK ("words" >= 0), "edges" bigint NOT NULL, "last_passage" bigint NOT NULL, "options" text NOT NULL CHECK ((JSON_VALID("options") OR "options" IS NULL)), "built_at" datetime NULL, "note" varchar(300) NOT NULL, "corpus_id" bigint NOT NULL UNIQUE REFERENCES "retrieval_corpus" ("id") DEFERRABLE INITIALLY DEFERRED, "published" varchar(64) DEFAULT '' NOT NULL)
-- next statement
CREATE TABLE "sealing_canary" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "value_sealed" text NOT NULL)
-- next statement
CREATE TABLE "socialaccount_socialaccount" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "provider" varchar(200) NOT NULL, "uid" varchar(191) NOT NULL, "last_login" datetime NOT NULL, "date_joined" datetime NOT NULL, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "extra_data" text NOT NULL CHECK ((JSON_VALID("extra_data") OR "extra_data" IS NULL)))
-- next statement
CREATE TABLE "socialaccount_socialapp" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "provider" varchar(30) NOT NULL, "name" varchar(40) NOT NULL, "client_id" varchar(191) NOT NULL, "secret" varchar(191) NOT NULL, "key" varchar(191) NOT NULL, "provider_id" varchar(200) NOT NULL, "settings" text NOT NULL CHECK ((JSON_VALID("settings") OR "settings" IS NULL)))
-- next statement
CREATE TABLE "socialaccount_socialtoken" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "token" text NOT NULL, "token_secret" text NOT NULL, "expires_at" datetime NULL, "account_id" integer NOT NULL REFERENCES "socialaccount_socialaccount" ("id") DEFERRABLE INITIALLY DEFERRED, "app_id" integer NULL REFERENCES "socialaccount_socialapp" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "webhooks_webhook" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "owner_kind" varchar(9) NOT NULL, "owner_id" bigint NOT NULL, "name" varchar(80) NOT NULL, "shape" varchar(8) NOT NULL, "address_sealed" text NOT NULL, "host" varchar(255) NOT NULL, "events" text NOT NULL CHECK ((JSON_VALID("events") OR "events" IS NULL)), "secret_sealed" text NOT NULL, "former_secret_sealed" text NOT NULL, "former_until" datetime NULL, "state" varchar(8) NOT NULL, "failing_since" datetime NULL, "disabled_at" datetime NULL, "why_disabled" varchar(300) NOT NULL, "told_at" datetime NULL, "last_number" bigint NOT NULL, "due_at" datetime NOT NULL, "lease_owner" char(32) NULL, "lease_until" datetime NULL, "created_at" datetime NOT NULL, "removed_at" datetime NULL, "created_by_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "refusals" integer unsigned DEFAULT 0 NOT NULL CHECK ("refusals" >= 0))
-- next statement
CREATE TABLE "webhooks_webhookattempt" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "at" datetime NOT NULL, "milliseconds" integer unsigned NOT NULL CHECK ("milliseconds" >= 0), "status" smallint unsigned NULL CHECK ("status" >= 0), "note" varchar(500) NOT NULL, "message_id" bigint NOT NULL REFERENCES "webhooks_webhookmessage" ("id") DEFERRABLE INITIALLY DEFERRED)
-- next statement
CREATE TABLE "webhooks_webhookmark" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "owner_kind" varchar(9) NOT NULL, "owner_id" bigint NOT NULL, "key" varchar(80) NOT NULL, "value" bigint NOT NULL, CONSTRAINT "one_webhook_mark_per_key" UNIQUE ("owner_kind", "owner_id", "key"))
-- next statement
CREATE TABLE "webhooks_webhookmessage" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "number" bigint NULL, "message_id" varchar(36) NOT NULL UNIQUE, "type" varchar(60) NOT NULL, "at" datetime NOT NULL, "data" text NOT NULL CHECK ((JSON_VALID("data") OR "data" IS NULL)), "state" varchar(7) NOT NULL, "attempts" integer unsigned NOT NULL CHECK ("attempts" >= 0), "first_attempt_at" datetime NULL, "ended_at" datetime NULL, "webhook_id" bigint NOT NULL REFERENCES "webhooks_webhook" ("id") DEFERRABLE INITIALLY DEFERRED, "due_at" datetime NULL, CONSTRAINT "one_number_per_webhook_message" UNIQUE ("webhook_id", "number"))
-- next statement
INSERT INTO "auth_permission" VALUES(1,1,'add_emailaddress','Can add email address')
-- next statement
INSERT INTO "auth_permission" VALUES(2,1,'change_emailaddress','Can change email address')
-- next statement
INSERT INTO "auth_permission" VALUES(3,1,'delete_emailaddress','Can delete email address')
-- next statement
INSERT INTO "auth_permission" VALUES(4,1,'view_emailaddress','Can view email address')
-- next statement
INSERT INTO "auth_permission" VALUES(5,2,'add_emailconfirmation','Can add email confirmation')
-- next statement
INSERT INTO "auth_permission" VALUES(6,2,'change_emailconfirmation','Can change email confirmation')
-- next statement
INSERT INTO "auth_permission" VALUES(7,2,'delete_emailconfirmation','Can delete email confirmation')
-- next statement
INSERT INTO "auth_permission" VALUES(8,2,'view_emailconfirmation','Can view email confirmation')
-- next statement
INSERT INTO "auth_permission" VALUES(9,3,'add_authenticator','Can add authenticator')
-- next statement
INSERT INTO "auth_permission" VALUES(10,3,'change_authenticator','Can change authenticator')
-- next statement
INSERT INTO "auth_permission" VALUES(11,3,'delete_authenticator','Can delete authenticator')
-- next statement
INSERT INTO "auth_permission" VALUES(12,3,'view_authenticator','Can view authenticator')
-- next statement
INSERT INTO "auth_permission" VALUES(13,4,'add_socialaccount','Can add social account')
-- next statement
INSERT INTO "auth_permission" VALUES(14,4,'change_socialaccount','Can change social account')
-- next statement
INSERT INTO "auth_permission" VALUES(15,4,'delete_socialaccount','Can delete social account')
-- next statement
INSERT INTO "auth_permission" VALUES(16,4,'view_socialaccount','Can view social account')
-- next statement
INSERT INTO "auth_permission" VALUES(17,5,'add_socialapp','Can add social application')
-- next statement
INSERT INTO "auth_permission" VALUES(18,5,'change_socialapp','Can change social application')
-- next statement
INSERT INTO "auth_permission" VALUES(19,5,'delete_socialapp','Can delete social application')
-- next statement
INSERT INTO "auth_permission" VALUES(20,5,'view_socialapp','Can view social application')
-- next statement
INSERT INTO "auth_permission" VALUES(21,6,'add_socialtoken','Can add social application token')
-- next statement
INSERT INTO "auth_permission" VALUES(22,6,'change_socialtoken','Can change social application token')
-- next statement
INSERT INTO "auth_permission" VALUES(23,6,'delete_socialtoken','Can delete social application token')
-- next statement
INSERT INTO "auth_permission" VALUES(24,6,'view_socialtoken','Can view social application token')
-- next statement
INSERT INTO "auth_permission" VALUES(25,7,'add_release','Can add release')
-- next statement
INSERT INTO "auth_permission" VALUES(26,7,'change_release','Can change release')
-- next statement
INSERT INTO "auth_permission" VALUES(27,7,'delete_release','Can delete release')
-- next statement
INSERT INTO "auth_permission" VALUES(28,7,'view_release','Can view release')
-- next statement
INSERT INTO "auth_permission" VALUES(29,8,'add_releasefile','Can add release file')
-- next statement
INSERT INTO "auth_permission" VALUES(30,8,'change_releasefile','Can change release file')
-- next statement
INSERT INTO "auth_permission" VALUES(31,8,'delete_releasefile','Can delete release file')
-- next statement
INSERT INTO "auth_permission" VALUES(32,8,'view_releasefile','Can view release file')
-- next statement
INSERT INTO "auth_permission" VALUES(33,9,'add_privacyfinding','Can add privacy finding')
-- next statement
INSERT INTO "auth_permission" VALUES(34,9,'change_privacyfinding','Can change privacy finding')
-- next statement
INSERT INTO "auth_permission" VALUES(35,9,'delete_privacyfinding','Can delete privacy finding')
-- next statement
INSERT INTO "auth_permission" VALUES(36,9,'view_privacyfinding','Can view privacy finding')
-- next statement
INSERT INTO "auth_permission" VALUES(37,10,'add_evaluation','Can add evaluation')
-- next statement
INSERT INTO "auth_permission" VALUES(38,10,'change_evaluation','Can change evaluation')
-- next statement
INSERT INTO "auth_permission" VALUES(39,10,'delete_evaluation','Can delete evaluation')
-- next statement
INSERT INTO "auth_permission" VALUES(40,10,'view_evaluation','Can view evaluation')
-- next statement
INSERT INTO "auth_permission" VALUES(41,11,'add_call','Can add call')
-- next statement
INSERT INTO "auth_permission" VALUES(42,11,'change_call','Can change call')
-- next statement
INSERT INTO "auth_permission" VALUES(43,11,'delete_call','Can delete call')
-- next statement
INSERT INTO "auth_permission" VALUES(44,11,'view_call','Can view call')
-- next statement
INSERT INTO "auth_permission" VALUES(45,12,'add_externalscores','Can add external scores')
-- next statement
INSERT INTO "auth_permission" VALUES(46,12,'change_externalscores','Can change external scores')
-- next statement
INSERT INTO "auth_permission" VALUES(47,12,'delete_externalscores','Can delete external scores')
-- next statement
INSERT INTO "auth_permission" VALUES(48,12,'view_externalscores','Can view external scores')
-- next statement
INSERT INTO "auth_permission" VALUES(49,13,'add_part','Can add part')
-- next statement
INSERT INTO "auth_permission" VALUES(50,13,'change_part','Can change part')
-- next statement
INSERT INTO "auth_permission" VALUES(51,13,'delete_part','Can delete part')
-- next statement
INSERT INTO "auth_permission" VALUES(52,13,'view_part','Can view part')
-- next statement
INSERT INTO "auth_permission" VALUES(53,14,'add_vote','Can add vote')
-- next statement
INSERT INTO "auth_permission" VALUES(54,14,'change_vote','Can change vote')
-- next statement
INSERT INTO "auth_permission" VALUES(55,14,'delete_vote','Can delete vote')
-- next statement
INSERT INTO "auth_permission" VALUES(56,14,'view_vote','Can view vote')
-- next statement
INSERT INTO "auth_permission" VALUES(57,15,'add_querysource','Can add query source')
-- next statement
INSERT INTO "auth_permission" VALUES(58,15,'change_querysource','Can change query source')
-- next statement
INSERT INTO "auth_permission" VALUES(59,15,'delete_querysource','Can delete query source')
-- next statement
INSERT INTO "auth_permission" VALUES(60,15,'view_querysource','Can view query source')
-- next statement
INSERT INTO "auth_permission" VALUES(61,16,'add_query','Can add query')
-- next statement
INSERT INTO "auth_permission" VALUES(62,16,'change_query','Can change query')
-- next statement
INSERT INTO "auth_permission" VALUES(63,16,'delete_query','Can delete query')
-- next statement
INSERT INTO "auth_permission" VALUES(64,16,'view_query','Can view query')
-- next statement
INSERT INTO "auth_permission" VALUES(65,17,'add_curatedset','Can add curated set')
-- next statement
INSERT INTO "auth_permission" VALUES(66,17,'change_curatedset','Can change curated set')
-- next statement
INSERT INTO "auth_permission" VALUES(67,17,'delete_curatedset','Can delete curated set')
-- next statement
INSERT INTO "auth_permission" VALUES(68,17,'view_curatedset','Can view curated set')
-- next statement
INSERT INTO "auth_permission" VALUES(69,18,'add_candidatepassage','Can add candidate passage')
-- next statement
INSERT INTO "auth_permission" VALUES(70,18,'change_candidatepassage','Can change candidate passage')
-- next statement
INSERT INTO "auth_permission" VALUES(71,18,'delete_candidatepassage','Can delete candidate passage')
-- next statement
INSERT INTO "auth_permission" VALUES(72,18,'view_candidatepassage','Can view candidate passage')
-- next statement
INSERT INTO "auth_permission" VALUES(73,19,'add_answer','Can add answer')
-- next statement
INSERT INTO "auth_permission" VALUES(74,19,'change_answer','Can change answer')
-- next statement
INSERT INTO "auth_permission" VALUES(75,19,'delete_answer','Can delete answer')
-- next statement
INSERT INTO "auth_permission" VALUES(76,19,'view_answer','Can view answer')
-- next statement
INSERT INTO "auth_permission" VALUES(77,20,'add_querystep','Can add query step')
-- next statement
INSERT INTO "auth_permission" VALUES(78,20,'change_querystep','Can change query step')
-- next statement
INSERT INTO "auth_permission" VALUES(79,20,'delete_querystep','Can delete query step')
-- next statement
INSERT INTO "auth_permission" VALUES(80,20,'view_querystep','Can view query step')
-- next statement
INSERT INTO "auth_permission" VALUES(81,21,'add_screeningvote','Can add screening vote')
-- next statement
INSERT INTO "auth_permission" VALUES(82,21,'change_screeningvote','Can change screening vote')
-- next statement
INSERT INTO "auth_permission" VALUES(83,21,'delete_screeningvote','Can delete screening vote')
-- next statement
INSERT INTO "auth_permission" VALUES(84,21,'view_screeningvote','Can view screening vote')
-- next statement
INSERT INTO "auth_permission" VALUES(85,22,'add_answerflag','Can add answer flag')
-- next statement
INSERT INTO "auth_permission" VALUES(86,22,'change_answerflag','Can change answer flag')
-- next statement
INSERT INTO "auth_permission" VALUES(87,22,'delete_answerflag','Can delete answer flag')
-- next statement
INSERT INTO "auth_permission" VALUES(88,22,'view_answerflag','Can view answer flag')
-- next statement
INSERT INTO "auth_permission" VALUES(89,23,'add_answerreview','Can add answer review')
-- next statement
INSERT INTO "auth_permission" VALUES(90,23,'change_answerreview','Can change answer review')
-- next statement
INSERT INTO "auth_permission" VALUES(91,23,'delete_answerreview','Can delete answer review')
-- next statement
INSERT INTO "auth_permission" VALUES(92,23,'view_answerreview','Can view answer review')
-- next statement
INSERT INTO "auth_permission" VALUES(93,24,'add_curatedpassage','Can add curated passage')
-- next statement
INSERT INTO "auth_permission" VALUES(94,24,'change_curatedpassage','Can change curated passage')
-- next statement
INSERT INTO "auth_permission" VALUES(95,24,'delete_curatedpassage','Can delete curated passage')
-- next statement
INSERT INTO "auth_permission" VALUES(96,24,'view_curatedpassage','Can view curated passage')
-- next statement
INSERT INTO "auth_permission" VALUES(97,25,'add_passageselection','Can add passage selection')
-- next statement
INSERT INTO "auth_permission" VALUES(98,25,'change_passageselection','Can change passage selection')
-- next statement
INSERT INTO "auth_permission" VALUES(99,25,'delete_passageselection','Can delete passage selection')
-- next statement
INSERT INTO "auth_permission" VALUES(100,25,'view_passageselection','Can view passage selection')
-- next statement
INSERT INTO "auth_permission" VALUES(101,26,'add_heldoutworker','Can add held out worker')
-- next statement
INSERT INTO "auth_permission" VALUES(102,26,'change_heldoutworker','Can change held out worker')
-- next statement
INSERT INTO "auth_permission" VALUES(103,26,'delete_heldoutworker','Can delete held out worker')
-- next statement
INSERT INTO "auth_permission" VALUES(104,26,'view_heldoutworker','Can view held out worker')
-- next statement
INSERT INTO "auth_permission" VALUES(105,27,'add_doubt','Can add doubt')
-- next statement
INSERT INTO "auth_permission" VALUES(106,27,'change_doubt','Can change doubt')
-- next statement
INSERT INTO "auth_permission" VALUES(107,27,'delete_doubt','Can delete doubt')
-- next statement
INSERT INTO "auth_permission" VALUES(108,27,'view_doubt','Can view doubt')
-- next statement
INSERT INTO "auth_permission" VALUES(109,28,'add_answernote','Can add answer note')
-- next statement
INSERT INTO "auth_permission" VALUES(110,28,'change_answernote','Can change answer note')
-- next statement
INSERT INTO "auth_permission" VALUES(111,28,'delete_answernote','Can delete answer note')
-- next statement
INSERT INTO "auth_permission" VALUES(112,28,'view_answernote','Can view answer note')
-- next statement
INSERT INTO "auth_permission" VALUES(113,29,'add_attentioncheck','Can add attention check')
-- next statement
INSERT INTO "auth_permission" VALUES(114,29,'change_attentioncheck','Can change attention check')
-- next statement
INSERT INTO "auth_permission" VALUES(115,29,'delete_attentioncheck','Can delete attention check')
-- next statement
INSERT INTO "auth_permission" VALUES(116,29,'view_attentioncheck','Can view attention check')
-- next statement
INSERT INTO "auth_permission" VALUES(117,30,'add_candidatesource','Can add candidate source')
-- next statement
INSERT INTO "auth_permission" VALUES(118,30,'change_candidatesource','Can change candidate source')
-- next statement
INSERT INTO "auth_permission" VALUES(119,30,'delete_candidatesource','Can delete candidate source')
-- next statement
INSERT INTO "auth_permission" VALUES(120,30,'view_candidatesource','Can view candidate source')
-- next statement
INSERT INTO "auth_permission" VALUES(121,31,'add_checkanswer','Can add check answer')
-- next statement
INSERT INTO "auth_permission" VALUES(122,31,'change_checkanswer','Can change check answer')
-- next statement
INSERT INTO "auth_permission" VALUES(123,31,'delete_checkanswer','Can delete check answer')
-- next statement
INSERT INTO "auth_permission" VALUES(124,31,'view_checkanswer','Can view check answer')
-- next statement
INSERT INTO "auth_permission" VALUES(125,32,'add_filterrun','Can add filter run')
-- next statement
INSERT INTO "auth_permission" VALUES(126,32,'change_filterrun','Can change filter run')
-- next statement
INSERT INTO "auth_permission" VALUES(127,32,'delete_filterrun','Can delete filter run')
-- next statement
INSERT INTO "auth_permission" VALUES(128,32,'view_filterrun','Can view filter run')
-- next statement
INSERT INTO "auth_permission" VALUES(129,33,'add_system','Can add system')
-- next statement
INSERT INTO "auth_permission" VALUES(130,33,'change_system','Can change system')
-- next statement
INSERT INTO "auth_permission" VALUES(131,33,'delete_system','Can delete system')
-- next statement
INSERT INTO "auth_permission" VALUES(132,33,'view_system','Can view system')
-- next statement
INSERT INTO "auth_permission" VALUES(133,34,'add_candidate','Can add candidate')
-- next statement
INSERT INTO "auth_permission" VALUES(134,34,'change_candidate','Can change candidate')
-- next statement
INSERT INTO "auth_permission" VALUES(135,34,'delete_candidate','Can delete candidate')
-- next statement
INSERT INTO "auth_permission" VALUES(136,34,'view_candidate','Can view candidate')
-- next statement
INSERT INTO "auth_permission" VALUES(137,35,'add_judgment','Can add judgment')
-- next statement
INSERT INTO "auth_permission" VALUES(138,35,'change_judgment','Can change judgment')
-- next statement
INSERT INTO "auth_permission" VALUES(139,35,'delete_judgment','Can delete judgment')
-- next statement
INSERT INTO "auth_permission" VALUES(140,35,'view_judgment','Can view judgment')
-- next statement
INSERT INTO "auth_permission" VALUES(141,36,'add_score','Can add score')
-- next statement
INSERT INTO "auth_permission" VALUES(142,36,'change_score','Can change score')
-- next statement
INSERT INTO "auth_permission" VALUES(143,36,'delete_score','Can delete score')
-- next statement
INSERT INTO "auth_permission" VALUES(144,36,'view_score','Can view score')
-- next statement
INSERT INTO "auth_permission" VALUES(145,37,'add_verdict','Can add verdict')
-- next statement
INSERT INTO "auth_permission" VALUES(146,37,'change_verdict','Can change verdict')
-- next statement
INSERT INTO "auth_permission" VALUES(147,37,'delete_verdict','Can delete verdict')
-- next statement
INSERT INTO "auth_permission" VALUES(148,37,'view_verdict','Can view verdict')
-- next statement
INSERT INTO "auth_permission" VALUES(149,38,'add_agreementreport','Can add agreement report')
-- next statement
INSERT INTO "auth_permission" VALUES(150,38,'change_agreementreport','Can change agreement report')
-- next statement
INSERT INTO "auth_permission" VALUES(151,38,'delete_agreementreport','Can delete agreement report')
-- next statement
INSERT INTO "auth_permission" VALUES(152,38,'view_agreementreport','Can view agreement report')
-- next statement
INSERT INTO "auth_permission" VALUES(153,39,'add_importedscore','Can add imported score')
-- next statement
INSERT INTO "auth_permission" VALUES(154,39,'change_importedscore','Can change imported score')
-- next statement
INSERT INTO "auth_permission" VALUES(155,39,'delete_importedscore','Can delete imported score')
-- next statement
INSERT INTO "auth_permission" VALUES(156,39,'view_importedscore','Can view imported score')
-- next statement
INSERT INTO "auth_permission" VALUES(157,40,'add_shownreferences','Can add shown references')
-- next statement
INSERT INTO "auth_permission" VALUES(158,40,'change_shownreferences','Can change shown references')
-- next statement
INSERT INTO "auth_permission" VALUES(159,40,'delete_shownreferences','Can delete shown references')
-- next statement
INSERT INTO "auth_permission" VALUES(160,40,'view_shownreferences','Can view shown references')
-- next statement
INSERT INTO "auth_permission" VALUES(161,41,'add_reportpart','Can add report part')
-- next statement
INSERT INTO "auth_permission" VALUES(162,41,'change_reportpart','Can change report part')
-- next statement
INSERT INTO "auth_permission" VALUES(163,41,'delete_reportpart','Can delete report part')
-- next statement
INSERT INTO "auth_permission" VALUES(164,41,'view_reportpart','Can view report part')
-- next statement
INSERT INTO "auth_permission" VALUES(165,42,'add_questionnaireunit','Can add questionnaire unit')
-- next statement
INSERT INTO "auth_permission" VALUES(166,42,'change_questionnaireunit','Can change questionnaire unit')
-- next statement
INSERT INTO "auth_permission" VALUES(167,42,'delete_questionnaireunit','Can delete questionnaire unit')
-- next statement
INSERT INTO "auth_permission" VALUES(168,42,'view_questionnaireunit','Can view questionnaire unit')
-- next statement
INSERT INTO "auth_permission" VALUES(169,43,'add_unitmaterial','Can add unit material')
-- next statement
INSERT INTO "auth_permission" VALUES(170,43,'change_unitmaterial','Can change unit material')
-- next statement
INSERT INTO "auth_permission" VALUES(171,43,'delete_unitmaterial','Can delete unit material')
-- next statement
INSERT INTO "auth_permission" VALUES(172,43,'view_unitmaterial','Can view unit material')
-- next statement
INSERT INTO "auth_permission" VALUES(173,44,'add_unitresponse','Can add unit response')
-- next statement
INSERT INTO "auth_permission" VALUES(174,44,'change_unitresponse','Can change unit response')
-- next statement
INSERT INTO "auth_permission" VALUES(175,44,'delete_unitresponse','Can delete unit response')
-- next statement
INSERT INTO "auth_permission" VALUES(176,44,'view_unitresponse','Can view unit response')
-- next statement
INSERT INTO "auth_permission" VALUES(177,45,'add_endpoint','Can add endpoint')
-- next statement
INSERT INTO "auth_permission" VALUES(178,45,'change_endpoint','Can change endpoint')
-- next statement
INSERT INTO "auth_permission" VALUES(179,45,'delete_endpoint','Can delete endpoint')
-- next statement
INSERT INTO "auth_permission" VALUES(180,45,'view_endpoint','Can view endpoint')
-- next statement
INSERT INTO "auth_permission" VALUES(181,46,'add_stage','Can add stage')
-- next statement
INSERT INTO "auth_permission" VALUES(182,46,'change_stage','Can change stage')
-- next statement
INSERT INTO "auth_permission" VALUES(183,46,'delete_stage','Can delete stage')
-- next statement
INSERT INTO "auth_permission" VALUES(184,46,'view_stage','Can view stage')
-- next statement
INSERT INTO "auth_permission" VALUES(185,47,'add_group','Can add group')
-- next statement
INSERT INTO "auth_permission" VALUES(186,47,'change_group','Can change group')
-- next statement
INSERT INTO "auth_permission" VALUES(187,47,'delete_group','Can delete group')
-- next statement
INSERT INTO "auth_permission" VALUES(188,47,'view_group','Can view group')
-- next statement
INSERT INTO "auth_permission" VALUES(189,48,'add_worker','Can add worker')
-- next statement
INSERT INTO "auth_permission" VALUES(190,48,'change_worker','Can change worker')
-- next statement
INSERT INTO "auth_permission" VALUES(191,48,'delete_worker','Can delete worker')
-- next statement
INSERT INTO "auth_permission" VALUES(192,48,'view_worker','Can view worker')
-- next statement
INSERT INTO "auth_permission" VALUES(193,49,'add_hit','Can add hit')
-- next statement
INSERT INTO "auth_permission" VALUES(194,49,'change_hit','Can change hit')
-- next statement
INSERT INTO "auth_permission" VALUES(195,49,'delete_hit','Can delete hit')
-- next statement
INSERT INTO "auth_permission" VALUES(196,49,'view_hit','Can view hit')
-- next statement
INSERT INTO "auth_permission" VALUES(197,50,'add_assignment','Can add assignment')
-- next statement
INSERT INTO "auth_permission" VALUES(198,50,'change_assignment','Can change assignment')
-- next statement
INSERT INTO "auth_permission" VALUES(199,50,'delete_assignment','Can delete assignment')
-- next statement
INSERT INTO "auth_permission" VALUES(200,50,'view_assignment','Can view assignment')
-- next statement
INSERT INTO "auth_permission" VALUES(201,51,'add_marketoperation','Can add market operation')
-- next statement
INSERT INTO "auth_permission" VALUES(202,51,'change_marketoperation','Can change market operation')
-- next statement
INSERT INTO "auth_permission" VALUES(203,51,'delete_marketoperation','Can delete market operation')
-- next statement
INSERT INTO "auth_permission" VALUES(204,51,'view_marketoperation','Can view market operation')
-- next statement
INSERT INTO "auth_permission" VALUES(205,52,'add_ledgerentry','Can add ledger entry')
-- next statement
INSERT INTO "auth_permission" VALUES(206,52,'change_ledgerentry','Can change ledger entry')
-- next statement
INSERT INTO "auth_permission" VALUES(207,52,'delete_ledgerentry','Can delete ledger entry')
-- next statement
INSERT INTO "auth_permission" VALUES(208,52,'view_ledgerentry','Can view ledger entry')
-- next statement
INSERT INTO "auth_permission" VALUES(209,53,'add_exclusion','Can add exclusion')
-- next statement
INSERT INTO "auth_permission" VALUES(210,53,'change_exclusion','Can change exclusion')
-- next statement
INSERT INTO "auth_permission" VALUES(211,53,'delete_exclusion','Can delete exclusion')
-- next statement
INSERT INTO "auth_permission" VALUES(212,53,'view_exclusion','Can view exclusion')
-- next statement
INSERT INTO "auth_permission" VALUES(213,54,'add_claim','Can add claim')
-- next statement
INSERT INTO "auth_permission" VALUES(214,54,'change_claim','Can change claim')
-- next statement
INSERT INTO "auth_permission" VALUES(215,54,'delete_claim','Can delete claim')
-- next statement
INSERT INTO "auth_permission" VALUES(216,54,'view_claim','Can view claim')
-- next statement
INSERT INTO "auth_permission" VALUES(217,55,'add_hitunit','Can add hit unit')
-- next statement
INSERT INTO "auth_permission" VALUES(218,55,'change_hitunit','Can change hit unit')
-- next statement
INSERT INTO "auth_permission" VALUES(219,55,'delete_hitunit','Can delete hit unit')
-- next statement
INSERT INTO "auth_permission" VALUES(220,55,'view_hitunit','Can view hit unit')
-- next statement
INSERT INTO "auth_permission" VALUES(221,56,'add_recount','Can add recount')
-- next statement
INSERT INTO "auth_permission" VALUES(222,56,'change_recount','Can change recount')
-- next statement
INSERT INTO "auth_permission" VALUES(223,56,'delete_recount','Can delete recount')
-- next statement
INSERT INTO "auth_permission" VALUES(224,56,'view_recount','Can view recount')
-- next statement
INSERT INTO "auth_permission" VALUES(225,57,'add_endpointround','Can add endpoint round')
-- next statement
INSERT INTO "auth_permission" VALUES(226,57,'change_endpointround','Can change endpoint round')
-- next statement
INSERT INTO "auth_permission" VALUES(227,57,'delete_endpointround','Can delete endpoint round')
-- next statement
INSERT INTO "auth_permission" VALUES(228,57,'view_endpointround','Can view endpoint round')
-- next statement
INSERT INTO "auth_permission" VALUES(229,58,'add_dispatchepoch','Can add dispatch epoch')
-- next statement
INSERT INTO "auth_permission" VALUES(230,58,'change_dispatchepoch','Can change dispatch epoch')
-- next statement
INSERT INTO "auth_permission" VALUES(231,58,'delete_dispatchepoch','Can delete dispatch epoch')
-- next statement
INSERT INTO "auth_permission" VALUES(232,58,'view_dispatchepoch','Can view dispatch epoch')
-- next statement
INSERT INTO "auth_permission" VALUES(233,59,'add_dispatchhalt','Can add dispatch halt')
-- next statement
INSERT INTO "auth_permission" VALUES(234,59,'change_dispatchhalt','Can change dispatch halt')
-- next statement
INSERT INTO "auth_permission" VALUES(235,59,'delete_dispatchhalt','Can delete dispatch halt')
-- next statement
INSERT INTO "auth_permission" VALUES(236,59,'view_dispatchhalt','Can view dispatch halt')
-- next statement
INSERT INTO "auth_permission" VALUES(237,60,'add_panelstudy','Can add panel study')
-- next statement
INSERT INTO "auth_permission" VALUES(238,60,'change_panelstudy','Can change panel study')
-- next statement
INSERT INTO "auth_permission" VALUES(239,60,'delete_panelstudy','Can delete panel study')
-- next statement
INSERT INTO "auth_permission" VALUES(240,60,'view_panelstudy','Can view panel study')
-- next statement
INSERT INTO "auth_permission" VALUES(241,61,'add_panelsubmission','Can add panel submission')
-- next statement
INSERT INTO "auth_permission" VALUES(242,61,'change_panelsubmission','Can change panel submission')
-- next statement
INSERT INTO "auth_permission" VALUES(243,61,'delete_panelsubmission','Can delete panel submission')
-- next statement
INSERT INTO "auth_permission" VALUES(244,61,'view_panelsubmission','Can view panel submission')
-- next statement
INSERT INTO "auth_permission" VALUES(245,62,'add_panelhook','Can add panel hook')
-- next statement
INSERT INTO "auth_permission" VALUES(246,62,'change_panelhook','Can change panel hook')
-- next statement
INSERT INTO "auth_permission" VALUES(247,62,'delete_panelhook','Can delete panel hook')
-- next statement
INSERT INTO "auth_permission" VALUES(248,62,'view_panelhook','Can view panel hook')
-- next statement
INSERT INTO "auth_permission" VALUES(249,63,'add_panelmessage','Can add panel message')
-- next statement
INSERT INTO "auth_permission" VALUES(250,63,'change_panelmessage','Can change panel message')
-- next statement
INSERT INTO "auth_permission" VALUES(251,63,'delete_panelmessage','Can delete panel message')
-- next statement
INSERT INTO "auth_permission" VALUES(252,63,'view_panelmessage','Can view panel message')
-- next statement
INSERT INTO "auth_permission" VALUES(253,64,'add_personmatch','Can add person match')
-- next statement
INSERT INTO "auth_permission" VALUES(254,64,'change_personmatch','Can change person match')
-- next statement
INSERT INTO "auth_permission" VALUES(255,64,'delete_personmatch','Can delete person match')
-- next statement
INSERT INTO "auth_permission" VALUES(256,64,'view_personmatch','Can view person match')
-- next statement
INSERT INTO "auth_permission" VALUES(257,65,'add_stagesource','Can add stage source')
-- next statement
INSERT INTO "auth_permission" VALUES(258,65,'change_stagesource','Can change stage source')
-- next statement
INSERT INTO "auth_permission" VALUES(259,65,'delete_stagesource','Can delete stage source')
-- next statement
INSERT INTO "auth_permission" VALUES(260,65,'view_stagesource','Can view stage source')
-- next statement
INSERT INTO "auth_permission" VALUES(261,66,'add_workermark','Can add worker mark')
-- next statement
INSERT INTO "auth_permission" VALUES(262,66,'change_workermark','Can change worker mark')
-- next statement
INSERT INTO "auth_permission" VALUES(263,66,'delete_workermark','Can delete worker mark')
-- next statement
INSERT INTO "auth_permission" VALUES(264,66,'view_workermark','Can view worker mark')
-- next statement
INSERT INTO "auth_permission" VALUES(265,67,'add_compensation','Can add compensation')
-- next statement
INSERT INTO "auth_permission" VALUES(266,67,'change_compensation','Can change compensation')
-- next statement
INSERT INTO "auth_permission" VALUES(267,67,'delete_compensation','Can delete compensation')
-- next statement
INSERT INTO "auth_permission" VALUES(268,67,'view_compensation','Can view compensation')
-- next statement
INSERT INTO "auth_permission" VALUES(269,68,'add_endpointspender','Can add endpoint spender')
-- next statement
INSERT INTO "auth_permission" VALUES(270,68,'change_endpointspender','Can change endpoint spender')
-- next statement
INSERT INTO "auth_permission" VALUES(271,68,'delete_endpointspender','Can delete endpoint spender')
-- next statement
INSERT INTO "auth_permission" VALUES(272,68,'view_endpointspender','Can view endpoint spender')
-- next statement
INSERT INTO "auth_permission" VALUES(273,69,'add_instructions','Can add instructions')
-- next statement
INSERT INTO "auth_permission" VALUES(274,69,'change_instructions','Can change instructions')
-- next statement
INSERT INTO "auth_permission" VALUES(275,69,'delete_instructions','Can delete instructions')
-- next statement
INSERT INTO "auth_permission" VALUES(276,69,'view_instructions','Can view instructions')
-- next statement
INSERT INTO "auth_permission" VALUES(277,70,'add_picture','Can add picture')
-- next statement
INSERT INTO "auth_permission" VALUES(278,70,'change_picture','Can change picture')
-- next statement
INSERT INTO "auth_permission" VALUES(279,70,'delete_picture','Can delete picture')
-- next statement
INSERT INTO "auth_permission" VALUES(280,70,'view_picture','Can view picture')
-- next statement
INSERT INTO "auth_permission" VALUES(281,71,'add_corpus','Can add corpus')
-- next statement
INSERT INTO "auth_permission" VALUES(282,71,'change_corpus','Can change corpus')
-- next statement
INSERT INTO "auth_permission" VALUES(283,71,'delete_corpus','Can delete corpus')
-- next statement
INSERT INTO "auth_permission" VALUES(284,71,'view_corpus','Can view corpus')
-- next statement
INSERT INTO "auth_permission" VALUES(285,72,'add_index','Can add index')
-- next statement
INSERT INTO "auth_permission" VALUES(286,72,'change_index','Can change index')
-- next statement
INSERT INTO "auth_permission" VALUES(287,72,'delete_index','Can delete index')
-- next statement
INSERT INTO "auth_permission" VALUES(288,72,'view_index','Can view index')
-- next statement
INSERT INTO "auth_permission" VALUES(289,73,'add_passage','Can add passage')
-- next statement
INSERT INTO "auth_permission" VALUES(290,73,'change_passage','Can change passage')
-- next statement
INSERT INTO "auth_permission" VALUES(291,73,'delete_passage','Can delete passage')
-- next statement
INSERT INTO "auth_permission" VALUES(292,73,'view_passage','Can view passage')
-- next statement
INSERT INTO "auth_permission" VALUES(293,74,'add_wordnetwork','Can add word network')
-- next statement
INSERT INTO "auth_permission" VALUES(294,74,'change_wordnetwork','Can change word network')
-- next statement
INSERT INTO "auth_permission" VALUES(295,74,'delete_wordnetwork','Can delete word network')
-- next statement
INSERT INTO "auth_permission" VALUES(296,74,'view_wordnetwork','Can view word network')
-- next statement
INSERT INTO "auth_permission" VALUES(297,75,'add_consenttext','Can add consent text')
-- next statement
INSERT INTO "auth_permission" VALUES(298,75,'change_consenttext','Can change consent text')
-- next statement
INSERT INTO "auth_permission" VALUES(299,75,'delete_consenttext','Can delete consent text')
-- next statement
INSERT INTO "auth_permission" VALUES(300,75,'view_consenttext','Can view consent text')
-- next statement
INSERT INTO "auth_permission" VALUES(301,76,'add_guest','Can add guest')
-- next statement
INSERT INTO "auth_permission" VALUES(302,76,'change_guest','Can change guest')
-- next statement
INSERT INTO "auth_permission" VALUES(303,76,'delete_guest','Can delete guest')
-- next statement
INSERT INTO "auth_permission" VALUES(304,76,'view_guest','Can view guest')
-- next statement
INSERT INTO "auth_permission" VALUES(305,77,'add_studylink','Can add study link')
-- next statement
INSERT INTO "auth_permission" VALUES(306,77,'change_studylink','Can change study link')
-- next statement
INSERT INTO "auth_permission" VALUES(307,77,'delete_studylink','Can delete study link')
-- next statement
INSERT INTO "auth_permission" VALUES(308,77,'view_studylink','Can view study link')
-- next statement
INSERT INTO "auth_permission" VALUES(309,78,'add_rosterrow','Can add roster row')
-- next statement
INSERT INTO "auth_permission" VALUES(310,78,'change_rosterrow','Can change roster row')
-- next statement
INSERT INTO "auth_permission" VALUES(311,78,'delete_rosterrow','Can delete roster row')
-- next statement
INSERT INTO "auth_permission" VALUES(312,78,'view_rosterrow','Can view roster row')
-- next statement
INSERT INTO "auth_permission" VALUES(313,79,'add_visit','Can add visit')
-- next statement
INSERT INTO "auth_permission" VALUES(314,79,'change_visit','Can change visit')
-- next statement
INSERT INTO "auth_permission" VALUES(315,79,'delete_visit','Can delete visit')
-- next statement
INSERT INTO "auth_permission" VALUES(316,79,'view_visit','Can view visit')
-- next statement
INSERT INTO "auth_permission" VALUES(317,80,'add_notice','Can add notice')
-- next statement
INSERT INTO "auth_permission" VALUES(318,80,'change_notice','Can change notice')
-- next statement
INSERT INTO "auth_permission" VALUES(319,80,'delete_notice','Can delete notice')
-- next statement
INSERT INTO "auth_permission" VALUES(320,80,'view_notice','Can view notice')
-- next statement
INSERT INTO "auth_permission" VALUES(321,81,'add_letter','Can add letter')
-- next statement
INSERT INTO "auth_permission" VALUES(322,81,'change_letter','Can change letter')
-- next statement
INSERT INTO "auth_permission" VALUES(323,81,'delete_letter','Can delete letter')
-- next statement
INSERT INTO "auth_permission" VALUES(324,81,'view_letter','Can view letter')
-- next statement
INSERT INTO "auth_permission" VALUES(325,82,'add_wish','Can add wish')
-- next statement
INSERT INTO "auth_permission" VALUES(326,82,'change_wish','Can change wish')
-- next statement
INSERT INTO "auth_permission" VALUES(327,82,'delete_wish','Can delete wish')
-- next statement
INSERT INTO "auth_permission" VALUES(328,82,'view_wish','Can view wish')
-- next statement
INSERT INTO "auth_permission" VALUES(329,83,'add_noticereading','Can add notice reading')
-- next statement
INSERT INTO "auth_permission" VALUES(330,83,'change_noticereading','Can change notice reading')
-- next statement
INSERT INTO "auth_permission" VALUES(331,83,'delete_noticereading','Can delete notice reading')
-- next statement
INSERT INTO "auth_permission" VALUES(332,83,'view_noticereading','Can view notice reading')
-- next statement
INSERT INTO "auth_permission" VALUES(333,84,'add_apitoken','Can add api token')
-- next statement
INSERT INTO "auth_permission" VALUES(334,84,'change_apitoken','Can change api token')
-- next statement
INSERT INTO "auth_permission" VALUES(335,84,'delete_apitoken','Can delete api token')
-- next statement
INSERT INTO "auth_permission" VALUES(336,84,'view_apitoken','Can view api token')
-- next statement
INSERT INTO "auth_permission" VALUES(337,85,'add_idempotencyrecord','Can add idempotency record')
-- next statement
INSERT INTO "auth_permission" VALUES(338,85,'change_idempotencyrecord','Can change idempotency record')
-- next statement
INSERT INTO "auth_permission" VALUES(339,85,'delete_idempotencyrecord','Can delete idempotency record')
-- next statement
INSERT INTO "auth_permission" VALUES(340,85,'view_idempotencyrecord','Can view idempotency record')
-- next statement
INSERT INTO "auth_permission" VALUES(341,86,'add_project','Can add project')
-- next statement
INSERT INTO "auth_permission" VALUES(342,86,'change_project','Can change project')
-- next statement
INSERT INTO "auth_permission" VALUES(343,86,'delete_project','Can delete project')
-- next statement
INSERT INTO "auth_permission" VALUES(344,86,'view_project','Can view project')
-- next statement
INSERT INTO "auth_permission" VALUES(345,87,'add_membership','Can add membership')
-- next statement
INSERT INTO "auth_permission" VALUES(346,87,'change_membership','Can change membership')
-- next statement
INSERT INTO "auth_permission" VALUES(347,87,'delete_membership','Can delete membership')
-- next statement
INSERT INTO "auth_permission" VALUES(348,87,'view_membership','Can view membership')
-- next statement
INSERT INTO "auth_permission" VALUES(349,88,'add_event','Can add event')
-- next statement
INSERT INTO "auth_permission" VALUES(350,88,'change_event','Can change event')
-- next statement
INSERT INTO "auth_permission" VALUES(351,88,'delete_event','Can delete event')
-- next statement
INSERT INTO "auth_permission" VALUES(352,88,'view_event','Can view event')
-- next statement
INSERT INTO "auth_permission" VALUES(353,89,'add_webhook','Can add webhook')
-- next statement
INSERT INTO "auth_permission" VALUES(354,89,'change_webhook','Can change webhook')
-- next statement
INSERT INTO "auth_permission" VALUES(355,89,'delete_webhook','Can delete webhook')
-- next statement
INSERT INTO "auth_permission" VALUES(356,89,'view_webhook','Can view webhook')
-- next statement
INSERT INTO "auth_permission" VALUES(357,90,'add_webhookmark','Can add webhook mark')
-- next statement
INSERT INTO "auth_permission" VALUES(358,90,'change_webhookmark','Can change webhook mark')
-- next statement
INSERT INTO "auth_permission" VALUES(359,90,'delete_webhookmark','Can delete webhook mark')
-- next statement
INSERT INTO "auth_permission" VALUES(360,90,'view_webhookmark','Can view webhook mark')
-- next statement
INSERT INTO "auth_permission" VALUES(361,91,'add_webhookmessage','Can add webhook message')
-- next statement
INSERT INTO "auth_permission" VALUES(362,91,'change_webhookmessage','Can change webhook message')
-- next statement
INSERT INTO "auth_permission" VALUES(363,91,'delete_webhookmessage','Can delete webhook message')
-- next statement
INSERT INTO "auth_permission" VALUES(364,91,'view_webhookmessage','Can view webhook message')
-- next statement
INSERT INTO "auth_permission" VALUES(365,92,'add_webhookattempt','Can add webhook attempt')
-- next statement
INSERT INTO "auth_permission" VALUES(366,92,'change_webhookattempt','Can change webhook attempt')
-- next statement
INSERT INTO "auth_permission" VALUES(367,92,'delete_webhookattempt','Can delete webhook attempt')
-- next statement
INSERT INTO "auth_permission" VALUES(368,92,'view_webhookattempt','Can view webhook attempt')
-- next statement
INSERT INTO "auth_permission" VALUES(369,93,'add_auditprogress','Can add audit progress')
-- next statement
INSERT INTO "auth_permission" VALUES(370,93,'change_auditprogress','Can change audit progress')
-- next statement
INSERT INTO "auth_permission" VALUES(371,93,'delete_auditprogress','Can delete audit progress')
-- next statement
INSERT INTO "auth_permission" VALUES(372,93,'view_auditprogress','Can view audit progress')
-- next statement
INSERT INTO "auth_permission" VALUES(373,94,'add_auditchain','Can add audit chain')
-- next statement
INSERT INTO "auth_permission" VALUES(374,94,'change_auditchain','Can change audit chain')
-- next statement
INSERT INTO "auth_permission" VALUES(375,94,'delete_auditchain','Can delete audit chain')
-- next statement
INSERT INTO "auth_permission" VALUES(376,94,'view_auditchain','Can view audit chain')
-- next statement
INSERT INTO "auth_permission" VALUES(377,95,'add_auditcheckpoint','Can add audit checkpoint')
-- next statement
INSERT INTO "auth_permission" VALUES(378,95,'change_auditcheckpoint','Can change audit checkpoint')
-- next statement
INSERT INTO "auth_permission" VALUES(379,95,'delete_auditcheckpoint','Can delete audit checkpoint')
-- next statement
INSERT INTO "auth_permission" VALUES(380,95,'view_auditcheckpoint','Can view audit checkpoint')
-- next statement
INSERT INTO "auth_permission" VALUES(381,96,'add_auditlink','Can add audit link')
-- next statement
INSERT INTO "auth_permission" VALUES(382,96,'change_auditlink','Can change audit link')
-- next statement
INSERT INTO "auth_permission" VALUES(383,96,'delete_auditlink','Can delete audit link')
-- next statement
INSERT INTO "auth_permission" VALUES(384,96,'view_auditlink','Can view audit link')
-- next statement
INSERT INTO "auth_permission" VALUES(385,97,'add_testclock','Can add test clock')
-- next statement
INSERT INTO "auth_permission" VALUES(386,97,'change_testclock','Can change test clock')
-- next statement
INSERT INTO "auth_permission" VALUES(387,97,'delete_testclock','Can delete test clock')
-- next statement
INSERT INTO "auth_permission" VALUES(388,97,'view_testclock','Can view test clock')
-- next statement
INSERT INTO "auth_permission" VALUES(389,98,'add_invitation','Can add invitation')
-- next statement
INSERT INTO "auth_permission" VALUES(390,98,'change_invitation','Can change invitation')
-- next statement
INSERT INTO "auth_permission" VALUES(391,98,'delete_invitation','Can delete invitation')
-- next statement
INSERT INTO "auth_permission" VALUES(392,98,'view_invitation','Can view invitation')
-- next statement
INSERT INTO "auth_permission" VALUES(393,99,'add_requester','Can add requester')
-- next statement
INSERT INTO "auth_permission" VALUES(394,99,'change_requester','Can change requester')
-- next statement
INSERT INTO "auth_permission" VALUES(395,99,'delete_requester','Can delete requester')
-- next statement
INSERT INTO "auth_permission" VALUES(396,99,'view_requester','Can view requester')
-- next statement
INSERT INTO "auth_permission" VALUES(397,100,'add_hittype','Can add hit type')
-- next statement
INSERT INTO "auth_permission" VALUES(398,100,'change_hittype','Can change hit type')
-- next statement
INSERT INTO "auth_permission" VALUES(399,100,'delete_hittype','Can delete hit type')
-- next statement
INSERT INTO "auth_permission" VALUES(400,100,'view_hittype','Can view hit type')
-- next statement
INSERT INTO "auth_permission" VALUES(401,101,'add_hit','Can add hit')
-- next statement
INSERT INTO "auth_permission" VALUES(402,101,'change_hit','Can change hit')
-- next statement
INSERT INTO "auth_permission" VALUES(403,101,'delete_hit','Can delete hit')
-- next statement
INSERT INTO "auth_permission" VALUES(404,101,'view_hit','Can view hit')
-- next statement
INSERT INTO "auth_permission" VALUES(405,102,'add_place','Can add place')
-- next statement
INSERT INTO "auth_permission" VALUES(406,102,'change_place','Can change place')
-- next statement
INSERT INTO "auth_permission" VALUES(407,102,'delete_place','Can delete place')
-- next statement
INSERT INTO "auth_permission" VALUES(408,102,'view_place','Can view place')
-- next statement
INSERT INTO "auth_permission" VALUES(409,103,'add_qualificationtype','Can add qualification type')
-- next statement
INSERT INTO "auth_permission" VALUES(410,103,'change_qualificationtype','Can change qualification type')
-- next statement
INSERT INTO "auth_permission" VALUES(411,103,'delete_qualificationtype','Can delete qualification type')
-- next statement
INSERT INTO "auth_permission" VALUES(412,103,'view_qualificationtype','Can view qualification type')
-- next statement
INSERT INTO "auth_permission" VALUES(413,104,'add_chaos','Can add chaos')
-- next statement
INSERT INTO "auth_permission" VALUES(414,104,'change_chaos','Can change chaos')
-- next statement
INSERT INTO "auth_permission" VALUES(415,104,'delete_chaos','Can delete chaos')
-- next statement
INSERT INTO "auth_permission" VALUES(416,104,'view_chaos','Can view chaos')
-- next statement
INSERT INTO "auth_permission" VALUES(417,105,'add_calllog','Can add call log')
-- next statement
INSERT INTO "auth_permission" VALUES(418,105,'change_calllog','Can change call log')
-- next statement
INSERT INTO "auth_permission" VALUES(419,105,'delete_calllog','Can delete call log')
-- next statement
INSERT INTO "auth_permission" VALUES(420,105,'view_calllog','Can view call log')
-- next statement
INSERT INTO "auth_permission" VALUES(421,106,'add_tokenuse','Can add token use')
-- next statement
INSERT INTO "auth_permission" VALUES(422,106,'change_tokenuse','Can change token use')
-- next statement
INSERT INTO "auth_permission" VALUES(423,106,'delete_tokenuse','Can delete token use')
-- next statement
INSERT INTO "auth_permission" VALUES(424,106,'view_tokenuse','Can view token use')
-- next statement
INSERT INTO "auth_permission" VALUES(425,107,'add_worker','Can add worker')
-- next statement
INSERT INTO "auth_permission" VALUES(426,107,'change_worker','Can change worker')
-- next statement
INSERT INTO "auth_permission" VALUES(427,107,'delete_worker','Can delete worker')
-- next statement
INSERT INTO "auth_permission" VALUES(428,107,'view_worker','Can view worker')
-- next statement
INSERT INTO "auth_permission" VALUES(429,108,'add_holding','Can add holding')
-- next statement
INSERT INTO "auth_permission" VALUES(430,108,'change_holding','Can change holding')
-- next statement
INSERT INTO "auth_permission" VALUES(431,108,'delete_holding','Can delete holding')
-- next statement
INSERT INTO "auth_permission" VALUES(432,108,'view_holding','Can view holding')
-- next statement
INSERT INTO "auth_permission" VALUES(433,109,'add_qualificationgrant','Can add qualification grant')
-- next statement
INSERT INTO "auth_permission" VALUES(434,109,'change_qualificationgrant','Can change qualification grant')
-- next statement
INSERT INTO "auth_permission" VALUES(435,109,'delete_qualificationgrant','Can delete qualification grant')
-- next statement
INSERT INTO "auth_permission" VALUES(436,109,'view_qualificationgrant','Can view qualification grant')
-- next statement
INSERT INTO "auth_permission" VALUES(437,110,'add_message','Can add message')
-- next statement
INSERT INTO "auth_permission" VALUES(438,110,'change_message','Can change message')
-- next statement
INSERT INTO "auth_permission" VALUES(439,110,'delete_message','Can delete message')
-- next statement
INSERT INTO "auth_permission" VALUES(440,110,'view_message','Can view message')
-- next statement
INSERT INTO "auth_permission" VALUES(441,111,'add_ledgerentry','Can add ledger entry')
-- next statement
INSERT INTO "auth_permission" VALUES(442,111,'change_ledgerentry','Can change ledger entry')
-- next statement
INSERT INTO "auth_permission" VALUES(443,111,'delete_ledgerentry','Can delete ledger entry')
-- next statement
INSERT INTO "auth_permission" VALUES(444,111,'view_ledgerentry','Can view ledger entry')
-- next statement
INSERT INTO "auth_permission" VALUES(445,112,'add_bonus','Can add bonus')
-- next statement
INSERT INTO "auth_permission" VALUES(446,112,'change_bonus','Can change bonus')
-- next statement
INSERT INTO "auth_permission" VALUES(447,112,'delete_bonus','Can delete bonus')
-- next statement
INSERT INTO "auth_permission" VALUES(448,112,'view_bonus','Can view bonus')
-- next statement
INSERT INTO "auth_permission" VALUES(449,113,'add_block','Can add block')
-- next statement
INSERT INTO "auth_permission" VALUES(450,113,'change_block','Can change block')
-- next statement
INSERT INTO "auth_permission" VALUES(451,113,'delete_block','Can delete block')
-- next statement
INSERT INTO "auth_permission" VALUES(452,113,'view_block','Can view block')
-- next statement
INSERT INTO "auth_permission" VALUES(453,114,'add_accesskey','Can add access key')
-- next statement
INSERT INTO "auth_permission" VALUES(454,114,'change_accesskey','Can change access key')
-- next statement
INSERT INTO "auth_permission" VALUES(455,114,'delete_accesskey','Can delete access key')
-- next statement
INSERT INTO "auth_permission" VALUES(456,114,'view_accesskey','Can view access key')
-- next statement
INSERT INTO "auth_permission" VALUES(457,115,'add_batch','Can add batch')
-- next statement
INSERT INTO "auth_permission" VALUES(458,115,'change_batch','Can change batch')
-- next statement
INSERT INTO "auth_permission" VALUES(459,115,'delete_batch','Can delete batch')
-- next statement
INSERT INTO "auth_permission" VALUES(460,115,'view_batch','Can view batch')
-- next statement
INSERT INTO "auth_permission" VALUES(461,116,'add_batchtask','Can add batch task')
-- next statement
INSERT INTO "auth_permission" VALUES(462,116,'change_batchtask','Can change batch task')
-- next statement
INSERT INTO "auth_permission" VALUES(463,116,'delete_batchtask','Can delete batch task')
-- next statement
INSERT INTO "auth_permission" VALUES(464,116,'view_batchtask','Can view batch task')
-- next statement
INSERT INTO "auth_permission" VALUES(465,117,'add_deposit','Can add deposit')
-- next statement
INSERT INTO "auth_permission" VALUES(466,117,'change_deposit','Can change deposit')
-- next statement
INSERT INTO "auth_permission" VALUES(467,117,'delete_deposit','Can delete deposit')
-- next statement
INSERT INTO "auth_permission" VALUES(468,117,'view_deposit','Can view deposit')
-- next statement
INSERT INTO "auth_permission" VALUES(469,118,'add_invoice','Can add invoice')
-- next statement
INSERT INTO "auth_permission" VALUES(470,118,'change_invoice','Can change invoice')
-- next statement
INSERT INTO "auth_permission" VALUES(471,118,'delete_invoice','Can delete invoice')
-- next statement
INSERT INTO "auth_permission" VALUES(472,118,'view_invoice','Can view invoice')
-- next statement
INSERT INTO "auth_permission" VALUES(473,119,'add_letter','Can add letter')
-- next statement
INSERT INTO "auth_permission" VALUES(474,119,'change_letter','Can change letter')
-- next statement
INSERT INTO "auth_permission" VALUES(475,119,'delete_letter','Can delete letter')
-- next statement
INSERT INTO "auth_permission" VALUES(476,119,'view_letter','Can view letter')
-- next statement
INSERT INTO "auth_permission" VALUES(477,120,'add_payable','Can add payable')
-- next statement
INSERT INTO "auth_permission" VALUES(478,120,'change_payable','Can change payable')
-- next statement
INSERT INTO "auth_permission" VALUES(479,120,'delete_payable','Can delete payable')
-- next statement
INSERT INTO "auth_permission" VALUES(480,120,'view_payable','Can view payable')
-- next statement
INSERT INTO "auth_permission" VALUES(481,121,'add_policyaction','Can add policy action')
-- next statement
INSERT INTO "auth_permission" VALUES(482,121,'change_policyaction','Can change policy action')
-- next statement
INSERT INTO "auth_permission" VALUES(483,121,'delete_policyaction','Can delete policy action')
-- next statement
INSERT INTO "auth_permission" VALUES(484,121,'view_policyaction','Can view policy action')
-- next statement
INSERT INTO "auth_permission" VALUES(485,122,'add_policyresult','Can add policy result')
-- next statement
INSERT INTO "auth_permission" VALUES(486,122,'change_policyresult','Can change policy result')
-- next statement
INSERT INTO "auth_permission" VALUES(487,122,'delete_policyresult','Can delete policy result')
-- next statement
INSERT INTO "auth_permission" VALUES(488,122,'view_policyresult','Can view policy result')
-- next statement
INSERT INTO "auth_permission" VALUES(489,123,'add_qualificationrequest','Can add qualification request')
-- next statement
INSERT INTO "auth_permission" VALUES(490,123,'change_qualificationrequest','Can change qualification request')
-- next statement
INSERT INTO "auth_permission" VALUES(491,123,'delete_qualificationrequest','Can delete qualification request')
-- next statement
INSERT INTO "auth_permission" VALUES(492,123,'view_qualificationrequest','Can view qualification request')
-- next statement
INSERT INTO "auth_permission" VALUES(493,124,'add_queue','Can add queue')
-- next statement
INSERT INTO "auth_permission" VALUES(494,124,'change_queue','Can change queue')
-- next statement
INSERT INTO "auth_permission" VALUES(495,124,'delete_queue','Can delete queue')
-- next statement
INSERT INTO "auth_permission" VALUES(496,124,'view_queue','Can view queue')
-- next statement
INSERT INTO "auth_permission" VALUES(497,125,'add_queuedevent','Can add queued event')
-- next statement
INSERT INTO "auth_permission" VALUES(498,125,'change_queuedevent','Can change queued event')
-- next statement
INSERT INTO "auth_permission" VALUES(499,125,'delete_queuedevent','Can delete queued event')
-- next statement
INSERT INTO "auth_permission" VALUES(500,125,'view_queuedevent','Can view queued event')
-- next statement
INSERT INTO "auth_permission" VALUES(501,126,'add_rating','Can add rating')
-- next statement
INSERT INTO "auth_permission" VALUES(502,126,'change_rating','Can change rating')
-- next statement
INSERT INTO "auth_permission" VALUES(503,126,'delete_rating','Can delete rating')
-- next statement
INSERT INTO "auth_permission" VALUES(504,126,'view_rating','Can view rating')
-- next statement
INSERT INTO "auth_permission" VALUES(505,127,'add_template','Can add template')
-- next statement
INSERT INTO "auth_permission" VALUES(506,127,'change_template','Can change template')
-- next statement
INSERT INTO "auth_permission" VALUES(507,127,'delete_template','Can delete template')
-- next statement
INSERT INTO "auth_permission" VALUES(508,127,'view_template','Can view template')
-- next statement
INSERT INTO "auth_permission" VALUES(509,128,'add_activity','Can add activity')
-- next statement
INSERT INTO "auth_permission" VALUES(510,128,'change_activity','Can change activity')
-- next statement
INSERT INTO "auth_permission" VALUES(511,128,'delete_activity','Can delete activity')
-- next statement
INSERT INTO "auth_permission" VALUES(512,128,'view_activity','Can view activity')
-- next statement
INSERT INTO "auth_permission" VALUES(513,129,'add_refusedcalls','Can add refused calls')
-- next statement
INSERT INTO "auth_permission" VALUES(514,129,'change_refusedcalls','Can change refused calls')
-- next statement
INSERT INTO "auth_permission" VALUES(515,129,'delete_refusedcalls','Can delete refused calls')
-- next statement
INSERT INTO "auth_permission" VALUES(516,129,'view_refusedcalls','Can view refused calls')
-- next statement
INSERT INTO "auth_permission" VALUES(517,130,'add_signedwrite','Can add signed write')
-- next statement
INSERT INTO "auth_permission" VALUES(518,130,'change_signedwrite','Can change signed write')
-- next statement
INSERT INTO "auth_permission" VALUES(519,130,'delete_signedwrite','Can delete signed write')
-- next statement
INSERT INTO "auth_permission" VALUES(520,130,'view_signedwrite','Can view signed write')
-- next statement
INSERT INTO "auth_permission" VALUES(521,131,'add_keyalert','Can add key alert')
-- next statement
INSERT INTO "auth_permission" VALUES(522,131,'change_keyalert','Can change key alert')
-- next statement
INSERT INTO "auth_permission" VALUES(523,131,'delete_keyalert','Can delete key alert')
-- next statement
INSERT INTO "auth_permission" VALUES(524,131,'view_keyalert','Can view key alert')
-- next statement
INSERT INTO "auth_permission" VALUES(525,132,'add_payeedetails','Can add payee details')
-- next statement
INSERT INTO "auth_permission" VALUES(526,132,'change_payeedetails','Can change payee details')
-- next statement
INSERT INTO "auth_permission" VALUES(527,132,'delete_payeedetails','Can delete payee details')
-- next statement
INSERT INTO "auth_permission" VALUES(528,132,'view_payeedetails','Can view payee details')
-- next statement
INSERT INTO "auth_permission" VALUES(529,133,'add_payout','Can add payout')
-- next statement
INSERT INTO "auth_permission" VALUES(530,133,'change_payout','Can change payout')
-- next statement
INSERT INTO "auth_permission" VALUES(531,133,'delete_payout','Can delete payout')
-- next statement
INSERT INTO "auth_permission" VALUES(532,133,'view_payout','Can view payout')
-- next statement
INSERT INTO "auth_permission" VALUES(533,134,'add_payoutline','Can add payout line')
-- next statement
INSERT INTO "auth_permission" VALUES(534,134,'change_payoutline','Can change payout line')
-- next statement
INSERT INTO "auth_permission" VALUES(535,134,'delete_payoutline','Can delete payout line')
-- next statement
INSERT INTO "auth_permission" VALUES(536,134,'view_payoutline','Can view payout line')
-- next statement
INSERT INTO "auth_permission" VALUES(537,135,'add_payoutpart','Can add payout part')
-- next statement
INSERT INTO "auth_permission" VALUES(538,135,'change_payoutpart','Can change payout part')
-- next statement
INSERT INTO "auth_permission" VALUES(539,135,'delete_payoutpart','Can delete payout part')
-- next statement
INSERT INTO "auth_permission" VALUES(540,135,'view_payoutpart','Can view payout part')
-- next statement
INSERT INTO "auth_permission" VALUES(541,136,'add_yearlylimit','Can add yearly limit')
-- next statement
INSERT INTO "auth_permission" VALUES(542,136,'change_yearlylimit','Can change yearly limit')
-- next statement
INSERT INTO "auth_permission" VALUES(543,136,'delete_yearlylimit','Can delete yearly limit')
-- next statement
INSERT INTO "auth_permission" VALUES(544,136,'view_yearlylimit','Can view yearly limit')
-- next statement
INSERT INTO "auth_permission" VALUES(545,137,'add_countrychange','Can add country change')
-- next statement
INSERT INTO "auth_permission" VALUES(546,137,'change_countrychange','Can change country change')
-- next statement
INSERT INTO "auth_permission" VALUES(547,137,'delete_countrychange','Can delete country change')
-- next statement
INSERT INTO "auth_permission" VALUES(548,137,'view_countrychange','Can view country change')
-- next statement
INSERT INTO "auth_permission" VALUES(549,138,'add_contact','Can add contact')
-- next statement
INSERT INTO "auth_permission" VALUES(550,138,'change_contact','Can change contact')
-- next statement
INSERT INTO "auth_permission" VALUES(551,138,'delete_contact','Can delete contact')
-- next statement
INSERT INTO "auth_permission" VALUES(552,138,'view_contact','Can view contact')
-- next statement
INSERT INTO "auth_permission" VALUES(553,139,'add_likeness','Can add likeness')
-- next statement
INSERT INTO "auth_permission" VALUES(554,139,'change_likeness','Can change likeness')
-- next statement
INSERT INTO "auth_permission" VALUES(555,139,'delete_likeness','Can delete likeness')
-- next statement
INSERT INTO "auth_permission" VALUES(556,139,'view_likeness','Can view likeness')
-- next statement
INSERT INTO "auth_permission" VALUES(557,140,'add_workertrace','Can add worker trace')
-- next statement
INSERT INTO "auth_permission" VALUES(558,140,'change_workertrace','Can change worker trace')
-- next statement
INSERT INTO "auth_permission" VALUES(559,140,'delete_workertrace','Can delete worker trace')
-- next statement
INSERT INTO "auth_permission" VALUES(560,140,'view_workertrace','Can view worker trace')
-- next statement
INSERT INTO "auth_permission" VALUES(561,141,'add_worktrace','Can add work trace')
-- next statement
INSERT INTO "auth_permission" VALUES(562,141,'change_worktrace','Can change work trace')
-- next statement
INSERT INTO "auth_permission" VALUES(563,141,'delete_worktrace','Can delete work trace')
-- next statement
INSERT INTO "auth_permission" VALUES(564,141,'view_worktrace','Can view work trace')
-- next statement
INSERT INTO "auth_permission" VALUES(565,142,'add_batchextension','Can add batch extension')
-- next statement
INSERT INTO "auth_permission" VALUES(566,142,'change_batchextension','Can change batch extension')
-- next statement
INSERT INTO "auth_permission" VALUES(567,142,'delete_batchextension','Can delete batch extension')
-- next statement
INSERT INTO "auth_permission" VALUES(568,142,'view_batchextension','Can view batch extension')
-- next statement
INSERT INTO "auth_permission" VALUES(569,143,'add_workerfile','Can add worker file')
-- next statement
INSERT INTO "auth_permission" VALUES(570,143,'change_workerfile','Can change worker file')
-- next statement
INSERT INTO "auth_permission" VALUES(571,143,'delete_workerfile','Can delete worker file')
-- next statement
INSERT INTO "auth_permission" VALUES(572,143,'view_workerfile','Can view worker file')
-- next statement
INSERT INTO "auth_permission" VALUES(573,144,'add_workerfileline','Can add worker file line')
-- next statement
INSERT INTO "auth_permission" VALUES(574,144,'change_workerfileline','Can change worker file line')
-- next statement
INSERT INTO "auth_permission" VALUES(575,144,'delete_workerfileline','Can delete worker file line')
-- next statement
INSERT INTO "auth_permission" VALUES(576,144,'view_workerfileline','Can view worker file line')
-- next statement
INSERT INTO "auth_permission" VALUES(577,145,'add_requestermember','Can add requester member')
-- next statement
INSERT INTO "auth_permission" VALUES(578,145,'change_requestermember','Can change requester member')
-- next statement
INSERT INTO "auth_permission" VALUES(579,145,'delete_requestermember','Can delete requester member')
-- next statement
INSERT INTO "auth_permission" VALUES(580,145,'view_requestermember','Can view requester member')
-- next statement
INSERT INTO "auth_permission" VALUES(581,146,'add_signingkey','Can add signing key')
-- next statement
INSERT INTO "auth_permission" VALUES(582,146,'change_signingkey','Can change signing key')
-- next statement
INSERT INTO "auth_permission" VALUES(583,146,'delete_signingkey','Can delete signing key')
-- next statement
INSERT INTO "auth_permission" VALUES(584,146,'view_signingkey','Can view signing key')
-- next statement
INSERT INTO "auth_permission" VALUES(585,147,'add_topic','Can add topic')
-- next statement
INSERT INTO "auth_permission" VALUES(586,147,'change_topic','Can change topic')
-- next statement
INSERT INTO "auth_permission" VALUES(587,147,'delete_topic','Can delete topic')
-- next statement
INSERT INTO "auth_permission" VALUES(588,147,'view_topic','Can view topic')
-- next statement
INSERT INTO "auth_permission" VALUES(589,148,'add_subscription','Can add subscription')
-- next statement
INSERT INTO "auth_permission" VALUES(590,148,'change_subscription','Can change subscription')
-- next statement
INSERT INTO "auth_permission" VALUES(591,148,'delete_subscription','Can delete subscription')
-- next statement
INSERT INTO "auth_permission" VALUES(592,148,'view_subscription','Can view subscription')
-- next statement
INSERT INTO "auth_permission" VALUES(593,149,'add_topicdelivery','Can add topic delivery')
-- next statement
INSERT INTO "auth_permission" VALUES(594,149,'change_topicdelivery','Can change topic delivery')
-- next statement
INSERT INTO "auth_permission" VALUES(595,149,'delete_topicdelivery','Can delete topic delivery')
-- next statement
INSERT INTO "auth_permission" VALUES(596,149,'view_topicdelivery','Can view topic delivery')
-- next statement
INSERT INTO "auth_permission" VALUES(597,150,'add_uploadedfile','Can add uploaded file')
-- next statement
INSERT INTO "auth_permission" VALUES(598,150,'change_uploadedfile','Can change uploaded file')
-- next statement
INSERT INTO "auth_permission" VALUES(599,150,'delete_uploadedfile','Can delete uploaded file')
-- next statement
INSERT INTO "auth_permission" VALUES(600,150,'view_uploadedfile','Can view uploaded file')
-- next statement
INSERT INTO "auth_permission" VALUES(601,151,'add_pagestorage','Can add page storage')
-- next statement
INSERT INTO "auth_permission" VALUES(602,151,'change_pagestorage','Can change page storage')
-- next statement
INSERT INTO "auth_permission" VALUES(603,151,'delete_pagestorage','Can delete page storage')
-- next statement
INSERT INTO "auth_permission" VALUES(604,151,'view_pagestorage','Can view page storage')
-- next statement
INSERT INTO "auth_permission" VALUES(605,152,'add_formeridclaim','Can add former id claim')
-- next statement
INSERT INTO "auth_permission" VALUES(606,152,'change_formeridclaim','Can change former id claim')
-- next statement
INSERT INTO "auth_permission" VALUES(607,152,'delete_formeridclaim','Can delete former id claim')
-- next statement
INSERT INTO "auth_permission" VALUES(608,152,'view_formeridclaim','Can view former id claim')
-- next statement
INSERT INTO "auth_permission" VALUES(609,153,'add_formeridrecord','Can add former id record')
-- next statement
INSERT INTO "auth_permission" VALUES(610,153,'change_formeridrecord','Can change former id record')
-- next statement
INSERT INTO "auth_permission" VALUES(611,153,'delete_formeridrecord','Can delete former id record')
-- next statement
INSERT INTO "auth_permission" VALUES(612,153,'view_formeridrecord','Can view former id record')
-- next statement
INSERT INTO "auth_permission" VALUES(613,154,'add_workerheartbeat','Can add worker heartbeat')
-- next statement
INSERT INTO "auth_permission" VALUES(614,154,'change_workerheartbeat','Can change worker heartbeat')
-- next statement
INSERT INTO "auth_permission" VALUES(615,154,'delete_workerheartbeat','Can delete worker heartbeat')
-- next statement
INSERT INTO "auth_permission" VALUES(616,154,'view_workerheartbeat','Can view worker heartbeat')
-- next statement
INSERT INTO "auth_permission" VALUES(617,155,'add_job','Can add job')
-- next statement
INSERT INTO "auth_permission" VALUES(618,155,'change_job','Can change job')
-- next statement
INSERT INTO "auth_permission" VALUES(619,155,'delete_job','Can delete job')
-- next statement
INSERT INTO "auth_permission" VALUES(620,155,'view_job','Can view job')
-- next statement
INSERT INTO "auth_permission" VALUES(621,156,'add_writeprobe','Can add write probe')
-- next statement
INSERT INTO "auth_permission" VALUES(622,156,'change_writeprobe','Can change write probe')
-- next statement
INSERT INTO "auth_permission" VALUES(623,156,'delete_writeprobe','Can delete write probe')
-- next statement
INSERT INTO "auth_permission" VALUES(624,156,'view_writeprobe','Can view write probe')
-- next statement
INSERT INTO "auth_permission" VALUES(625,157,'add_hostsign','Can add host sign')
-- next statement
INSERT INTO "auth_permission" VALUES(626,157,'change_hostsign','Can change host sign')
-- next statement
INSERT INTO "auth_permission" VALUES(627,157,'delete_hostsign','Can delete host sign')
-- next statement
INSERT INTO "auth_permission" VALUES(628,157,'view_hostsign','Can view host sign')
-- next statement
INSERT INTO "auth_permission" VALUES(629,158,'add_passwordstate','Can add password state')
-- next statement
INSERT INTO "auth_permission" VALUES(630,158,'change_passwordstate','Can change password state')
-- next statement
INSERT INTO "auth_permission" VALUES(631,158,'delete_passwordstate','Can delete password state')
-- next statement
INSERT INTO "auth_permission" VALUES(632,158,'view_passwordstate','Can view password state')
-- next statement
INSERT INTO "auth_permission" VALUES(633,159,'add_failedtries','Can add failed tries')
-- next statement
INSERT INTO "auth_permission" VALUES(634,159,'change_failedtries','Can change failed tries')
-- next statement
INSERT INTO "auth_permission" VALUES(635,159,'delete_failedtries','Can delete failed tries')
-- next statement
INSERT INTO "auth_permission" VALUES(636,159,'view_failedtries','Can view failed tries')
-- next statement
INSERT INTO "auth_permission" VALUES(637,160,'add_signedkey','Can add signed key')
-- next statement
INSERT INTO "auth_permission" VALUES(638,160,'change_signedkey','Can change signed key')
-- next statement
INSERT INTO "auth_permission" VALUES(639,160,'delete_signedkey','Can delete signed key')
-- next statement
INSERT INTO "auth_permission" VALUES(640,160,'view_signedkey','Can view signed key')
-- next statement
INSERT INTO "auth_permission" VALUES(641,161,'add_factorprompt','Can add factor prompt')
-- next statement
INSERT INTO "auth_permission" VALUES(642,161,'change_factorprompt','Can change factor prompt')
-- next statement
INSERT INTO "auth_permission" VALUES(643,161,'delete_factorprompt','Can delete factor prompt')
-- next statement
INSERT INTO "auth_permission" VALUES(644,161,'view_factorprompt','Can view factor prompt')
-- next statement
INSERT INTO "auth_permission" VALUES(645,162,'add_memberinvitation','Can add member invitation')
-- next statement
INSERT INTO "auth_permission" VALUES(646,162,'change_memberinvitation','Can change member invitation')
-- next statement
INSERT INTO "auth_permission" VALUES(647,162,'delete_memberinvitation','Can delete member invitation')
-- next statement
INSERT INTO "auth_permission" VALUES(648,162,'view_memberinvitation','Can view member invitation')
-- next statement
INSERT INTO "auth_permission" VALUES(649,163,'add_invitationuse','Can add invitation use')
-- next statement
INSERT INTO "auth_permission" VALUES(650,163,'change_invitationuse','Can change invitation use')
-- next statement
INSERT INTO "auth_permission" VALUES(651,163,'delete_invitationuse','Can delete invitation use')
-- next statement
INSERT INTO "auth_permission" VALUES(652,163,'view_invitationuse','Can view invitation use')
-- next statement
INSERT INTO "auth_permission" VALUES(653,164,'add_ownershipoffer','Can add ownership offer')
-- next statement
INSERT INTO "auth_permission" VALUES(654,164,'change_ownershipoffer','Can change ownership offer')
-- next statement
INSERT INTO "auth_permission" VALUES(655,164,'delete_ownershipoffer','Can delete ownership offer')
-- next statement
INSERT INTO "auth_permission" VALUES(656,164,'view_ownershipoffer','Can view ownership offer')
-- next statement
INSERT INTO "auth_permission" VALUES(657,165,'add_passwordletter','Can add password letter')
-- next statement
INSERT INTO "auth_permission" VALUES(658,165,'change_passwordletter','Can change password letter')
-- next statement
INSERT INTO "auth_permission" VALUES(659,165,'delete_passwordletter','Can delete password letter')
-- next statement
INSERT INTO "auth_permission" VALUES(660,165,'view_passwordletter','Can view password letter')
-- next statement
INSERT INTO "auth_permission" VALUES(661,166,'add_providergrant','Can add provider grant')
-- next statement
INSERT INTO "auth_permission" VALUES(662,166,'change_providergrant','Can change provider grant')
-- next statement
INSERT INTO "auth_permission" VALUES(663,166,'delete_providergrant','Can delete provider grant')
-- next statement
INSERT INTO "auth_permission" VALUES(664,166,'view_providergrant','Can view provider grant')
-- next statement
INSERT INTO "auth_permission" VALUES(665,167,'add_signedinsession','Can add signed in session')
-- next statement
INSERT INTO "auth_permission" VALUES(666,167,'change_signedinsession','Can change signed in session')
-- next statement
INSERT INTO "auth_permission" VALUES(667,167,'delete_signedinsession','Can delete signed in session')
-- next statement
INSERT INTO "auth_permission" VALUES(668,167,'view_signedinsession','Can view signed in session')
-- next statement
INSERT INTO "auth_permission" VALUES(669,168,'add_waitingemail','Can add waiting email')
-- next statement
INSERT INTO "auth_permission" VALUES(670,168,'change_waitingemail','Can change waiting email')
-- next statement
INSERT INTO "auth_permission" VALUES(671,168,'delete_waitingemail','Can delete waiting email')
-- next statement
INSERT INTO "auth_permission" VALUES(672,168,'view_waitingemail','Can view waiting email')
-- next statement
INSERT INTO "auth_permission" VALUES(673,169,'add_savedview','Can add saved view')
-- next statement
INSERT INTO "auth_permission" VALUES(674,169,'change_savedview','Can change saved view')
-- next statement
INSERT INTO "auth_permission" VALUES(675,169,'delete_savedview','Can delete saved view')
-- next statement
INSERT INTO "auth_permission" VALUES(676,169,'view_savedview','Can view saved view')
-- next statement
INSERT INTO "auth_permission" VALUES(677,170,'add_canary','Can add canary')
-- next statement
INSERT INTO "auth_permission" VALUES(678,170,'change_canary','Can change canary')
-- next statement
INSERT INTO "auth_permission" VALUES(679,170,'delete_canary','Can delete canary')
-- next statement
INSERT INTO "auth_permission" VALUES(680,170,'view_canary','Can view canary')
-- next statement
INSERT INTO "auth_permission" VALUES(681,171,'add_accessattempt','Can add access attempt')
-- next statement
INSERT INTO "auth_permission" VALUES(682,171,'change_accessattempt','Can change access attempt')
-- next statement
INSERT INTO "auth_permission" VALUES(683,171,'delete_accessattempt','Can delete access attempt')
-- next statement
INSERT INTO "auth_permission" VALUES(684,171,'view_accessattempt','Can view access attempt')
-- next statement
INSERT INTO "auth_permission" VALUES(685,172,'add_accesslog','Can add access log')
-- next statement
INSERT INTO "auth_permission" VALUES(686,172,'change_accesslog','Can change access log')
-- next statement
INSERT INTO "auth_permission" VALUES(687,172,'delete_accesslog','Can delete access log')
-- next statement
INSERT INTO "auth_permission" VALUES(688,172,'view_accesslog','Can view access log')
-- next statement
INSERT INTO "auth_permission" VALUES(689,173,'add_accessfailurelog','Can add access failure')
-- next statement
INSERT INTO "auth_permission" VALUES(690,173,'change_accessfailurelog','Can change access failure')
-- next statement
INSERT INTO "auth_permission" VALUES(691,173,'delete_accessfailurelog','Can delete access failure')
-- next statement
INSERT INTO "auth_permission" VALUES(692,173,'view_accessfailurelog','Can view access failure')
-- next statement
INSERT INTO "auth_permission" VALUES(693,174,'add_accessattemptexpiration','Can add access attempt expiration')
-- next statement
INSERT INTO "auth_permission" VALUES(694,174,'change_accessattemptexpiration','Can change access attempt expiration')
-- next statement
INSERT INTO "auth_permission" VALUES(695,174,'delete_accessattemptexpiration','Can delete access attempt expiration')
-- next statement
INSERT INTO "auth_permission" VALUES(696,174,'view_accessattemptexpiration','Can view access attempt expiration')
-- next statement
INSERT INTO "auth_permission" VALUES(697,175,'add_logentry','Can add log entry')
-- next statement
INSERT INTO "auth_permission" VALUES(698,175,'change_logentry','Can change log entry')
-- next statement
INSERT INTO "auth_permission" VALUES(699,175,'delete_logentry','Can delete log entry')
-- next statement
INSERT INTO "auth_permission" VALUES(700,175,'view_logentry','Can view log entry')
-- next statement
INSERT INTO "auth_permission" VALUES(701,176,'add_permission','Can add permission')
-- next statement
INSERT INTO "auth_permission" VALUES(702,176,'change_permission','Can change permission')
-- next statement
INSERT INTO "auth_permission" VALUES(703,176,'delete_permission','Can delete permission')
-- next statement
INSERT INTO "auth_permission" VALUES(704,176,'view_permission','Can view permission')
-- next statement
INSERT INTO "auth_permission" VALUES(705,177,'add_group','Can add group')
-- next statement
INSERT INTO "auth_permission" VALUES(706,177,'change_group','Can change group')
-- next statement
INSERT INTO "auth_permission" VALUES(707,177,'delete_group','Can delete group')
-- next statement
INSERT INTO "auth_permission" VALUES(708,177,'view_group','Can view group')
-- next statement
INSERT INTO "auth_permission" VALUES(709,178,'add_user','Can add user')
-- next statement
INSERT INTO "auth_permission" VALUES(710,178,'change_user','Can change user')
-- next statement
INSERT INTO "auth_permission" VALUES(711,178,'delete_user','Can delete user')
-- next statement
INSERT INTO "auth_permission" VALUES(712,178,'view_user','Can view user')
-- next statement
INSERT INTO "auth_permission" VALUES(713,179,'add_contenttype','Can add content type')
-- next statement
INSERT INTO "auth_permission" VALUES(714,179,'change_contenttype','Can change content type')
-- next statement
INSERT INTO "auth_permission" VALUES(715,179,'delete_contenttype','Can delete content type')
-- next statement
INSERT INTO "auth_permission" VALUES(716,179,'view_contenttype','Can view content type')
-- next statement
INSERT INTO "auth_permission" VALUES(717,180,'add_session','Can add session')
-- next statement
INSERT INTO "auth_permission" VALUES(718,180,'change_session','Can change session')
-- next statement
INSERT INTO "auth_permission" VALUES(719,180,'delete_session','Can delete session')
-- next statement
INSERT INTO "auth_permission" VALUES(720,180,'view_session','Can view session')
-- next statement
INSERT INTO "django_content_type" VALUES(1,'account','emailaddress')
-- next statement
INSERT INTO "django_content_type" VALUES(2,'account','emailconfirmation')
-- next statement
INSERT INTO "django_content_type" VALUES(3,'mfa','authenticator')
-- next statement
INSERT INTO "django_content_type" VALUES(4,'socialaccount','socialaccount')
-- next statement
INSERT INTO "django_content_type" VALUES(5,'socialaccount','socialapp')
-- next statement
INSERT INTO "django_content_type" VALUES(6,'socialaccount','socialtoken')
-- next statement
INSERT INTO "django_content_type" VALUES(7,'releases','release')
-- next statement
INSERT INTO "django_content_type" VALUES(8,'releases','releasefile')
-- next statement
INSERT INTO "django_content_type" VALUES(9,'releases','privacyfinding')
-- next statement
INSERT INTO "django_content_type" VALUES(10,'evaluations','evaluation')
-- next statement
INSERT INTO "django_content_type" VALUES(11,'evaluations','call')
-- next statement
INSERT INTO "django_content_type" VALUES(12,'evaluations','externalscores')
-- next statement
INSERT INTO "django_content_type" VALUES(13,'evaluations','part')
-- next statement
INSERT INTO "django_content_type" VALUES(14,'poll','vote')
-- next statement
INSERT INTO "django_content_type" VALUES(15,'annotation','querysource')
-- next statement
INSERT INTO "django_content_type" VALUES(16,'annotation','query')
-- next statement
INSERT INTO "django_content_type" VALUES(17,'annotation','curatedset')
-- next statement
INSERT INTO "django_content_type" VALUES(18,'annotation','candidatepassage')
-- next statement
INSERT INTO "django_content_type" VALUES(19,'annotation','answer')
-- next statement
INSERT INTO "django_content_type" VALUES(20,'annotation','querystep')
-- next statement
INSERT INTO "django_content_type" VALUES(21,'annotation','screeningvote')
-- next statement
INSERT INTO "django_content_type" VALUES(22,'annotation','answerflag')
-- next statement
INSERT INTO "django_content_type" VALUES(23,'annotation','answerreview')
-- next statement
INSERT INTO "django_content_type" VALUES(24,'annotation','curatedpassage')
-- next statement
INSERT INTO "django_content_type" VALUES(25,'annotation','passageselection')
-- next statement
INSERT INTO "django_content_type" VALUES(26,'annotation','heldoutworker')
-- next statement
INSERT INTO "django_content_type" VALUES(27,'annotation','doubt')
-- next statement
INSERT INTO "django_content_type" VALUES(28,'annotation','answernote')
-- next statement
INSERT INTO "django_content_type" VALUES(29,'judgments','attentioncheck')
-- next statement
INSERT INTO "django_content_type" VALUES(30,'judgments','candidatesource')
-- next statement
INSERT INTO "django_content_type" VALUES(31,'judgments','checkanswer')
-- next statement
INSERT INTO "django_content_type" VALUES(32,'judgments','filterrun')
-- next statement
INSERT INTO "django_content_type" VALUES(33,'judgments','system')
-- next statement
INSERT INTO "django_content_type" VALUES(34,'judgments','candidate')
-- next statement
INSERT INTO "django_content_type" VALUES(35,'judgments','judgment')
-- next statement
INSERT INTO "django_content_type" VALUES(36,'judgments','score')
-- next statement
INSERT INTO "django_content_type" VALUES(37,'judgments','verdict')
-- next statement
INSERT INTO "django_content_type" VALUES(38,'judgments','agreementreport')
-- next statement
INSERT INTO "django_content_type" VALUES(39,'judgments','importedscore')
-- next statement
INSERT INTO "django_content_type" VALUES(40,'judgments','shownreferences')
-- next statement
INSERT INTO "django_content_type" VALUES(41,'judgments','reportpart')
-- next statement
INSERT INTO "django_content_type" VALUES(42,'judgments','questionnaireunit')
-- next statement
INSERT INTO "django_content_type" VALUES(43,'judgments','unitmaterial')
-- next statement
INSERT INTO "django_content_type" VALUES(44,'judgments','unitresponse')
-- next statement
INSERT INTO "django_content_type" VALUES(45,'crowd','endpoint')
-- next statement
INSERT INTO "django_content_type" VALUES(46,'crowd','stage')
-- next statement
INSERT INTO "django_content_type" VALUES(47,'crowd','group')
-- next statement
INSERT INTO "django_content_type" VALUES(48,'crowd','worker')
-- next statement
INSERT INTO "django_content_type" VALUES(49,'crowd','hit')
-- next statement
INSERT INTO "django_content_type" VALUES(50,'crowd','assignment')
-- next statement
INSERT INTO "django_content_type" VALUES(51,'crowd','marketoperation')
-- next statement
INSERT INTO "django_content_type" VALUES(52,'crowd','ledgerentry')
-- next statement
INSERT INTO "django_content_type" VALUES(53,'crowd','exclusion')
-- next statement
INSERT INTO "django_content_type" VALUES(54,'crowd','claim')
-- next statement
INSERT INTO "django_content_type" VALUES(55,'crowd','hitunit')
-- next statement
INSERT INTO "django_content_type" VALUES(56,'crowd','recount')
-- next statement
INSERT INTO "django_content_type" VALUES(57,'crowd','endpointround')
-- next statement
INSERT INTO "django_content_type" VALUES(58,'crowd','dispatchepoch')
-- next statement
INSERT INTO "django_content_type" VALUES(59,'crowd','dispatchhalt')
-- next statement
INSERT INTO "django_content_type" VALUES(60,'crowd','panelstudy')
-- next statement
INSERT INTO "django_content_type" VALUES(61,'crowd','panelsubmission')
-- next statement
INSERT INTO "django_content_type" VALUES(62,'crowd','panelhook')
-- next statement
INSERT INTO "django_content_type" VALUES(63,'crowd','panelmessage')
-- next statement
INSERT INTO "django_content_type" VALUES(64,'crowd','personmatch')
-- next statement
INSERT INTO "django_content_type" VALUES(65,'crowd','stagesource')
-- next statement
INSERT INTO "django_content_type" VALUES(66,'crowd','workermark')
-- next statement
INSERT INTO "django_content_type" VALUES(67,'crowd','compensation')
-- next statement
INSERT INTO "django_content_type" VALUES(68,'crowd','endpointspender')
-- next statement
INSERT INTO "django_content_type" VALUES(69,'crowd','instructions')
-- next statement
INSERT INTO "django_content_type" VALUES(70,'crowd','picture')
-- next statement
INSERT INTO "django_content_type" VALUES(71,'retrieval','corpus')
-- next statement
INSERT INTO "django_content_type" VALUES(72,'retrieval','index')
-- next statement
INSERT INTO "django_content_type" VALUES(73,'retrieval','passage')
-- next statement
INSERT INTO "django_content_type" VALUES(74,'retrieval','wordnetwork')
-- next statement
INSERT INTO "django_content_type" VALUES(75,'people','consenttext')
-- next statement
INSERT INTO "django_content_type" VALUES(76,'people','guest')
-- next statement
INSERT INTO "django_content_type" VALUES(77,'people','studylink')
-- next statement
INSERT INTO "django_content_type" VALUES(78,'people','rosterrow')
-- next statement
INSERT INTO "django_content_type" VALUES(79,'people','visit')
-- next statement
INSERT INTO "django_content_type" VALUES(80,'notices','notice')
-- next statement
INSERT INTO "django_content_type" VALUES(81,'notices','letter')
-- next statement
INSERT INTO "django_content_type" VALUES(82,'notices','wish')
-- next statement
INSERT INTO "django_content_type" VALUES(83,'notices','noticereading')
-- next statement
INSERT INTO "django_content_type" VALUES(84,'api','apitoken')
-- next statement
INSERT INTO "django_content_type" VALUES(85,'api','idempotencyrecord')
-- next statement
INSERT INTO "django_content_type" VALUES(86,'projects','project')
-- next statement
INSERT INTO "django_content_type" VALUES(87,'projects','membership')
-- next statement
INSERT INTO "django_content_type" VALUES(88,'projects','event')
-- next statement
INSERT INTO "django_content_type" VALUES(89,'webhooks','webhook')
-- next statement
INSERT INTO "django_content_type" VALUES(90,'webhooks','webhookmark')
-- next statement
INSERT INTO "django_content_type" VALUES(91,'webhooks','webhookmessage')
-- next statement
INSERT INTO "django_content_type" VALUES(92,'webhooks','webhookattempt')
-- next statement
INSERT INTO "django_content_type" VALUES(93,'audit','auditprogress')
-- next statement
INSERT INTO "django_content_type" VALUES(94,'audit','auditchain')
-- next statement
INSERT INTO "django_content_type" VALUES(95,'audit','auditcheckpoint')
-- next statement
INSERT INTO "django_content_type" VALUES(96,'audit','auditlink')
-- next statement
INSERT INTO "django_content_type" VALUES(97,'marketplace','testclock')
-- next statement
INSERT INTO "django_content_type" VALUES(98,'marketplace','invitation')
-- next statement
INSERT INTO "django_content_type" VALUES(99,'marketplace','requester')
-- next statement
INSERT INTO "django_content_type" VALUES(100,'marketplace','hittype')
-- next statement
INSERT INTO "django_content_type" VALUES(101,'marketplace','hit')
-- next statement
INSERT INTO "django_content_type" VALUES(102,'marketplace','place')
-- next statement
INSERT INTO "django_content_type" VALUES(103,'marketplace','qualificationtype')
-- next statement
INSERT INTO "django_content_type" VALUES(104,'marketplace','chaos')
-- next statement
INSERT INTO "django_content_type" VALUES(105,'marketplace','calllog')
-- next statement
INSERT INTO "django_content_type" VALUES(106,'marketplace','tokenuse')
-- next statement
INSERT INTO "django_content_type" VALUES(107,'marketplace','worker')
-- next statement
INSERT INTO "django_content_type" VALUES(108,'marketplace','holding')
-- next statement
INSERT INTO "django_content_type" VALUES(109,'marketplace','qualificationgrant')
-- next statement
INSERT INTO "django_content_type" VALUES(110,'marketplace','message')
-- next statement
INSERT INTO "django_content_type" VALUES(111,'marketplace','ledgerentry')
-- next statement
INSERT INTO "django_content_type" VALUES(112,'marketplace','bonus')
-- next statement
INSERT INTO "django_content_type" VALUES(113,'marketplace','block')
-- next statement
INSERT INTO "django_content_type" VALUES(114,'marketplace','accesskey')
-- next statement
INSERT INTO "django_content_type" VALUES(115,'marketplace','batch')
-- next statement
INSERT INTO "django_content_type" VALUES(116,'marketplace','batchtask')
-- next statement
INSERT INTO "django_content_type" VALUES(117,'marketplace','deposit')
-- next statement
INSERT INTO "django_content_type" VALUES(118,'marketplace','invoice')
-- next statement
INSERT INTO "django_content_type" VALUES(119,'marketplace','letter')
-- next statement
INSERT INTO "django_content_type" VALUES(120,'marketplace','payable')
-- next statement
INSERT INTO "django_content_type" VALUES(121,'marketplace','policyaction')
-- next statement
INSERT INTO "django_content_type" VALUES(122,'marketplace','policyresult')
-- next statement
INSERT INTO "django_content_type" VALUES(123,'marketplace','qualificationrequest')
-- next statement
INSERT INTO "django_content_type" VALUES(124,'marketplace','queue')
-- next statement
INSERT INTO "django_content_type" VALUES(125,'marketplace','queuedevent')
-- next statement
INSERT INTO "django_content_type" VALUES(126,'marketplace','rating')
-- next statement
INSERT INTO "django_content_type" VALUES(127,'marketplace','template')
-- next statement
INSERT INTO "django_content_type" VALUES(128,'marketplace','activity')
-- next statement
INSERT INTO "django_content_type" VALUES(129,'marketplace','refusedcalls')
-- next statement
INSERT INTO "django_content_type" VALUES(130,'marketplace','signedwrite')
-- next statement
INSERT INTO "django_content_type" VALUES(131,'marketplace','keyalert')
-- next statement
INSERT INTO "django_content_type" VALUES(132,'marketplace','payeedetails')
-- next statement
INSERT INTO "django_content_type" VALUES(133,'marketplace','payout')
-- next statement
INSERT INTO "django_content_type" VALUES(134,'marketplace','payoutline')
-- next statement
INSERT INTO "django_content_type" VALUES(135,'marketplace','payoutpart')
-- next statement
INSERT INTO "django_content_type" VALUES(136,'marketplace','yearlylimit')
-- next statement
INSERT INTO "django_content_type" VALUES(137,'marketplace','countrychange')
-- next statement
INSERT INTO "django_content_type" VALUES(138,'marketplace','contact')
-- next statement
INSERT INTO "django_content_type" VALUES(139,'marketplace','likeness')
-- next statement
INSERT INTO "django_content_type" VALUES(140,'marketplace','workertrace')
-- next statement
INSERT INTO "django_content_type" VALUES(141,'marketplace','worktrace')
-- next statement
INSERT INTO "django_content_type" VALUES(142,'marketplace','batchextension')
-- next statement
INSERT INTO "django_content_type" VALUES(143,'marketplace','workerfile')
-- next statement
INSERT INTO "django_content_type" VALUES(144,'marketplace','workerfileline')
-- next statement
INSERT INTO "django_content_type" VALUES(145,'marketplace','requestermember')
-- next statement
INSERT INTO "django_content_type" VALUES(146,'marketplace','signingkey')
-- next statement
INSERT INTO "django_content_type" VALUES(147,'marketplace','topic')
-- next statement
INSERT INTO "django_content_type" VALUES(148,'marketplace','subscription')
-- next statement
INSERT INTO "django_content_type" VALUES(149,'marketplace','topicdelivery')
-- next statement
INSERT INTO "django_content_type" VALUES(150,'marketplace','uploadedfile')
-- next statement
INSERT INTO "django_content_type" VALUES(151,'marketplace','pagestorage')
-- next statement
INSERT INTO "django_content_type" VALUES(152,'marketplace','formeridclaim')
-- next statement
INSERT INTO "django_content_type" VALUES(153,'marketplace','formeridrecord')
-- next statement
INSERT INTO "django_content_type" VALUES(154,'jobs','workerheartbeat')
-- next statement
INSERT INTO "django_content_type" VALUES(155,'jobs','job')
-- next statement
INSERT INTO "django_content_type" VALUES(156,'jobs','writeprobe')
-- next statement
INSERT INTO "django_content_type" VALUES(157,'jobs','hostsign')
-- next statement
INSERT INTO "django_content_type" VALUES(158,'accounts','passwordstate')
-- next statement
INSERT INTO "django_content_type" VALUES(159,'accounts','failedtries')
-- next statement
INSERT INTO "django_content_type" VALUES(160,'accounts','signedkey')
-- next statement
INSERT INTO "django_content_type" VALUES(161,'accounts','factorprompt')
-- next statement
INSERT INTO "django_content_type" VALUES(162,'accounts','memberinvitation')
-- next statement
INSERT INTO "django_content_type" VALUES(163,'accounts','invitationuse')
-- next statement
INSERT INTO "django_content_type" VALUES(164,'accounts','ownershipoffer')
-- next statement
INSERT INTO "django_content_type" VALUES(165,'accounts','passwordletter')
-- next statement
INSERT INTO "django_content_type" VALUES(166,'accounts','providergrant')
-- next statement
INSERT INTO "django_content_type" VALUES(167,'accounts','signedinsession')
-- next statement
INSERT INTO "django_content_type" VALUES(168,'accounts','waitingemail')
-- next statement
INSERT INTO "django_content_type" VALUES(169,'accounts','savedview')
-- next statement
INSERT INTO "django_content_type" VALUES(170,'sealing','canary')
-- next statement
INSERT INTO "django_content_type" VALUES(171,'axes','accessattempt')
-- next statement
INSERT INTO "django_content_type" VALUES(172,'axes','accesslog')
-- next statement
INSERT INTO "django_content_type" VALUES(173,'axes','accessfailurelog')
-- next statement
INSERT INTO "django_content_type" VALUES(174,'axes','accessattemptexpiration')
-- next statement
INSERT INTO "django_content_type" VALUES(175,'admin','logentry')
-- next statement
INSERT INTO "django_content_type" VALUES(176,'auth','permission')
-- next statement
INSERT INTO "django_content_type" VALUES(177,'auth','group')
-- next statement
INSERT INTO "django_content_type" VALUES(178,'auth','user')
-- next statement
INSERT INTO "django_content_type" VALUES(179,'contenttypes','contenttype')
-- next statement
INSERT INTO "django_content_type" VALUES(180,'sessions','session')
-- next statement
INSERT INTO "django_migrations" VALUES(1,'contenttypes','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(2,'auth','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(3,'account','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(4,'account','0002_email_max_length','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(5,'account','0003_alter_emailaddress_create_unique_verified_email','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(6,'account','0004_alter_emailaddress_drop_unique_email','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(7,'account','0005_emailaddress_idx_upper_email','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(8,'account','0006_emailaddress_lower','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(9,'account','0007_emailaddress_idx_email','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(10,'account','0008_emailaddress_unique_primary_email_fixup','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(11,'account','0009_emailaddress_unique_primary_email','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(12,'accounts','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(13,'accounts','0002_failed_tries','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(14,'accounts','0003_used_keys','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(15,'accounts','0004_every_signed_key','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(16,'accounts','0005_people_come_in','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(17,'accounts','0006_saved_views','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(18,'admin','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(19,'admin','0002_logentry_remove_auto_add','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(20,'admin','0003_logentry_add_action_flag_choices','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(21,'projects','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(22,'projects','0002_read_only','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(23,'projects','0003_address_of_events','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(24,'people','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(25,'crowd','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(26,'crowd','0002_places_in_drafts','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(27,'crowd','0003_recount','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(28,'crowd','0004_proven_arrivals','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(29,'crowd','0005_endpoint_round','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(30,'crowd','0006_epoch_of_dispatch','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(31,'crowd','0007_how_rounds_end','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(32,'crowd','0008_origin_of_unproven_arrivals','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(33,'crowd','0009_newest_compared_hit','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(34,'crowd','0010_people_who_arrive','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(35,'crowd','0011_panels','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(36,'crowd','0012_consent_at_panels','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(37,'crowd','0013_panel_pay_and_messages','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(38,'crowd','0014_connect','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(39,'crowd','0015_withdrawn_work','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(40,'crowd','0016_sources','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(41,'crowd','0017_compensations','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(42,'crowd','0018_news_of_assignments','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(43,'annotation','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(44,'annotation','0002_candidate_retrieval','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(45,'annotation','0003_decided_again','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(46,'annotation','0004_ties_were_decided_by_hand','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(47,'annotation','0005_unchecked_answers','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(48,'annotation','0006_query_plain_digest','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(49,'annotation','0007_fill_plain_digests','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(50,'annotation','0008_query_by_plain_digest','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(51,'annotation','0009_answer_notes','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(52,'api','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(53,'api','0002_sealed_replies','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(54,'audit','0001_start','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(55,'contenttypes','0002_remove_content_type_name','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(56,'auth','0002_alter_permission_name_max_length','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(57,'auth','0003_alter_user_email_max_length','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(58,'auth','0004_alter_user_username_opts','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(59,'auth','0005_alter_user_last_login_null','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(60,'auth','0006_require_contenttypes_0002','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(61,'auth','0007_alter_validators_add_error_messages','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(62,'auth','0008_alter_user_username_max_length','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(63,'auth','0009_alter_user_last_name_max_length','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(64,'auth','0010_alter_group_name_max_length','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(65,'auth','0011_update_proxy_permissions','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(66,'auth','0012_alter_user_first_name_max_length','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(67,'axes','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(68,'axes','0002_auto_20151217_2044','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(69,'axes','0003_auto_20160322_0929','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(70,'axes','0004_auto_20181024_1538','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(71,'axes','0005_remove_accessattempt_trusted','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(72,'axes','0006_remove_accesslog_trusted','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(73,'axes','0007_alter_accessattempt_unique_together','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(74,'axes','0008_accessfailurelog','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(75,'axes','0009_add_session_hash','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(76,'axes','0010_accessattemptexpiration','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(77,'projects','0004_origin_of_events','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(78,'projects','0005_closed_projects','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(79,'projects','0006_owners_make_projects','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(80,'crowd','0019_who_may_spend','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(81,'crowd','0020_projects_keep_their_endpoints','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(82,'crowd','0021_instructions_with_versions','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(83,'crowd','0022_fees_by_amount','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(84,'crowd','0023_texts_in_languages','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(85,'crowd','0024_pictures','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(86,'releases','0001_start','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(87,'evaluations','0001_start','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(88,'jobs','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(89,'jobs','0002_job_request_id','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(90,'jobs','0003_reported_at','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(91,'jobs','0004_signs_of_life','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(92,'jobs','0005_signs_of_hosts','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(93,'jobs','0006_figures','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(94,'jobs','0007_no_figures','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(95,'judgments','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(96,'judgments','0002_imported_score','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(97,'judgments','0003_references_shown','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(98,'judgments','0004_drawn_reference_of_open_stages','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(99,'judgments','0005_imported_score_simulated','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(100,'judgments','0006_report_parts','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(101,'judgments','0007_questionnaires','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(102,'people','0002_links_of_requesters','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(103,'marketplace','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(104,'marketplace','0002_for_everyone','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(105,'marketplace','0003_keys_of_requesters','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(106,'marketplace','0004_no_key_on_requester','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(107,'marketplace','0005_requester_of_work','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(108,'marketplace','0006_fill_requester_of_work','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(109,'marketplace','0007_requester_of_work_certain','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(110,'marketplace','0008_hits_end_within_a_year','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(111,'marketplace','0009_activity_and_refusals','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(112,'marketplace','0010_key_alerts','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(113,'marketplace','0011_payouts','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(114,'marketplace','0012_people_and_traces','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(115,'marketplace','0013_running_batches','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(116,'marketplace','0014_members_of_requesters','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(117,'marketplace','0015_origin_of_activity','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(118,'marketplace','0016_layouts','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(119,'marketplace','0017_topics','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(120,'marketplace','0018_disposing','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(121,'marketplace','0019_uploaded_files','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(122,'marketplace','0020_page_storage','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(123,'marketplace','0021_former_ids','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(124,'marketplace','0022_study_links','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(125,'marketplace','0023_batch_hours','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(126,'marketplace','0024_former_id_settled','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(127,'marketplace','0025_requester_currency','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(128,'marketplace','0026_worker_file_read_as','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(129,'marketplace','0027_language_of_workers','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(130,'mfa','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(131,'mfa','0002_authenticator_timestamps','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(132,'mfa','0003_authenticator_type_uniq','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(133,'notices','0001_start','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(134,'notices','0002_letters_claimed','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(135,'notices','0003_notices_of_the_installation','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(136,'notices','0004_notice_readings','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(137,'poll','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(138,'retrieval','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(139,'retrieval','0002_network_and_digest','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(140,'retrieval','0003_same_words','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(141,'retrieval','0004_hosts_share_indexes','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(142,'sealing','0001_canary','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(143,'sessions','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(144,'socialaccount','0001_initial','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(145,'socialaccount','0002_token_max_lengths','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(146,'socialaccount','0003_extra_data_default_dict','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(147,'socialaccount','0004_app_provider_id_settings','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(148,'socialaccount','0005_socialtoken_nullable_app','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(149,'socialaccount','0006_alter_socialaccount_extra_data','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(150,'webhooks','0001_start','2000-01-01 00:00:00+00')
-- next statement
INSERT INTO "django_migrations" VALUES(151,'webhooks','0002_put_aside','2000-01-01 00:00:00+00')
-- next statement
CREATE UNIQUE INDEX "auth_group_permissions_group_id_permission_id_0cd325b0_uniq" ON "auth_group_permissions" ("group_id", "permission_id")
-- next statement
CREATE INDEX "auth_group_permissions_group_id_b120cbf9" ON "auth_group_permissions" ("group_id")
-- next statement
CREATE INDEX "auth_group_permissions_permission_id_84c5c92e" ON "auth_group_permissions" ("permission_id")
-- next statement
CREATE UNIQUE INDEX "auth_user_groups_user_id_group_id_94350c0c_uniq" ON "auth_user_groups" ("user_id", "group_id")
-- next statement
CREATE INDEX "auth_user_groups_user_id_6a12ed8b" ON "auth_user_groups" ("user_id")
-- next statement
CREATE INDEX "auth_user_groups_group_id_97559544" ON "auth_user_groups" ("group_id")
-- next statement
CREATE UNIQUE INDEX "auth_user_user_permissions_user_id_permission_id_14a6b632_uniq" ON "auth_user_user_permissions" ("user_id", "permission_id")
-- next statement
CREATE INDEX "auth_user_user_permissions_user_id_a95ead1b" ON "auth_user_user_permissions" ("user_id")
-- next statement
CREATE INDEX "auth_user_user_permissions_permission_id_1fbb5f2c" ON "auth_user_user_permissions" ("permission_id")
-- next statement
CREATE INDEX "account_emailconfirmation_email_address_id_5b7f8c58" ON "account_emailconfirmation" ("email_address_id")
-- next statement
CREATE UNIQUE INDEX "account_emailaddress_user_id_email_987c8728_uniq" ON "account_emailaddress" ("user_id", "email")
-- next statement
CREATE UNIQUE INDEX "unique_verified_email" ON "account_emailaddress" ("email") WHERE "verified"
-- next statement
CREATE INDEX "account_emailaddress_user_id_2c513194" ON "account_emailaddress" ("user_id")
-- next statement
CREATE INDEX "account_emailaddress_email_03be32b2" ON "account_emailaddress" ("email")
-- next statement
CREATE UNIQUE INDEX "unique_primary_email" ON "account_emailaddress" ("user_id", "primary") WHERE "primary"
-- next statement
CREATE INDEX "accounts_failedtries_last_at_01e41c74" ON "accounts_failedtries" ("last_at")
-- next statement
CREATE INDEX "accounts_signedkey_user_id_9041b308" ON "accounts_signedkey" ("user_id")
-- next statement
CREATE INDEX "accounts_ownershipoffer_giver_id_0af4fbf6" ON "accounts_ownershipoffer" ("giver_id")
-- next statement
CREATE INDEX "accounts_ownershipoffer_taker_id_80182818" ON "accounts_ownershipoffer" ("taker_id")
-- next statement
CREATE INDEX "accounts_signedinsession_user_id_da256a37" ON "accounts_signedinsession" ("user_id")
-- next statement
CREATE INDEX "accounts_memberinvitation_made_by_id_0c671933" ON "accounts_memberinvitation" ("made_by_id")
-- next statement
CREATE INDEX "invitations_of_target" ON "accounts_memberinvitation" ("kind", "target", "id" DESC)
-- next statement
CREATE INDEX "accounts_invitationuse_user_id_1dd32275" ON "accounts_invitationuse" ("user_id")
-- next statement
CREATE INDEX "accounts_invitationuse_invitation_id_7a189915" ON "accounts_invitationuse" ("invitation_id")
-- next statement
CREATE UNIQUE INDEX "one_open_ownership_offer" ON "accounts_ownershipoffer" ("kind", "target") WHERE "ended_at" IS NULL
-- next statement
CREATE INDEX "accounts_providergrant_user_id_973848f5" ON "accounts_providergrant" ("user_id")
-- next statement
CREATE INDEX "accounts_savedview_user_id_f77d553a" ON "accounts_savedview" ("user_id")
-- next statement
CREATE INDEX "django_admin_log_content_type_id_c4bce8eb" ON "django_admin_log" ("content_type_id")
-- next statement
CREATE INDEX "django_admin_log_user_id_c564eba6" ON "django_admin_log" ("user_id")
-- next statement
CREATE INDEX "projects_membership_user_id_13374535" ON "projects_membership" ("user_id")
-- next statement
CREATE INDEX "projects_membership_project_id_5f65bf3f" ON "projects_membership" ("project_id")
-- next statement
CREATE INDEX "people_visit_consent_text_id_e3036382" ON "people_visit" ("consent_text_id")
-- next statement
CREATE INDEX "people_visit_guest_id_21dcfd81" ON "people_visit" ("guest_id")
-- next statement
CREATE INDEX "people_visit_link_id_b171725a" ON "people_visit" ("link_id")
-- next statement
CREATE INDEX "people_rosterrow_guest_id_f8232f08" ON "people_rosterrow" ("guest_id")
-- next statement
CREATE INDEX "people_rosterrow_link_id_2ffc8b7d" ON "people_rosterrow" ("link_id")
-- next statement
CREATE INDEX "visit_consented" ON "people_visit" ("link_id", "consented_at")
-- next statement
CREATE INDEX "visit_by_address" ON "people_visit" ("link_id", "address_digest")
-- next statement
CREATE UNIQUE INDEX "visit_once_per_session" ON "people_visit" ("link_id", "external_kind", "external_id", "session") WHERE NOT ("external_id" = '')
-- next statement
CREATE INDEX "crowd_group_endpoint_id_93a05b8e" ON "crowd_group" ("endpoint_id")
-- next statement
CREATE INDEX "crowd_group_stage_id_b4c1de1b" ON "crowd_group" ("stage_id")
-- next statement
CREATE INDEX "crowd_worker_endpoint_id_05440141" ON "crowd_worker" ("endpoint_id")
-- next statement
CREATE UNIQUE INDEX "hit_known_once" ON "crowd_hit" ("stage_id", "external_id") WHERE NOT ("external_id" = '')
-- next statement
CREATE INDEX "crowd_hit_stage_id_310dab0b" ON "crowd_hit" ("stage_id")
-- next statement
CREATE INDEX "crowd_hit_compensates_id_3f2fc398" ON "crowd_hit" ("compensates_id")
-- next statement
CREATE INDEX "crowd_hit_to_sync" ON "crowd_hit" ("stage_id", "state", "synced_at")
-- next statement
CREATE INDEX "crowd_marketoperation_assignment_id_27510f03" ON "crowd_marketoperation" ("assignment_id")
-- next statement
CREATE INDEX "crowd_marketoperation_endpoint_id_e034db7f" ON "crowd_marketoperation" ("endpoint_id")
-- next statement
CREATE INDEX "crowd_marketoperation_hit_id_d9b90ca4" ON "crowd_marketoperation" ("hit_id")
-- next statement
CREATE INDEX "crowd_marketoperation_stage_id_33c010f5" ON "crowd_marketoperation" ("stage_id")
-- next statement
CREATE INDEX "operation_to_dispatch" ON "crowd_marketoperation" ("endpoint_id", "not_before") WHERE NOT ("state" IN ('confirmed', 'refused'))
-- next statement
CREATE INDEX "operation_of_stage" ON "crowd_marketoperation" ("stage_id", "planned_at" DESC)
-- next statement
CREATE UNIQUE INDEX "operation_booked_once" ON "crowd_ledgerentry" ("operation_id", "kind") WHERE NOT ("operation_id" IS NULL)
-- next statement
CREATE UNIQUE INDEX "assignment_booked_once" ON "crowd_ledgerentry" ("assignment_id", "reason") WHERE "operation_id" IS NULL
-- next statement
CREATE INDEX "crowd_ledgerentry_assignment_id_55a40cd8" ON "crowd_ledgerentry" ("assignment_id")
-- next statement
CREATE INDEX "crowd_ledgerentry_hit_id_f0216a35" ON "crowd_ledgerentry" ("hit_id")
-- next statement
CREATE INDEX "crowd_ledgerentry_operation_id_443da6a9" ON "crowd_ledgerentry" ("operation_id")
-- next statement
CREATE INDEX "crowd_ledgerentry_stage_id_d2bfa2da" ON "crowd_ledgerentry" ("stage_id")
-- next statement
CREATE INDEX "crowd_ledger_statement" ON "crowd_ledgerentry" ("stage_id", "id" DESC)
-- next statement
CREATE INDEX "crowd_exclusion_worker_id_b3929c32" ON "crowd_exclusion" ("worker_id")
-- next statement
CREATE INDEX "exclusion_by_scope" ON "crowd_exclusion" ("scope")
-- next statement
CREATE INDEX "crowd_claim_assignment_id_41e887e6" ON "crowd_claim" ("assignment_id")
-- next statement
CREATE INDEX "crowd_claim_worker_id_14b32428" ON "crowd_claim" ("worker_id")
-- next statement
CREATE INDEX "crowd_hitunit_hit_id_5de64f9d" ON "crowd_hitunit" ("hit_id")
-- next statement
CREATE INDEX "crowd_recount_assignment_id_301eb29a" ON "crowd_recount" ("assignment_id")
-- next statement
CREATE INDEX "crowd_recount_stage_id_2a30e1b3" ON "crowd_recount" ("stage_id")
-- next statement
CREATE INDEX "crowd_panelhook_received_at_43a53cae" ON "crowd_panelhook" ("received_at")
-- next statement
CREATE INDEX "crowd_panelhook_endpoint_id_7220ef7f" ON "crowd_panelhook" ("endpoint_id")
-- next statement
CREATE INDEX "crowd_panelsubmission_study_id_c4d40355" ON "crowd_panelsubmission" ("study_id")
-- next statement
CREATE INDEX "panel_submission_by_id" ON "crowd_panelsubmission" ("external_id")
-- next statement
CREATE INDEX "crowd_panelsubmission_consent_text_id_4a82cfd8" ON "crowd_panelsubmission" ("consent_text_id")
-- next statement
CREATE INDEX "crowd_panelmessage_endpoint_id_53dd1cf7" ON "crowd_panelmessage" ("endpoint_id")
-- next statement
CREATE INDEX "crowd_panelmessage_study_id_992355a7" ON "crowd_panelmessage" ("study_id")
-- next statement
CREATE INDEX "panel_message_of_study" ON "crowd_panelmessage" ("study_id", "sent_at" DESC)
-- next statement
CREATE UNIQUE INDEX "panel_study_known_once" ON "crowd_panelstudy" ("endpoint_id", "external_id") WHERE NOT ("external_id" = '')
-- next statement
CREATE INDEX "crowd_panelstudy_endpoint_id_2e08dd9c" ON "crowd_panelstudy" ("endpoint_id")
-- next statement
CREATE INDEX "crowd_panelstudy_stage_id_db0f458e" ON "crowd_panelstudy" ("stage_id")
-- next statement
CREATE INDEX "crowd_hit_source_id_bb439b9a" ON "crowd_hit" ("source_id")
-- next statement
CREATE INDEX "crowd_personmatch_decided_by_id_697aef1f" ON "crowd_personmatch" ("decided_by_id")
-- next statement
CREATE INDEX "crowd_personmatch_first_id_347e1f1c" ON "crowd_personmatch" ("first_id")
-- next statement
CREATE INDEX "crowd_personmatch_project_id_388e4c22" ON "crowd_personmatch" ("project_id")
-- next statement
CREATE INDEX "crowd_personmatch_second_id_d5f822fe" ON "crowd_personmatch" ("second_id")
-- next statement
CREATE INDEX "crowd_stagesource_endpoint_id_f01110b9" ON "crowd_stagesource" ("endpoint_id")
-- next statement
CREATE INDEX "crowd_stagesource_stage_id_6caaa65a" ON "crowd_stagesource" ("stage_id")
-- next statement
CREATE INDEX "crowd_workermark_worker_id_609229f6" ON "crowd_workermark" ("worker_id")
-- next statement
CREATE INDEX "worker_by_mark" ON "crowd_workermark" ("digest", "kind")
-- next statement
CREATE INDEX "crowd_compensation_stage_id_f7edf547" ON "crowd_compensation" ("stage_id")
-- next statement
CREATE INDEX "crowd_compensation_worker_id_f3f5512c" ON "crowd_compensation" ("worker_id")
-- next statement
CREATE INDEX "annotation_querysource_created_by_id_de2fd8bf" ON "annotation_querysource" ("created_by_id")
-- next statement
CREATE INDEX "annotation_querysource_project_id_2391359e" ON "annotation_querysource" ("project_id")
-- next statement
CREATE INDEX "annotation_curatedset_decided_by_id_6d511842" ON "annotation_curatedset" ("decided_by_id")
-- next statement
CREATE INDEX "annotation_curatedset_stage_id_5aaf595e" ON "annotation_curatedset" ("stage_id")
-- next statement
CREATE UNIQUE INDEX "one_answer_per_query_and_assignment" ON "annotation_answer" ("assignment_id", "query_id") WHERE "revises_id" IS NULL
-- next statement
CREATE INDEX "annotation_answer_assignment_id_1caa52e3" ON "annotation_answer" ("assignment_id")
-- next statement
CREATE INDEX "annotation_answer_worker_id_6d8983d2" ON "annotation_answer" ("worker_id")
-- next statement
CREATE INDEX "annotation_answer_query_id_d4726def" ON "annotation_answer" ("query_id")
-- next statement
CREATE INDEX "answer_by_query" ON "annotation_answer" ("stage_id", "query_id")
-- next statement
CREATE INDEX "answer_by_worker" ON "annotation_answer" ("stage_id", "worker_id")
-- next statement
CREATE INDEX "answer_by_state" ON "annotation_answer" ("stage_id", "state", "query_id")
-- next statement
CREATE INDEX "annotation_querystep_actor_id_e00c2c35" ON "annotation_querystep" ("actor_id")
-- next statement
CREATE INDEX "annotation_querystep_query_id_85223170" ON "annotation_querystep" ("query_id")
-- next statement
CREATE INDEX "annotation_querystep_stage_id_a8f2c452" ON "annotation_querystep" ("stage_id")
-- next statement
CREATE INDEX "annotation_screeningvote_assignment_id_5997d080" ON "annotation_screeningvote" ("assignment_id")
-- next statement
CREATE INDEX "annotation_screeningvote_query_id_b021b66e" ON "annotation_screeningvote" ("query_id")
-- next statement
CREATE INDEX "screening_vote_by_query" ON "annotation_screeningvote" ("stage_id", "query_id")
-- next statement
CREATE INDEX "annotation_answerflag_answer_id_5c8e22d0" ON "annotation_answerflag" ("answer_id")
-- next statement
CREATE INDEX "annotation_answerreview_actor_id_0634f670" ON "annotation_answerreview" ("actor_id")
-- next statement
CREATE INDEX "annotation_answerreview_answer_id_8d0c5d97" ON "annotation_answerreview" ("answer_id")
-- next statement
CREATE INDEX "annotation_curatedpassage_candidate_id_6eb21001" ON "annotation_curatedpassage" ("candidate_id")
-- next statement
CREATE INDEX "annotation_curatedpassage_curated_set_id_6948a2a5" ON "annotation_curatedpassage" ("curated_set_id")
-- next statement
CREATE INDEX "annotation_passageselection_assignment_id_9bcb060b" ON "annotation_passageselection" ("assignment_id")
-- next statement
CREATE INDEX "annotation_passageselection_query_id_8a1d77f7" ON "annotation_passageselection" ("query_id")
-- next statement
CREATE INDEX "selection_by_query" ON "annotation_passageselection" ("stage_id", "query_id")
-- next statement
CREATE INDEX "annotation_heldoutworker_worker_id_03d7a5b6" ON "annotation_heldoutworker" ("worker_id")
-- next statement
CREATE INDEX "annotation_heldoutworker_query_id_e4815171" ON "annotation_heldoutworker" ("query_id")
-- next statement
CREATE INDEX "annotation_candidatepassage_folded_into_id_cd1a9449" ON "annotation_candidatepassage" ("folded_into_id")
-- next statement
CREATE UNIQUE INDEX "one_open_doubt_per_query_and_stage" ON "annotation_doubt" ("query_id", "stage_id") WHERE "outcome" = ''
-- next statement
CREATE INDEX "annotation_doubt_query_id_b413af54" ON "annotation_doubt" ("query_id")
-- next statement
CREATE INDEX "annotation_doubt_settled_by_id_1e7cb9ff" ON "annotation_doubt" ("settled_by_id")
-- next statement
CREATE INDEX "annotation_doubt_stage_id_41d61b86" ON "annotation_doubt" ("stage_id")
-- next statement
CREATE INDEX "answer_unchecked" ON "annotation_answer" ("stage_id", "query_id") WHERE "checked_at" IS NULL
-- next statement
CREATE INDEX "annotation_query_source_id_401109bf" ON "annotation_query" ("source_id")
-- next statement
CREATE INDEX "query_by_status" ON "annotation_query" ("project_id", "status", "id")
-- next statement
CREATE INDEX "query_by_plain_digest" ON "annotation_query" ("project_id", "plain_digest")
-- next statement
CREATE INDEX "annotation_answernote_answer_id_72e8a80a" ON "annotation_answernote" ("answer_id")
-- next statement
CREATE INDEX "annotation_answernote_author_id_418a4dbd" ON "annotation_answernote" ("author_id")
-- next statement
CREATE INDEX "api_apitoken_project_id_68f8b62b" ON "api_apitoken" ("project_id")
-- next statement
CREATE INDEX "api_apitoken_user_id_9cffaf33" ON "api_apitoken" ("user_id")
-- next statement
CREATE INDEX "api_tokens_of_user" ON "api_apitoken" ("user_id", "id" DESC)
-- next statement
CREATE INDEX "api_idempotencyrecord_created_at_37e80017" ON "api_idempotencyrecord" ("created_at")
-- next statement
CREATE INDEX "api_idempotencyrecord_user_id_d633b9e9" ON "api_idempotencyrecord" ("user_id")
-- next statement
CREATE INDEX "audit_auditcheckpoint_chain_id_c68fdd3e" ON "audit_auditcheckpoint" ("chain_id")
-- next statement
CREATE UNIQUE INDEX "django_content_type_app_label_model_76bd3d3b_uniq" ON "django_content_type" ("app_label", "model")
-- next statement
CREATE UNIQUE INDEX "auth_permission_content_type_id_codename_01ab375a_uniq" ON "auth_permission" ("content_type_id", "codename")
-- next statement
CREATE INDEX "auth_permission_content_type_id_2f476e4b" ON "auth_permission" ("content_type_id")
-- next statement
CREATE INDEX "axes_accessattempt_user_agent_ad89678b" ON "axes_accessattempt" ("user_agent")
-- next statement
CREATE INDEX "axes_accessattempt_ip_address_10922d9c" ON "axes_accessattempt" ("ip_address")
-- next statement
CREATE INDEX "axes_accessattempt_username_3f2d4ca0" ON "axes_accessattempt" ("username")
-- next statement
CREATE UNIQUE INDEX "axes_accessattempt_username_ip_address_user_agent_8ea22282_uniq" ON "axes_accessattempt" ("username", "ip_address", "user_agent")
-- next statement
CREATE INDEX "axes_accessfailurelog_user_agent_ea145dda" ON "axes_accessfailurelog" ("user_agent")
-- next statement
CREATE INDEX "axes_accessfailurelog_ip_address_2e9f5a7f" ON "axes_accessfailurelog" ("ip_address")
-- next statement
CREATE INDEX "axes_accessfailurelog_username_a8b7e8a4" ON "axes_accessfailurelog" ("username")
-- next statement
CREATE INDEX "axes_accesslog_user_agent_0e659004" ON "axes_accesslog" ("user_agent")
-- next statement
CREATE INDEX "axes_accesslog_ip_address_86b417e5" ON "axes_accesslog" ("ip_address")
-- next statement
CREATE INDEX "axes_accesslog_username_df93064b" ON "axes_accesslog" ("username")
-- next statement
CREATE INDEX "projects_event_actor_id_0c783d55" ON "projects_event" ("actor_id")
-- next statement
CREATE INDEX "projects_event_project_id_83fb4f26" ON "projects_event" ("project_id")
-- next statement
CREATE INDEX "event_feed" ON "projects_event" ("project_id", "id" DESC)
-- next statement
CREATE INDEX "crowd_endpointspender_endpoint_id_d42a9478" ON "crowd_endpointspender" ("endpoint_id")
-- next statement
CREATE INDEX "crowd_endpointspender_given_by_id_90509bfb" ON "crowd_endpointspender" ("given_by_id")
-- next statement
CREATE INDEX "crowd_endpointspender_project_id_4eb93876" ON "crowd_endpointspender" ("project_id")
-- next statement
CREATE INDEX "crowd_endpointspender_user_id_23027ed1" ON "crowd_endpointspender" ("user_id")
-- next statement
CREATE INDEX "crowd_stage_slug_10241302" ON "crowd_stage" ("slug")
-- next statement
CREATE INDEX "crowd_stage_endpoint_id_045f2a13" ON "crowd_stage" ("endpoint_id")
-- next statement
CREATE INDEX "crowd_stage_project_id_9564281e" ON "crowd_stage" ("project_id")
-- next statement
CREATE INDEX "crowd_stage_opened_by_id_440bb9f4" ON "crowd_stage" ("opened_by_id")
-- next statement
CREATE INDEX "crowd_instructions_stage_id_f31dc13e" ON "crowd_instructions" ("stage_id")
-- next statement
CREATE INDEX "crowd_instructions_written_by_id_b6a3f342" ON "crowd_instructions" ("written_by_id")
-- next statement
CREATE UNIQUE INDEX "crowd_one_per_hit_and_worker" ON "crowd_assignment" ("hit_id", "worker_id") WHERE NOT ("state" IN ('ended', 'quarantined'))
-- next statement
CREATE INDEX "crowd_assignment_hit_id_44f9a4b7" ON "crowd_assignment" ("hit_id")
-- next statement
CREATE INDEX "crowd_assignment_worker_id_f817ab87" ON "crowd_assignment" ("worker_id")
-- next statement
CREATE INDEX "assignment_by_state" ON "crowd_assignment" ("stage_id", "state")
-- next statement
CREATE INDEX "assignment_by_worker" ON "crowd_assignment" ("stage_id", "worker_id", "id")
-- next statement
CREATE INDEX "assignment_in_order" ON "crowd_assignment" ("stage_id", "id")
-- next statement
CREATE INDEX "assignment_withdrawn" ON "crowd_assignment" ("stage_id") WHERE "withdrawn"
-- next statement
CREATE INDEX "assignment_by_news" ON "crowd_assignment" ("stage_id", (MAX(COALESCE("stored_at", "submitted_at", "decided_at"), COALESCE("submitted_at", "decided_at", "stored_at"), COALESCE("decided_at", "submitted_at", "stored_at"))))
-- next statement
CREATE INDEX "crowd_picture_sha256_6d6e0d00" ON "crowd_picture" ("sha256")
-- next statement
CREATE INDEX "crowd_picture_added_by_id_e9b31b2c" ON "crowd_picture" ("added_by_id")
-- next statement
CREATE INDEX "crowd_picture_project_id_240ee060" ON "crowd_picture" ("project_id")
-- next statement
CREATE INDEX "releases_release_created_by_id_871d2043" ON "releases_release" ("created_by_id")
-- next statement
CREATE INDEX "releases_release_withdrawn_by_id_5b5fb1ed" ON "releases_release" ("withdrawn_by_id")
-- next statement
CREATE INDEX "releases_privacyfinding_decided_by_id_c40f81de" ON "releases_privacyfinding" ("decided_by_id")
-- next statement
CREATE INDEX "finding_by_state" ON "releases_privacyfinding" ("project_id", "state")
-- next statement
CREATE INDEX "evaluations_externalscores_created_by_id_21c2958d" ON "evaluations_externalscores" ("created_by_id")
-- next statement
CREATE INDEX "evaluations_externalscores_release_id_883a8b67" ON "evaluations_externalscores" ("release_id")
-- next statement
CREATE UNIQUE INDEX "one_leaderboard_of_a_release" ON "evaluations_evaluation" ("release_id") WHERE "leaderboard"
-- next statement
CREATE INDEX "evaluations_evaluation_created_by_id_c35372b4" ON "evaluations_evaluation" ("created_by_id")
-- next statement
CREATE UNIQUE INDEX "external_name_in_release" ON "evaluations_externalscores" ("release_id", "name") WHERE "kept"
-- next statement
CREATE INDEX "parts_to_do" ON "evaluations_part" ("call_id", "id") WHERE ("result" IS NULL AND "why" = '')
-- next statement
CREATE INDEX "jobs_queued" ON "jobs_job" ("announce_after") WHERE "state" = 'queued'
-- next statement
CREATE INDEX "jobs_running" ON "jobs_job" ("lease_until") WHERE "state" = 'running'
-- next statement
CREATE INDEX "judgments_attentioncheck_query_id_8d59ee52" ON "judgments_attentioncheck" ("query_id")
-- next statement
CREATE INDEX "judgments_attentioncheck_stage_id_84bd2fb9" ON "judgments_attentioncheck" ("stage_id")
-- next statement
CREATE INDEX "judgments_candidatesource_created_by_id_c88ca0b2" ON "judgments_candidatesource" ("created_by_id")
-- next statement
CREATE INDEX "judgments_candidatesource_project_id_5821709b" ON "judgments_candidatesource" ("project_id")
-- next statement
CREATE INDEX "judgments_checkanswer_assignment_id_a40157a5" ON "judgments_checkanswer" ("assignment_id")
-- next statement
CREATE INDEX "judgments_checkanswer_check_item_id_bf3de8e7" ON "judgments_checkanswer" ("check_item_id")
-- next statement
CREATE INDEX "judgments_checkanswer_worker_id_dbe6e4cd" ON "judgments_checkanswer" ("worker_id")
-- next statement
CREATE INDEX "check_answer_by_worker" ON "judgments_checkanswer" ("worker_id", "check_item_id")
-- next statement
CREATE UNIQUE INDEX "one_filter_run_in_force" ON "judgments_filterrun" ("stage_id") WHERE "state" = 'in force'
-- next statement
CREATE INDEX "judgments_filterrun_created_by_id_565968c2" ON "judgments_filterrun" ("created_by_id")
-- next statement
CREATE INDEX "judgments_filterrun_ended_by_id_5ec90da1" ON "judgments_filterrun" ("ended_by_id")
-- next statement
CREATE INDEX "judgments_filterrun_stage_id_2ae345a4" ON "judgments_filterrun" ("stage_id")
-- next statement
CREATE UNIQUE INDEX "one_answer_per_system_and_query" ON "judgments_candidate" ("system_id", "query_id") WHERE "answer_id" IS NULL
-- next statement
CREATE INDEX "judgments_candidate_query_id_51efaa71" ON "judgments_candidate" ("query_id")
-- next statement
CREATE INDEX "judgments_candidate_source_id_24e94018" ON "judgments_candidate" ("source_id")
-- next statement
CREATE INDEX "candidate_by_system" ON "judgments_candidate" ("system_id", "aside")
-- next statement
CREATE INDEX "judgments_judgment_assignment_id_0f42a956" ON "judgments_judgment" ("assignment_id")
-- next statement
CREATE INDEX "judgments_judgment_candidate_id_7962dde5" ON "judgments_judgment" ("candidate_id")
-- next statement
CREATE INDEX "judgments_judgment_worker_id_93b76b83" ON "judgments_judgment" ("worker_id")
-- next statement
CREATE INDEX "judgment_by_worker" ON "judgments_judgment" ("stage_id", "worker_id")
-- next statement
CREATE INDEX "judgment_counts" ON "judgments_judgment" ("stage_id", "candidate_id", "score")
-- next statement
CREATE INDEX "judgments_score_candidate_id_6679a9e0" ON "judgments_score" ("candidate_id")
-- next statement
CREATE INDEX "judgments_score_run_id_121fb873" ON "judgments_score" ("run_id")
-- next statement
CREATE UNIQUE INDEX "a_judgment_is_removed_once" ON "judgments_verdict" ("run_id", "judgment_id") WHERE "judgment_id" IS NOT NULL
-- next statement
CREATE INDEX "judgments_verdict_judgment_id_5cccd768" ON "judgments_verdict" ("judgment_id")
-- next statement
CREATE INDEX "judgments_verdict_run_id_f9497f86" ON "judgments_verdict" ("run_id")
-- next statement
CREATE INDEX "judgments_verdict_worker_id_1777ac82" ON "judgments_verdict" ("worker_id")
-- next statement
CREATE INDEX "judgments_agreementreport_run_id_96dbba48" ON "judgments_agreementreport" ("run_id")
-- next statement
CREATE INDEX "judgments_shownreferences_query_id_75756b0e" ON "judgments_shownreferences" ("query_id")
-- next statement
CREATE UNIQUE INDEX "a_response_is_removed_once" ON "judgments_verdict" ("run_id", "response_id") WHERE "response_id" IS NOT NULL
-- next statement
CREATE INDEX "judgments_verdict_response_id_500b2d15" ON "judgments_verdict" ("response_id")
-- next statement
CREATE INDEX "judgments_questionnaireunit_candidate_id_71f3a6ff" ON "judgments_questionnaireunit" ("candidate_id")
-- next statement
CREATE INDEX "judgments_questionnaireunit_other_id_ac22e19c" ON "judgments_questionnaireunit" ("other_id")
-- next statement
CREATE INDEX "judgments_questionnaireunit_query_id_cd20ff0b" ON "judgments_questionnaireunit" ("query_id")
-- next statement
CREATE INDEX "judgments_unitresponse_assignment_id_bb7c9fd2" ON "judgments_unitresponse" ("assignment_id")
-- next statement
CREATE INDEX "judgments_unitresponse_unit_id_80d09e59" ON "judgments_unitresponse" ("unit_id")
-- next statement
CREATE INDEX "judgments_unitresponse_worker_id_f8e7dc44" ON "judgments_unitresponse" ("worker_id")
-- next statement
CREATE INDEX "unit_response_counts" ON "judgments_unitresponse" ("stage_id", "unit_id")
-- next statement
CREATE UNIQUE INDEX "text_version_once" ON "people_consenttext" ("project_id", "kind", "language", "version") WHERE "project_id" IS NOT NULL
-- next statement
CREATE UNIQUE INDEX "requester_text_version_once" ON "people_consenttext" ("requester_id", "kind", "language", "version") WHERE "requester_id" IS NOT NULL
-- next statement
CREATE UNIQUE INDEX "own_text_version_once" ON "people_consenttext" ("kind", "language", "version") WHERE ("project_id" IS NULL AND "requester_id" IS NULL)
-- next statement
CREATE INDEX "people_consenttext_made_by_id_a28299ef" ON "people_consenttext" ("made_by_id")
-- next statement
CREATE INDEX "people_consenttext_project_id_26f38834" ON "people_consenttext" ("project_id")
-- next statement
CREATE UNIQUE INDEX "requester_guest_once" ON "people_guest" ("requester_id", "identity_kind", "identity") WHERE "requester_id" IS NOT NULL
-- next statement
CREATE INDEX "people_guest_project_id_60a24d99" ON "people_guest" ("project_id")
-- next statement
CREATE INDEX "people_guest_user_id_6b60e96e" ON "people_guest" ("user_id")
-- next statement
CREATE INDEX "people_studylink_made_by_id_dfaa605e" ON "people_studylink" ("made_by_id")
-- next statement
CREATE INDEX "people_studylink_project_id_78f4c740" ON "people_studylink" ("project_id")
-- next statement
CREATE INDEX "study_link_of_project" ON "people_studylink" ("project_id", "id" DESC)
-- next statement
CREATE INDEX "study_link_of_requester" ON "people_studylink" ("requester_id", "id" DESC) WHERE "requester_id" IS NOT NULL
-- next statement
CREATE INDEX "marketplace_hittype_requester_id_ce29ddc1" ON "marketplace_hittype" ("requester_id")
-- next statement
CREATE INDEX "place_free" ON "marketplace_place" ("hit_id", "ordinal") WHERE "free"
-- next statement
CREATE INDEX "marketplace_tokenuse_at_c0136a4c" ON "marketplace_tokenuse" ("at")
-- next statement
CREATE INDEX "marketplace_tokenuse_requester_id_035631f5" ON "marketplace_tokenuse" ("requester_id")
-- next statement
CREATE INDEX "marketplace_qualificationgrant_qualification_type_id_b532b7fd" ON "marketplace_qualificationgrant" ("qualification_type_id")
-- next statement
CREATE INDEX "marketplace_qualificationgrant_worker_id_5a770f3e" ON "marketplace_qualificationgrant" ("worker_id")
-- next statement
CREATE INDEX "grant_by_time" ON "marketplace_qualificationgrant" ("qualification_type_id", "status", "granted_at", "id")
-- next statement
CREATE INDEX "marketplace_message_requester_id_51fb2142" ON "marketplace_message" ("requester_id")
-- next statement
CREATE INDEX "marketplace_message_worker_id_804f5755" ON "marketplace_message" ("worker_id")
-- next statement
CREATE INDEX "message_inbox" ON "marketplace_message" ("worker_id", "sent_at" DESC)
-- next statement
CREATE UNIQUE INDEX "assignment_paid_once" ON "marketplace_ledgerentry" ("holding_id", "kind") WHERE "kind" IN ('reward', 'reward_fee')
-- next statement
CREATE INDEX "marketplace_ledgerentry_hit_id_189ce12c" ON "marketplace_ledgerentry" ("hit_id")
-- next statement
CREATE INDEX "marketplace_ledgerentry_holding_id_fdbc95f4" ON "marketplace_ledgerentry" ("holding_id")
-- next statement
CREATE INDEX "marketplace_ledgerentry_requester_id_4516e46d" ON "marketplace_ledgerentry" ("requester_id")
-- next statement
CREATE INDEX "marketplace_ledgerentry_worker_id_f1c8f75a" ON "marketplace_ledgerentry" ("worker_id")
-- next statement
CREATE INDEX "ledger_statement" ON "marketplace_ledgerentry" ("requester_id", "id" DESC)
-- next statement
CREATE INDEX "ledger_earnings" ON "marketplace_ledgerentry" ("worker_id", "at") WHERE "credit" = 'workers'
-- next statement
CREATE INDEX "marketplace_bonus_hit_id_562fede0" ON "marketplace_bonus" ("hit_id")
-- next statement
CREATE INDEX "marketplace_bonus_holding_id_bbc5adb7" ON "marketplace_bonus" ("holding_id")
-- next statement
CREATE INDEX "marketplace_bonus_requester_id_3055d041" ON "marketplace_bonus" ("requester_id")
-- next statement
CREATE INDEX "marketplace_bonus_worker_id_34f4208d" ON "marketplace_bonus" ("worker_id")
-- next statement
CREATE INDEX "bonus_by_hit" ON "marketplace_bonus" ("hit_id", "granted_at", "id")
-- next statement
CREATE INDEX "bonus_by_assignment" ON "marketplace_bonus" ("assignment_id", "granted_at", "id")
-- next statement
CREATE INDEX "marketplace_block_requester_id_ba988ade" ON "marketplace_block" ("requester_id")
-- next statement
CREATE INDEX "marketplace_block_worker_id_d1f017da" ON "marketplace_block" ("worker_id")
-- next statement
CREATE UNIQUE INDEX "qualification_name_of_requester" ON "marketplace_qualificationtype" ("requester_id", "name") WHERE "deleted_at" IS NULL
-- next statement
CREATE INDEX "marketplace_qualificationtype_requester_id_27585de0" ON "marketplace_qualificationtype" ("requester_id")
-- next statement
CREATE INDEX "marketplace_deposit_by_id_ad7bc144" ON "marketplace_deposit" ("by_id")
-- next statement
CREATE INDEX "marketplace_deposit_requester_id_e01d8d3e" ON "marketplace_deposit" ("requester_id")
-- next statement
CREATE INDEX "marketplace_letter_hit_type_id_93717d56" ON "marketplace_letter" ("hit_type_id")
-- next statement
CREATE INDEX "marketplace_letter_worker_id_0ddcd72a" ON "marketplace_letter" ("worker_id")
-- next statement
CREATE INDEX "marketplace_message_answers_id_70459edd" ON "marketplace_message" ("answers_id")
-- next statement
CREATE INDEX "ledger_not_yet_payable" ON "marketplace_ledgerentry" ("requester_id", "worker_id") WHERE ("credit" = 'workers' AND "payable_id" IS NULL)
-- next statement
CREATE INDEX "marketplace_ledgerentry_payable_id_1a220785" ON "marketplace_ledgerentry" ("payable_id")
-- next statement
CREATE INDEX "marketplace_policyresult_holding_id_4251b12c" ON "marketplace_policyresult" ("holding_id")
-- next statement
CREATE INDEX "marketplace_qualificationrequest_qualification_type_id_5876bc29" ON "marketplace_qualificationrequest" ("qualification_type_id")
-- next statement
CREATE INDEX "marketplace_qualificationrequest_worker_id_c033b3c1" ON "marketplace_qualificationrequest" ("worker_id")
-- next statement
CREATE INDEX "batch_task_to_publish" ON "marketplace_batchtask" ("batch_id", "ordinal") WHERE "hit_id" IS NULL
-- next statement
CREATE INDEX "marketplace_invoice_issued_by_id_e621ed8b" ON "marketplace_invoice" ("issued_by_id")
-- next statement
CREATE INDEX "marketplace_invoice_requester_id_a4592167" ON "marketplace_invoice" ("requester_id")
-- next statement
CREATE INDEX "letter_inbox" ON "marketplace_letter" ("requester_id", "sent_at" DESC)
-- next statement
CREATE INDEX "letter_of_worker" ON "marketplace_letter" ("worker_id", "sent_at" DESC)
-- next statement
CREATE INDEX "marketplace_payable_made_by_id_9df7900e" ON "marketplace_payable" ("made_by_id")
-- next statement
CREATE INDEX "marketplace_payable_requester_id_26899211" ON "marketplace_payable" ("requester_id")
-- next statement
CREATE INDEX "policy_action_of_hit" ON "marketplace_policyaction" ("hit_id", "at", "id")
-- next statement
CREATE INDEX "policy_result_of_hit" ON "marketplace_policyresult" ("hit_id", "at", "id")
-- next statement
CREATE INDEX "qualification_requests_by_time" ON "marketplace_qualificationrequest" ("qualification_type_id", "submitted_at", "id")
-- next statement
CREATE INDEX "qualification_of_worker" ON "marketplace_qualificationrequest" ("worker_id", "started_at" DESC)
-- next statement
CREATE INDEX "qualification_test_deadline" ON "marketplace_qualificationrequest" ("deadline") WHERE "state" = 'started'
-- next statement
CREATE UNIQUE INDEX "one_open_qualification_request" ON "marketplace_qualificationrequest" ("qualification_type_id", "worker_id") WHERE "state" IN ('started', 'pending')
-- next statement
CREATE INDEX "queued_event_next" ON "marketplace_queuedevent" ("requester_id", "queue", "visible_at", "id")
-- next statement
CREATE INDEX "queued_event_age" ON "marketplace_queuedevent" ("sent_at")
-- next statement
CREATE INDEX "marketplace_rating_hit_type_id_640fd06d" ON "marketplace_rating" ("hit_type_id")
-- next statement
CREATE INDEX "marketplace_rating_worker_id_3844c888" ON "marketplace_rating" ("worker_id")
-- next statement
CREATE INDEX "marketplace_signedwrite_at_ab36bb50" ON "marketplace_signedwrite" ("at")
-- next statement
CREATE INDEX "marketplace_accesskey_made_by_id_43370738" ON "marketplace_accesskey" ("made_by_id")
-- next statement
CREATE INDEX "marketplace_accesskey_requester_id_32d7808b" ON "marketplace_accesskey" ("requester_id")
-- next statement
CREATE INDEX "marketplace_calllog_requester_id_913216eb" ON "marketplace_calllog" ("requester_id")
-- next statement
CREATE INDEX "call_of_requester" ON "marketplace_calllog" ("requester_id", "id" DESC)
-- next statement
CREATE INDEX "call_by_time" ON "marketplace_calllog" ("at")
-- next statement
CREATE INDEX "marketplace_keyalert_key_id_c589a98c" ON "marketplace_keyalert" ("key_id")
-- next statement
CREATE INDEX "marketplace_keyalert_seen_by_id_24f28acf" ON "marketplace_keyalert" ("seen_by_id")
-- next statement
CREATE INDEX "open_key_alerts" ON "marketplace_keyalert" ("key_id") WHERE "seen_at" IS NULL
-- next statement
CREATE INDEX "marketplace_payeedetails_digest_c13d83bc" ON "marketplace_payeedetails" ("digest")
-- next statement
CREATE INDEX "marketplace_payoutpart_line_id_9b5e94b5" ON "marketplace_payoutpart" ("line_id")
-- next statement
CREATE INDEX "marketplace_payoutpart_report_id_83aa8517" ON "marketplace_payoutpart" ("report_id")
-- next statement
CREATE INDEX "marketplace_payoutpart_worker_id_c3519fdc" ON "marketplace_payoutpart" ("worker_id")
-- next statement
CREATE INDEX "marketplace_payout_made_by_id_3682cc87" ON "marketplace_payout" ("made_by_id")
-- next statement
CREATE INDEX "marketplace_payout_report_id_5902dc25" ON "marketplace_payout" ("report_id")
-- next statement
CREATE INDEX "marketplace_payout_requester_id_9b5b9a3c" ON "marketplace_payout" ("requester_id")
-- next statement
CREATE INDEX "marketplace_payoutline_payout_id_92804ccb" ON "marketplace_payoutline" ("payout_id")
-- next statement
CREATE INDEX "marketplace_payoutline_worker_id_6b39fa0f" ON "marketplace_payoutline" ("worker_id")
-- next statement
CREATE INDEX "payout_line_of_worker" ON "marketplace_payoutline" ("worker_id", "id" DESC)
-- next statement
CREATE UNIQUE INDEX "paid_by_one_file" ON "marketplace_payoutpart" ("report_id", "worker_id") WHERE "in_force"
-- next statement
CREATE INDEX "marketplace_yearlylimit_released_by_id_689b3d77" ON "marketplace_yearlylimit" ("released_by_id")
-- next statement
CREATE INDEX "marketplace_yearlylimit_worker_id_95ec47b1" ON "marketplace_yearlylimit" ("worker_id")
-- next statement
CREATE INDEX "marketplace_countrychange_worker_id_ee1991b6" ON "marketplace_countrychange" ("worker_id")
-- next statement
CREATE INDEX "marketplace_contact_email_5800d3ab" ON "marketplace_contact" ("email")
-- next statement
CREATE INDEX "digest_due" ON "marketplace_contact" ("digest_due_at") WHERE (NOT ("digest" = '') AND NOT ("email" = ''))
-- next statement
CREATE INDEX "marketplace_likeness_at_322d29ef" ON "marketplace_likeness" ("at")
-- next statement
CREATE INDEX "marketplace_likeness_other_id_3d64735b" ON "marketplace_likeness" ("other_id")
-- next statement
CREATE INDEX "marketplace_workertrace_last_at_72c639c9" ON "marketplace_workertrace" ("last_at")
-- next statement
CREATE INDEX "trace_by_digest" ON "marketplace_workertrace" ("digest", "kind", "worker_id")
-- next statement
CREATE INDEX "marketplace_worktrace_text_digest_405ac8bd" ON "marketplace_worktrace" ("text_digest")
-- next statement
CREATE INDEX "marketplace_worktrace_at_5ffed8d2" ON "marketplace_worktrace" ("at")
-- next statement
CREATE INDEX "work_to_compare" ON "marketplace_worktrace" ("id") WHERE ("compared_at" IS NULL AND NOT ("text_digest" = ''))
-- next statement
CREATE INDEX "marketplace_batch_created_by_id_ad3aa9ae" ON "marketplace_batch" ("created_by_id")
-- next statement
CREATE INDEX "marketplace_batch_requester_id_0b6a0557" ON "marketplace_batch" ("requester_id")
-- next statement
CREATE INDEX "marketplace_batch_template_id_ee5f719a" ON "marketplace_batch" ("template_id")
-- next statement
CREATE INDEX "marketplace_batch_end_mail_to_id_17276033" ON "marketplace_batch" ("end_mail_to_id")
-- next statement
CREATE INDEX "marketplace_batch_extends_id_66c6acf5" ON "marketplace_batch" ("extends_id")
-- next statement
CREATE INDEX "batch_to_publish_at" ON "marketplace_batch" ("publish_at") WHERE "publish_at" IS NOT NULL
-- next statement
CREATE INDEX "batch_to_end_at" ON "marketplace_batch" ("end_at") WHERE "end_at" IS NOT NULL
-- next statement
CREATE INDEX "batch_end_to_mail" ON "marketplace_batch" ("id") WHERE ("end_mail_to_id" IS NOT NULL AND "end_mailed_at" IS NULL)
-- next statement
CREATE INDEX "marketplace_batch_scheduled_by_id_6cbbdcf4" ON "marketplace_batch" ("scheduled_by_id")
-- next statement
CREATE INDEX "marketplace_batchextension_batch_id_a04ee5c6" ON "marketplace_batchextension" ("batch_id")
-- next statement
CREATE INDEX "marketplace_batchextension_by_id_596e2750" ON "marketplace_batchextension" ("by_id")
-- next statement
CREATE INDEX "marketplace_workerfile_confirmed_by_id_209602a4" ON "marketplace_workerfile" ("confirmed_by_id")
-- next statement
CREATE INDEX "marketplace_workerfile_created_by_id_841650c7" ON "marketplace_workerfile" ("created_by_id")
-- next statement
CREATE INDEX "marketplace_workerfile_qualification_type_id_3d4807bf" ON "marketplace_workerfile" ("qualification_type_id")
-- next statement
CREATE INDEX "marketplace_workerfile_requester_id_63390609" ON "marketplace_workerfile" ("requester_id")
-- next statement
CREATE INDEX "marketplace_workerfileline_holding_id_253fdd6d" ON "marketplace_workerfileline" ("holding_id")
-- next statement
CREATE INDEX "marketplace_workerfileline_worker_id_a5aab976" ON "marketplace_workerfileline" ("worker_id")
-- next statement
CREATE INDEX "worker_file_line_state" ON "marketplace_workerfileline" ("file_id", "state", "line")
-- next statement
CREATE UNIQUE INDEX "worker_file_pays_once" ON "marketplace_workerfileline" ("payment") WHERE ("state" = 'done' AND NOT ("payment" = ''))
-- next statement
CREATE INDEX "marketplace_requestermember_requester_id_d6ff4235" ON "marketplace_requestermember" ("requester_id")
-- next statement
CREATE INDEX "marketplace_requestermember_user_id_24c2710d" ON "marketplace_requestermember" ("user_id")
-- next statement
CREATE INDEX "marketplace_activity_at_3ef0b97d" ON "marketplace_activity" ("at")
-- next statement
CREATE INDEX "marketplace_activity_user_id_c8dd66b3" ON "marketplace_activity" ("user_id")
-- next statement
CREATE INDEX "activity_of_requester" ON "marketplace_activity" ("requester_id", "id" DESC)
-- next statement
CREATE INDEX "marketplace_hit_hit_type_id_0559a857" ON "marketplace_hit" ("hit_type_id")
-- next statement
CREATE INDEX "marketplace_hit_batch_id_042abdb2" ON "marketplace_hit" ("batch_id")
-- next statement
CREATE INDEX "hit_newest_first" ON "marketplace_hit" ("requester_id", "created_at" DESC, "id" DESC)
-- next statement
CREATE INDEX "hit_open_places" ON "marketplace_hit" ("hit_type_id", "id", "expires_at") WHERE ("disposed_at" IS NULL AND "open_places" > 0)
-- next statement
CREATE INDEX "hit_all_in" ON "marketplace_hit" ("requester_id", "reviewing", "created_at" DESC, "id" DESC) WHERE ("disposed_at" IS NULL AND "open_places" = 0 AND "pending" = 0)
-- next statement
CREATE INDEX "hit_end" ON "marketplace_hit" ("requester_id", "expires_at") WHERE "disposed_at" IS NULL
-- next statement
CREATE INDEX "hit_expiry_to_settle" ON "marketplace_hit" ("expires_at") WHERE ("held_places" > ("pending" + "submitted") OR "expiry_watched")
-- next statement
CREATE INDEX "hit_to_review" ON "marketplace_hit" ("requester_id", "id") WHERE "submitted" > 0
-- next statement
CREATE INDEX "marketplace_template_requester_id_c3e4f104" ON "marketplace_template" ("requester_id")
-- next statement
CREATE INDEX "topic_of_requester" ON "marketplace_topic" ("requester_id", "id")
-- next statement
CREATE UNIQUE INDEX "one_subscription_of_endpoint" ON "marketplace_subscription" ("topic_id", "protocol", "endpoint") WHERE "ended_at" IS NULL
-- next statement
CREATE INDEX "topic_delivery_due" ON "marketplace_topicdelivery" ("due_at") WHERE "state" = 'waiting'
-- next statement
CREATE INDEX "topic_delivery_log" ON "marketplace_topicdelivery" ("subscription_id", "id" DESC)
-- next statement
CREATE INDEX "marketplace_subscription_topic_id_91c32219" ON "marketplace_subscription" ("topic_id")
-- next statement
CREATE INDEX "marketplace_topicdelivery_created_at_17a4feb7" ON "marketplace_topicdelivery" ("created_at")
-- next statement
CREATE INDEX "qualification_disposing" ON "marketplace_qualificationtype" ("requester_id") WHERE ("deleted_at" IS NULL AND "disposing_at" IS NOT NULL)
-- next statement
CREATE INDEX "marketplace_pagestorage_changed_at_5d7ca354" ON "marketplace_pagestorage" ("changed_at")
-- next statement
CREATE INDEX "marketplace_pagestorage_requester_id_3cb7e1c2" ON "marketplace_pagestorage" ("requester_id")
-- next statement
CREATE UNIQUE INDEX "one_worker_of_former_id" ON "marketplace_formeridclaim" ("former_id") WHERE "accepted"
-- next statement
CREATE INDEX "marketplace_formeridclaim_former_id_cc1431a6" ON "marketplace_formeridclaim" ("former_id")
-- next statement
CREATE UNIQUE INDEX "one_former_record_of_kind" ON "marketplace_formeridrecord" ("requester_id", "former_id", "kind") WHERE "kind" IN ('listed', 'block')
-- next statement
CREATE UNIQUE INDEX "one_former_grant" ON "marketplace_formeridrecord" ("qualification_type_id", "former_id") WHERE "kind" = 'grant'
-- next statement
CREATE UNIQUE INDEX "one_former_bonus" ON "marketplace_formeridrecord" ("requester_id", "former_id", "cents", "reason") WHERE "kind" = 'bonus'
-- next statement
CREATE INDEX "marketplace_formeridrecord_qualification_type_id_b29e67e4" ON "marketplace_formeridrecord" ("qualification_type_id")
-- next statement
CREATE INDEX "marketplace_formeridrecord_worker_id_003082a2" ON "marketplace_formeridrecord" ("worker_id")
-- next statement
CREATE INDEX "former_record_open" ON "marketplace_formeridrecord" ("former_id") WHERE "applied_at" IS NULL
-- next statement
CREATE INDEX "former_record_of_requester" ON "marketplace_formeridrecord" ("requester_id", "former_id")
-- next statement
CREATE UNIQUE INDEX "one_occupant_per_place" ON "marketplace_holding" ("place_id") WHERE "state" IN ('accepted', 'submitted', 'approved', 'rejected')
-- next statement
CREATE UNIQUE INDEX "one_assignment_per_worker_and_hit" ON "marketplace_holding" ("hit_id", "worker_id") WHERE "state" IN ('accepted', 'submitted', 'approved', 'rejected')
-- next statement
CREATE INDEX "marketplace_holding_assignment_id_5ea77b99" ON "marketplace_holding" ("assignment_id")
-- next statement
CREATE INDEX "holding_by_submission" ON "marketplace_holding" ("hit_id", "submitted_at", "id")
-- next statement
CREATE INDEX "holding_by_hit_and_worker" ON "marketplace_holding" ("hit_id", "worker_id")
-- next statement
CREATE INDEX "holding_deadline" ON "marketplace_holding" ("deadline") WHERE "state" = 'accepted'
-- next statement
CREATE INDEX "holding_auto_approval" ON "marketplace_holding" ("auto_approve_at") WHERE "state" = 'submitted'
-- next statement
CREATE INDEX "holding_by_worker" ON "marketplace_holding" ("worker_id", "accepted_at" DESC)
-- next statement
CREATE INDEX "holding_queue" ON "marketplace_holding" ("worker_id", "deadline") WHERE "state" = 'accepted'
-- next statement
CREATE INDEX "holding_of_requester" ON "marketplace_holding" ("requester_id", "submitted_at", "id", "state", "visible_at")
-- next statement
CREATE INDEX "holding_requester_worker" ON "marketplace_holding" ("requester_id", "worker_id", "state", "submitted_at", "visible_at")
-- next statement
CREATE INDEX "holding_to_review" ON "marketplace_holding" ("requester_id", "auto_approve_at", "id", "visible_at") WHERE "state" = 'submitted'
-- next statement
CREATE INDEX "batch_with_hours" ON "marketplace_batch" ("requester_id") WHERE "hours" IS NOT NULL
-- next statement
CREATE INDEX "marketplace_requester_owner_id_96348856" ON "marketplace_requester" ("owner_id")
-- next statement
CREATE INDEX "marketplace_worker_invitation_id_4cba842e" ON "marketplace_worker" ("invitation_id")
-- next statement
CREATE INDEX "marketplace_worker_guest_of_id_00fbdec2" ON "marketplace_worker" ("guest_of_id")
-- next statement
CREATE INDEX "mfa_authenticator_user_id_0c3a50c0" ON "mfa_authenticator" ("user_id")
-- next statement
CREATE UNIQUE INDEX "unique_authenticator_type" ON "mfa_authenticator" ("user_id", "type") WHERE "type" IN ('totp', 'recovery_codes')
-- next statement
CREATE INDEX "notices_letter_user_id_e2cf69e3" ON "notices_letter" ("user_id")
-- next statement
CREATE INDEX "notices_letter_notice_id_2717a956" ON "notices_letter" ("notice_id")
-- next statement
CREATE INDEX "notices_seen_notice_id_b0dd6c1d" ON "notices_seen" ("notice_id")
-- next statement
CREATE INDEX "notices_seen_user_id_a26b59d0" ON "notices_seen" ("user_id")
-- next statement
CREATE INDEX "notices_wish_project_id_45c279ca" ON "notices_wish" ("project_id")
-- next statement
CREATE INDEX "notices_wish_user_id_96fda2ac" ON "notices_wish" ("user_id")
-- next statement
CREATE INDEX "letter_waiting" ON "notices_letter" ("user_id") WHERE ("claim" IS NULL AND "dropped_at" IS NULL AND "sent_at" IS NULL)
-- next statement
CREATE INDEX "letter_by_claim" ON "notices_letter" ("claim") WHERE NOT ("claim" IS NULL)
-- next statement
CREATE UNIQUE INDEX "one_open_notice_per_key" ON "notices_notice" ("project_id", "key") WHERE "over_at" IS NULL
-- next statement
CREATE INDEX "notice_feed" ON "notices_notice" ("project_id", "raised_at" DESC)
-- next statement
CREATE UNIQUE INDEX "one_open_notice_of_installation" ON "notices_notice" ("key") WHERE ("over_at" IS NULL AND "project_id" IS NULL)
-- next statement
CREATE INDEX "poll_vote_assignment_id_7e6e686c" ON "poll_vote" ("assignment_id")
-- next statement
CREATE INDEX "vote_by_unit" ON "poll_vote" ("stage_id", "unit")
-- next statement
CREATE INDEX "passage_in_order" ON "retrieval_passage" ("corpus_id", "id")
-- next statement
CREATE INDEX "passage_same_words" ON "retrieval_passage" ("corpus_id", "digest")
-- next statement
CREATE INDEX "retrieval_corpus_slug_ac2e05d3" ON "retrieval_corpus" ("slug")
-- next statement
CREATE INDEX "retrieval_corpus_project_id_d8ddb378" ON "retrieval_corpus" ("project_id")
-- next statement
CREATE INDEX "django_session_expire_date_a5c62663" ON "django_session" ("expire_date")
-- next statement
CREATE UNIQUE INDEX "socialaccount_socialtoken_app_id_account_id_fca4e0ac_uniq" ON "socialaccount_socialtoken" ("app_id", "account_id")
-- next statement
CREATE INDEX "socialaccount_socialtoken_account_id_951f210e" ON "socialaccount_socialtoken" ("account_id")
-- next statement
CREATE INDEX "socialaccount_socialtoken_app_id_636a42d7" ON "socialaccount_socialtoken" ("app_id")
-- next statement
CREATE UNIQUE INDEX "socialaccount_socialaccount_provider_uid_fc810c6e_uniq" ON "socialaccount_socialaccount" ("provider", "uid")
-- next statement
CREATE INDEX "socialaccount_socialaccount_user_id_8146e70c" ON "socialaccount_socialaccount" ("user_id")
-- next statement
CREATE INDEX "webhook_message_waiting" ON "webhooks_webhookmessage" ("webhook_id", "number", "id") WHERE "state" = 'waiting'
-- next statement
CREATE INDEX "webhook_message_feed" ON "webhooks_webhookmessage" ("webhook_id", "id" DESC)
-- next statement
CREATE INDEX "webhook_message_ended" ON "webhooks_webhookmessage" ("ended_at")
-- next statement
CREATE INDEX "webhook_attempts" ON "webhooks_webhookattempt" ("message_id", "id")
-- next statement
CREATE INDEX "webhooks_webhook_created_by_id_c1e90fbe" ON "webhooks_webhook" ("created_by_id")
-- next statement
CREATE INDEX "webhook_of_owner" ON "webhooks_webhook" ("owner_kind", "owner_id") WHERE "removed_at" IS NULL
-- next statement
CREATE TRIGGER audit_auditlink_never_changed BEFORE UPDATE OF "id", "chain_id", "number", "kind", "row", "digest", "sealed_at" ON audit_auditlink FOR EACH ROW WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'audit_auditlink is append-only'); END
-- next statement
CREATE TRIGGER audit_auditlink_never_deleted BEFORE DELETE ON audit_auditlink FOR EACH ROW WHEN NOT EXISTS (SELECT 1 FROM audit_auditcheckpoint c WHERE c.chain_id = OLD.chain_id AND c.number >= OLD.number) BEGIN SELECT RAISE(ABORT, 'audit_auditlink is append-only'); END
-- next statement
CREATE TRIGGER audit_auditcheckpoint_never_changed BEFORE UPDATE OF "id", "chain_id", "number", "digest", "rows", "made_at", "why" ON audit_auditcheckpoint FOR EACH ROW WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'audit_auditcheckpoint is append-only'); END
-- next statement
CREATE TRIGGER audit_auditcheckpoint_never_deleted BEFORE DELETE ON audit_auditcheckpoint FOR EACH ROW WHEN NOT EXISTS (SELECT 1 WHERE 1 = 0) BEGIN SELECT RAISE(ABORT, 'audit_auditcheckpoint is append-only'); END
-- next statement
CREATE TRIGGER projects_event_never_changed BEFORE UPDATE OF "id", "project_id", "at", "actor_id", "action", "subject", "details", "address", "via", "credential", "request_id" ON projects_event FOR EACH ROW WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'projects_event is append-only'); END
-- next statement
CREATE TRIGGER projects_event_never_deleted BEFORE DELETE ON projects_event FOR EACH ROW WHEN NOT EXISTS (SELECT 1 FROM audit_auditlink l JOIN audit_auditcheckpoint c ON c.chain_id = l.chain_id AND c.number >= l.number WHERE l.kind = 'project' AND l."row" = OLD.id) BEGIN SELECT RAISE(ABORT, 'projects_event is append-only'); END
-- next statement
CREATE TRIGGER marketplace_activity_never_changed BEFORE UPDATE OF "id", "requester_id", "at", "action", "subject", "details", "actor", "access_key", "address", "via", "request_id" ON marketplace_activity FOR EACH ROW WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'marketplace_activity is append-only'); END
-- next statement
CREATE TRIGGER marketplace_activity_never_deleted BEFORE DELETE ON marketplace_activity FOR EACH ROW WHEN NOT EXISTS (SELECT 1 FROM audit_auditlink l JOIN audit_auditcheckpoint c ON c.chain_id = l.chain_id AND c.number >= l.number WHERE l.kind = 'requester' AND l."row" = OLD.id) BEGIN SELECT RAISE(ABORT, 'marketplace_activity is append-only'); END
-- next statement
CREATE TRIGGER marketplace_activity_only_released BEFORE UPDATE OF "user_id" ON marketplace_activity FOR EACH ROW WHEN NEW."user_id" IS NOT NULL BEGIN SELECT RAISE(ABORT, 'marketplace_activity is append-only'); END
-- next statement
DELETE FROM "sqlite_sequence"
-- next statement
INSERT INTO "sqlite_sequence" VALUES('django_migrations',151)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('account_emailaddress',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('accounts_signedkey',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('accounts_memberinvitation',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('accounts_invitationuse',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('accounts_providergrant',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('django_admin_log',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('projects_project',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('people_rosterrow',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('crowd_endpoint',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('crowd_panelsubmission',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('crowd_panelstudy',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('crowd_personmatch',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('crowd_stagesource',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('crowd_workermark',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('annotation_candidatepassage',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('annotation_query',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('api_idempotencyrecord',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('django_content_type',180)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('auth_permission',720)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('auth_group',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('auth_user',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('axes_accessattempt',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('axes_accesslog',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('projects_event',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('crowd_stage',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('crowd_assignment',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('evaluations_evaluation',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('evaluations_call',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('evaluations_part',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('jobs_job',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('judgments_importedscore',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('judgments_questionnaireunit',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('judgments_unitmaterial',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('judgments_unitresponse',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('people_consenttext',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('people_guest',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('people_studylink',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_qualificationtype',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_deposit',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_letter',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_policyaction',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_policyresult',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_qualificationrequest',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_queuedevent',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_batchtask',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_invoice',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_payable',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_queue',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_rating',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_accesskey',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_calllog',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_refusedcalls',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_payout',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_payoutline',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_yearlylimit',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_batch',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_batchextension',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_workerfile',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_workerfileline',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_activity',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_hit',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_template',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_holding',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_requester',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('marketplace_worker',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('mfa_authenticator',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('notices_notice',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('retrieval_passage',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('retrieval_corpus',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('retrieval_index',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('retrieval_wordnetwork',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('socialaccount_socialapp',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('socialaccount_socialtoken',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('socialaccount_socialaccount',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('webhooks_webhookmessage',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('webhooks_webhook',0)
-- next statement
INSERT INTO "sqlite_sequence" VALUES('sealing_canary',1)
