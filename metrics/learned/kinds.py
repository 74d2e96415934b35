"""Kinds of models, as their cards and the settings of profiles call them."""

KPQA, ADEM = "kpqa", "adem"
KINDS = (KPQA, ADEM)
#: The family of settings that hold the encoder of BERTScore.
BERTSCORE = "bertscore"
