"""Tags of templates of study links."""
