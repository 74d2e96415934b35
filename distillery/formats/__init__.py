"""Dates as pages write them, where Django's own are not ours: short ones with the month in letters."""
