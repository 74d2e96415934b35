"""The demonstration: campaigns by simulated people, live or from a file, and a tour through them."""
