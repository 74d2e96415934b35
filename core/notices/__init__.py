"""Notices: what people should know about their projects, in the page and by e-mail."""
