"""What the pages show of stages: counts, pay, operations, alarms. Nothing here changes anything."""
