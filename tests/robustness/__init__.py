"""The whole server under crowds, kills and garbage, seen from outside."""
