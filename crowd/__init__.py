"""Our side of the wire: stages become HITs, are published, collected, paid and topped up; nothing is lost."""
