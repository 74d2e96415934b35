"""The page that workers see in the marketplace's frame: no cookie, no session, nothing trusted."""
