"""Notices: what somebody should know about their projects, in the page and by e-mail."""
