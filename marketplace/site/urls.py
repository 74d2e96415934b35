"""Urls of the worker site and the desk. The shapes are the real service's, so that printed links work."""

from django.urls import URLPattern, path, register_converter

from marketplace.parts import patterns_of
from marketplace.requester import overview
from marketplace.site import account, history, payment_details, qualifications, work


class EntityIdConverter:
    """Ids of the protocol: HITs, their types and groups, qualification types."""

    regex = "[A-Z0-9]{1,64}"

    def to_python(self, value: str) -> str:
        """As it is in the URL."""
        return value

    def to_url(self, value: str) -> str:
        """As it is in the database."""
        return value


register_converter(EntityIdConverter, "id")

app_name = "site"
urlpatterns: list[URLPattern] = [
    path("", work.groups, name="groups"),
    path("projects/<id:group_id>/tasks", work.preview, name="preview"),
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
    path("projects/<id:group_id>/rating", history.rate, name="rate"),
    path("projects/<id:group_id>/contact", history.contact, name="contact"),
    path("mturk/preview", work.preview_by_query, name="preview_by_query"),
    path("guest/<str:signature>/", work.guest_work, name="guest_work"),
    path("guest/<str:signature>/continue", work.guest_going_on, name="guest_continue"),
    path("guest/<str:signature>/return", work.give_back_as_guest, name="guest_return"),
    path("guest/<str:signature>/attention", work.guest_attention, name="guest_attention"),
    path("guest/<str:signature>/storage", work.keep_guest_storage, name="guest_storage"),
    path("tasks", work.queue, name="queue"),
    path("tasks/continue/<int:holding_id>", work.after_submit, name="continue"),
    path("tasks/attention", work.attention, name="attention"),
    path("tasks/storage", work.keep_storage, name="keep_storage"),
    path("history", history.history, name="history"),
    path("feedback", history.feedback, name="feedback"),
    path("dashboard", history.earnings, name="earnings"),
    path("inbox", history.inbox, name="inbox"),
    path("inbox/sent", history.sent, name="sent"),
    path("inbox/<int:message>/reply", history.reply, name="reply"),
    path("signup", account.signup, name="signup"),
    path("invitation/<slug:token>", account.invitation, name="invitation"),
    path("profile", account.profile, name="profile"),
    path("profile/accept-next", account.accept_next, name="accept_next"),
    path("profile/payment", payment_details.payment, name="payment"),
    path("profile/payment/forget", payment_details.forget_payment, name="forget_payment"),
    path("payment/<str:token>", payment_details.confirm_payment, name="confirm_payment"),
    path("profile/country", account.country, name="country"),
    path("profile/email", account.email, name="email"),
    path("profile/email/remove", account.remove_email, name="remove_email"),
    path("profile/digest", account.digest, name="digest"),
    path("unsubscribe/<str:token>", account.unsubscribe, name="unsubscribe"),
    path("email/<str:token>", account.confirm_email, name="confirm_email"),
    path("password", account.AskForPassword.as_view(), name="ask_for_password"),
    path("password/sent", account.LetterSent.as_view(), name="password_letter_sent"),
    path("password/<uidb64>/<token>", account.NewPassword.as_view(), name="new_password"),
    path("profile/close", account.close, name="close"),
    path("desk/", overview.desk, name="desk"),
    *patterns_of("site"),
]
