"""The kind `questionnaire`: a unit is shown, and fields about it are answered."""
