"""The input shapes of the 39 operations of MTurkRequesterServiceV20170117.

Our own tables, compared member by member with botocore's service model by a test.
"""

from marketplace.protocol.constraints import Flag, IntegerShape, ListOf, Moment, Structure, Text

STRING = Text()
ENTITY_ID = Text(1, 64, r"[A-Z0-9]+")
CUSTOMER_ID = Text(1, 64, r"A[A-Z0-9]+")
AMOUNT = Text(pattern=r"[0-9]+(\.)?[0-9]{0,2}")
TOKEN = Text(1, 64)
COUNTRY = Text(2, 2)
INTEGER = IntegerShape(32)
LONG = IntegerShape(64)
FLAG = Flag()
PAGE = {"NextToken": Text(1, 255), "MaxResults": IntegerShape(32, 1, 100)}

ASSIGNMENT_STATUS = Text(enum=("Submitted", "Approved", "Rejected"))
QUALIFICATION_STATUS = Text(enum=("Granted", "Revoked"))
QUALIFICATION_TYPE_STATUS = Text(enum=("Active", "Inactive"))
REVIEW_LEVEL = Text(enum=("Assignment", "HIT"))
REVIEWABLE_STATUS = Text(enum=("Reviewable", "Reviewing"))
TRANSPORT = Text(enum=("Email", "SQS", "SNS"))
EVENT_TYPE = Text(
    enum=(
        "AssignmentAccepted",
        "AssignmentAbandoned",
        "AssignmentReturned",
        "AssignmentSubmitted",
        "AssignmentRejected",
        "AssignmentApproved",
        "HITCreated",
        "HITExpired",
        "HITReviewable",
        "HITExtended",
        "HITDisposed",
        "Ping",
    )
)
COMPARATOR = Text(
    enum=(
        "LessThan",
        "LessThanOrEqualTo",
        "GreaterThan",
        "GreaterThanOrEqualTo",
        "EqualTo",
        "NotEqualTo",
        "Exists",
        "DoesNotExist",
        "In",
        "NotIn",
    )
)
ACTIONS_GUARDED = Text(enum=("Accept", "PreviewAndAccept", "DiscoverPreviewAndAccept"))

LOCALE = Structure({"Country": COUNTRY}, {"Subdivision": COUNTRY})
REQUIREMENT = Structure(
    {"QualificationTypeId": STRING, "Comparator": COMPARATOR},
    {
        "IntegerValues": ListOf(INTEGER),
        "LocaleValues": ListOf(LOCALE),
        "RequiredToPreview": FLAG,
        "ActionsGuarded": ACTIONS_GUARDED,
    },
)
POLICY_MAP_ENTRY = Structure({}, {"Key": STRING, "Values": ListOf(STRING)})
POLICY_PARAMETER = Structure(
    {}, {"Key": STRING, "Values": ListOf(STRING), "MapEntries": ListOf(POLICY_MAP_ENTRY)}
)
REVIEW_POLICY = Structure({"PolicyName": STRING}, {"Parameters": ListOf(POLICY_PARAMETER)})
LAYOUT_PARAMETER = Structure({"Name": STRING, "Value": STRING})
NOTIFICATION = Structure(
    {
        "Destination": STRING,
        "Transport": TRANSPORT,
        "Version": STRING,
        "EventTypes": ListOf(EVENT_TYPE),
    }
)

_TYPE_REQUIRED = {
    "AssignmentDurationInSeconds": LONG,
    "Reward": AMOUNT,
    "Title": STRING,
    "Description": STRING,
}
_TYPE_OPTIONAL = {
    "AutoApprovalDelayInSeconds": LONG,
    "Keywords": STRING,
    "QualificationRequirements": ListOf(REQUIREMENT),
}
_HIT_OPTIONAL = {
    "MaxAssignments": INTEGER,
    "Question": STRING,
    "RequesterAnnotation": STRING,
    "UniqueRequestToken": TOKEN,
    "AssignmentReviewPolicy": REVIEW_POLICY,
    "HITReviewPolicy": REVIEW_POLICY,
    "HITLayoutId": ENTITY_ID,
    "HITLayoutParameters": ListOf(LAYOUT_PARAMETER),
}
_TEST = {
    "Test": STRING,
    "AnswerKey": STRING,
    "TestDurationInSeconds": LONG,
    "RetryDelayInSeconds": LONG,
    "AutoGranted": FLAG,
    "AutoGrantedValue": INTEGER,
}

