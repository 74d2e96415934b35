"""Notifications of what happens to HITs: asking for them, and trying them out."""

from marketplace import notifications
from marketplace.protocol import lookup
from marketplace.protocol.calls import Call, Result, operation

#: What a test event is about: ids of nothing, as recorded from the real service.
_TEST_IDS = {"HITTypeId": "09876543210987654321", "HITId": "12345678901234567890"}
_TEST_ASSIGNMENT = "1234567890123456789012345678900987654321"


@operation("UpdateNotificationSettings", writes=True)
def update_notification_settings(call: Call) -> Result:
    """Give a HIT type a notification specification, or switch the present one on or off."""
    notifications.update_specification(
        hit_type=lookup.hit_type(call),
        specification=call.get("Notification"),
        active=call.get("Active"),
        now=call.now,
    )
    return {}


@operation("SendTestEventNotification", writes=True)
def send_test_event_notification(call: Call) -> Result:
    """Queue or publish one event as if it had happened, whatever events the specification names."""
    wanted = notifications.check_specification(call.requester, call["Notification"], ping=True)
    event = {
        "EventType": call["TestEventType"],
        "EventTimestamp": notifications.timestamp(call.now),
        **_TEST_IDS,
    }
    if call["TestEventType"].startswith("Assignment"):
        event["AssignmentId"] = _TEST_ASSIGNMENT
    notifications.open_destination(call.requester, wanted, call.now)
    notifications.put_event(call.requester, wanted, event)
    return {}
