"""XML that somebody sent: read without DTD and entities, refused in a sentence, written without a mishap."""

import re
from xml.etree.ElementTree import Element, ParseError

from defusedxml import ElementTree as SafeTree
from defusedxml.common import DefusedXmlException

from marketplace.errors import Refusal, invalid_value

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
#: What MTurk takes for a question, a test and an answer key alike.
MAX_BYTES = 65_535
_UNPRINTABLE = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def root_of(xml: str, *, parameter: str = "Question") -> Element:
    """Root element of XML that came in a parameter; raises Refusal where it is too long or not XML."""
    if len(xml.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise invalid_value(parameter, f"it is longer than {MAX_BYTES} bytes.")
    try:
        root: Element = SafeTree.fromstring(xml, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        raise parse_error(f"it is not well-formed XML without DTD and entities ({error})") from error
    return root


def parse_error(why: str) -> Refusal:
    """XML that is not what the schema asks for, with the protocol's own beginning of the sentence."""
    return Refusal("XMLParseError", f"There was an error parsing the XML question or answer data: {why}.")


def printable(text: str) -> str:
    """Text with the characters that XML 1.0 cannot carry replaced, so that no answer is lost to them."""
    return _UNPRINTABLE.sub("\ufffd", text)
