"""How good rankers are on judged queries: files of TREC's kinds, measures, paired tests. No Django."""
