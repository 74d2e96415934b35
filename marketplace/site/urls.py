"""Urls of the worker site and the desk. The shapes are the real service's, so that printed links work."""

from django.urls import path, register_converter

from marketplace.site.views import (
    account_closure,
    addresses,
    browse,
    desk,
    guests,
    membership,
    passwords,
    payment,
    qualifications,
    records,
    voices,
    work,
)


class EntityIdConverter:
    """Ids of the protocol: HITs, their types and groups, qualification types."""

    regex = "[A-Z0-9]{1,64}"

    def to_python(self, value: str) -> str:
        """As it stands in the URL."""
        return value

    def to_url(self, value: str) -> str:
        """As it stands in the database."""
        return value


register_converter(EntityIdConverter, "id")

app_name = "site"
urlpatterns = [
    path("", browse.groups, name="groups"),
    path("projects/<id:group_id>/tasks", browse.preview, name="preview"),
    path("projects/<id:group_id>/tasks/accept", work.accept, name="accept"),
    path("projects/<id:group_id>/tasks/<id:hit_id>", work.work, name="work"),
    path("projects/<id:group_id>/tasks/<id:hit_id>/return", work.give_back, name="return"),
    path(
        "projects/<id:group_id>/qualifications/<id:qualification_type_id>",
        qualifications.ask_for_group,
        name="request_qualification",
    ),
    path("qualifications", qualifications.qualifications, name="qualifications"),
    path("qualifications/<id:qualification_type_id>", qualifications.qualification, name="qualification"),
    path("qualifications/<id:qualification_type_id>/ask", qualifications.ask, name="ask"),
    path("qualifications/<id:qualification_type_id>/test", qualifications.test, name="qualification_test"),
    path("projects/<id:group_id>/rating", voices.rate, name="rate"),
    path("projects/<id:group_id>/contact", voices.contact, name="contact"),
    path("mturk/preview", browse.preview_by_query, name="preview_by_query"),
    path("guest/<str:signature>/", guests.work, name="guest_work"),
    path("guest/<str:signature>/continue", guests.going_on, name="guest_continue"),
    path("guest/<str:signature>/return", guests.give_back, name="guest_return"),
    path("guest/<str:signature>/attention", guests.attention, name="guest_attention"),
    path("guest/<str:signature>/storage", guests.keep_storage, name="guest_storage"),
    path("tasks", work.queue, name="queue"),
    path("tasks/continue/<int:holding_id>", work.after_submit, name="continue"),
    path("tasks/attention", work.attention, name="attention"),
    path("tasks/storage", work.keep_storage, name="keep_storage"),
    path("history", records.history, name="history"),
    path("feedback", records.feedback, name="feedback"),
    path("dashboard", records.earnings, name="earnings"),
    path("inbox", records.inbox, name="inbox"),
    path("inbox/sent", voices.sent, name="sent"),
    path("inbox/<int:message>/reply", voices.reply, name="reply"),
    path("signup", membership.signup, name="signup"),
    path("invitation/<slug:token>", membership.invitation, name="invitation"),
    path("profile", membership.profile, name="profile"),
    path("profile/accept-next", membership.accept_next, name="accept_next"),
    path("profile/payment", payment.payment, name="payment"),
    path("profile/payment/forget", payment.forget_payment, name="forget_payment"),
    path("payment/<str:token>", payment.confirm_payment, name="confirm_payment"),
    path("profile/mturk-id", membership.former_id, name="former_id"),
    path("profile/country", membership.country, name="country"),
    path("profile/email", addresses.email, name="email"),
    path("profile/email/remove", addresses.remove_email, name="remove_email"),
    path("profile/digest", addresses.digest, name="digest"),
    path("unsubscribe/<str:token>", addresses.unsubscribe, name="unsubscribe"),
    path("email/<str:token>", addresses.confirm_email, name="confirm_email"),
    path("password", passwords.AskForPassword.as_view(), name="ask_for_password"),
    path("password/sent", passwords.LetterSent.as_view(), name="password_letter_sent"),
    path("password/<uidb64>/<token>", passwords.NewPassword.as_view(), name="new_password"),
    path("profile/export", account_closure.export, name="export"),
    path("profile/close", account_closure.close, name="close"),
    path("desk/", desk.desk, name="desk"),
]
