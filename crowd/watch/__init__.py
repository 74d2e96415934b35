"""Rules of the crowd about what its people should know; see `core.notices.conditions`."""
