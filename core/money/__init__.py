"""Money as the apps on both sides of the wire count it: amounts in cents, fee profiles. Pure Python."""
