"""QuestionForm: questions that the marketplace itself draws, as tasks and as qualification tests."""
