"""Operations that this marketplace does not perform: each says so, none pretends.

`docs/marketplace.md` lists them; a test compares that list with this one.
"""

from marketplace.errors import Refusal
from marketplace.protocol.calls import Call, Result, operation

WHY = {
    "GetFileUploadURL": "GetFileUploadURL is deprecated and not supported; collect files on your own page.",
}


def _refuse(call: Call) -> Result:
    raise Refusal("NotSupported", WHY[call.operation])


for _name in WHY:
    operation(_name, writes=False)(_refuse)
