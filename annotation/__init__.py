"""From query log to reference answers: import and sampling, screening, curation, distillation."""
