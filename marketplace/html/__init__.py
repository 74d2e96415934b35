"""Task pages that requesters send as HTML: how they are served so that they can do no harm."""
