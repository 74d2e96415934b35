"""How the data of each kind of stage are collected, in the words of the papers that they follow."""

#: The papers, by the words that the methods use for them.
PAPERS = (
    "Mitra et al. (2016): *A Proposal for Evaluating Answer Distillation from Web Data*. SIGIR 2016 WebQA "
    "Workshop.",
    "Lee et al. (2021): *KPQA: A Metric for Generative Question Answering Using Keyphrase Weights*. NAACL "
    "2021.",
    "Lowe et al. (2017): *Towards an Automatic Turing Test: Learning to Evaluate Dialogue Responses*. ACL "
    "2017.",
    "He et al. (2018): *DuReader: a Chinese Machine Reading Comprehension Dataset from Real-world "
    "Applications*. "
    "MRQA 2018.",
    "Kaiser, Saha Roy and Weikum (2020): *Conversational Question Answering over Passages by Leveraging Word "
    "Proximity Networks*. SIGIR 2020.",
    "Jung and Lease (2011): *Improving Consensus Accuracy via Z-score and Weighted Voting*. HCOMP 2011.",
)
METHODS = {
    "screening": (
        "**Screening.** Several people looked at each query and said whether its intent is unambiguous, "
        "whether one short passage could answer it definitively, of which class it is, and whether it holds "
        "sensitive or adult content. Queries that a majority found informational, unambiguous and "
        "answerable went on (Mitra et al. 2016, section 3.1)."
    ),
    "curation": (
        "**Curation.** People chose, among the candidate passages of a query, the one or the few that "
        "together give one complete and coherent answer, or said that the passages cannot answer it; such "
        "queries left the data set (Mitra et al. 2016, section 3.2)."
    ),
    "distillation": (
        "**Distillation.** Several people, each on their own, read the curated passages and wrote the "
        "answer in their own words, from a single word to several sentences (Mitra et al. 2016, section "
        "3.3). Yes-no queries also have the writer's opinion and queries for entities the names that the "
        "writer marked, in the terms of He et al. (2018)."
    ),
    "continuation": (
        "**Continuation.** Several people, each on their own, read a dialogue and wrote its next message. "
        "What they wrote is no reference: it was judged beside the answers of systems, as those of the "
        "system human (Lowe et al. 2017, section 2, round 1)."
    ),
    "judging": (
        "**Judging.** People scored the answers of systems for correctness, without the systems' names and "
        "in an order that was shuffled for each judge: 1 completely wrong, 2 a vital error, 3 ambiguous, 4 "
        "a minor error, 5 completely correct (Lee et al. 2021, section 4.2; Lowe et al. 2017, section 2), "
        "or on the scale that the stage defines."
    ),
}
