"""Topics: the protocol of Amazon's SNS, as far as scripts that follow their HITs call it."""