OPERATIONS: dict[str, Structure] = {
    "AcceptQualificationRequest": Structure({"QualificationRequestId": STRING}, {"IntegerValue": INTEGER}),
    "ApproveAssignment": Structure(
        {"AssignmentId": ENTITY_ID}, {"RequesterFeedback": STRING, "OverrideRejection": FLAG}
    ),
    "AssociateQualificationWithWorker": Structure(
        {"QualificationTypeId": ENTITY_ID, "WorkerId": CUSTOMER_ID},
        {"IntegerValue": INTEGER, "SendNotification": FLAG},
    ),
    "CreateAdditionalAssignmentsForHIT": Structure(
        {"HITId": ENTITY_ID, "NumberOfAdditionalAssignments": INTEGER}, {"UniqueRequestToken": TOKEN}
    ),
    "CreateHIT": Structure(
        {"LifetimeInSeconds": LONG, **_TYPE_REQUIRED}, {**_TYPE_OPTIONAL, **_HIT_OPTIONAL}
    ),
    "CreateHITType": Structure(_TYPE_REQUIRED, _TYPE_OPTIONAL),
    "CreateHITWithHITType": Structure({"HITTypeId": ENTITY_ID, "LifetimeInSeconds": LONG}, _HIT_OPTIONAL),
    "CreateQualificationType": Structure(
        {"Name": STRING, "Description": STRING, "QualificationTypeStatus": QUALIFICATION_TYPE_STATUS},
        {"Keywords": STRING, **_TEST},
    ),
    "CreateWorkerBlock": Structure({"WorkerId": CUSTOMER_ID, "Reason": STRING}),
    "DeleteHIT": Structure({"HITId": ENTITY_ID}),
    "DeleteQualificationType": Structure({"QualificationTypeId": ENTITY_ID}),
    "DeleteWorkerBlock": Structure({"WorkerId": CUSTOMER_ID}, {"Reason": STRING}),
    "DisassociateQualificationFromWorker": Structure(
        {"WorkerId": CUSTOMER_ID, "QualificationTypeId": ENTITY_ID}, {"Reason": STRING}
    ),
    "GetAccountBalance": Structure(),
    "GetAssignment": Structure({"AssignmentId": ENTITY_ID}),
    "GetFileUploadURL": Structure({"AssignmentId": ENTITY_ID, "QuestionIdentifier": STRING}),
    "GetHIT": Structure({"HITId": ENTITY_ID}),
    "GetQualificationScore": Structure({"QualificationTypeId": ENTITY_ID, "WorkerId": CUSTOMER_ID}),
    "GetQualificationType": Structure({"QualificationTypeId": ENTITY_ID}),
    "ListAssignmentsForHIT": Structure(
        {"HITId": ENTITY_ID}, {**PAGE, "AssignmentStatuses": ListOf(ASSIGNMENT_STATUS)}
    ),
    "ListBonusPayments": Structure({}, {"HITId": ENTITY_ID, "AssignmentId": ENTITY_ID, **PAGE}),
    "ListHITs": Structure({}, PAGE),
    "ListHITsForQualificationType": Structure({"QualificationTypeId": ENTITY_ID}, PAGE),
    "ListQualificationRequests": Structure({}, {"QualificationTypeId": ENTITY_ID, **PAGE}),
    "ListQualificationTypes": Structure(
        {"MustBeRequestable": FLAG}, {"Query": STRING, "MustBeOwnedByCaller": FLAG, **PAGE}
    ),
    "ListReviewPolicyResultsForHIT": Structure(
        {"HITId": ENTITY_ID},
        {"PolicyLevels": ListOf(REVIEW_LEVEL), "RetrieveActions": FLAG, "RetrieveResults": FLAG, **PAGE},
    ),
    "ListReviewableHITs": Structure({}, {"HITTypeId": ENTITY_ID, "Status": REVIEWABLE_STATUS, **PAGE}),
    "ListWorkerBlocks": Structure({}, PAGE),
    "ListWorkersWithQualificationType": Structure(
        {"QualificationTypeId": ENTITY_ID}, {"Status": QUALIFICATION_STATUS, **PAGE}
    ),
    "NotifyWorkers": Structure({"Subject": STRING, "MessageText": STRING, "WorkerIds": ListOf(CUSTOMER_ID)}),
    "RejectAssignment": Structure({"AssignmentId": ENTITY_ID, "RequesterFeedback": STRING}),
    "RejectQualificationRequest": Structure({"QualificationRequestId": STRING}, {"Reason": STRING}),
    "SendBonus": Structure(
        {"WorkerId": CUSTOMER_ID, "BonusAmount": AMOUNT, "AssignmentId": ENTITY_ID, "Reason": STRING},
        {"UniqueRequestToken": TOKEN},
    ),
    "SendTestEventNotification": Structure({"Notification": NOTIFICATION, "TestEventType": EVENT_TYPE}),
    "UpdateExpirationForHIT": Structure({"HITId": ENTITY_ID, "ExpireAt": Moment()}),
    "UpdateHITReviewStatus": Structure({"HITId": ENTITY_ID}, {"Revert": FLAG}),
    "UpdateHITTypeOfHIT": Structure({"HITId": ENTITY_ID, "HITTypeId": ENTITY_ID}),
    "UpdateNotificationSettings": Structure(
        {"HITTypeId": ENTITY_ID}, {"Notification": NOTIFICATION, "Active": FLAG}
    ),
    "UpdateQualificationType": Structure(
        {"QualificationTypeId": ENTITY_ID},
        {"Description": STRING, "QualificationTypeStatus": QUALIFICATION_TYPE_STATUS, **_TEST},
    ),
}
