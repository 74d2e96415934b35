"""What workers are shown and what they send: HTML, QuestionForms, answers, files, stored values."""
