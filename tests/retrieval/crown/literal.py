"""CROWN as loops, read off the paper and `docs/crown.md`: slow, and nothing to be clever about."""

from itertools import pairwise


def literal_parts(passage, terms, similarity, npmi, alpha, beta):
    """node, edge, pos of one passage: a list of sentences, each a list of words."""
    node = edge = pos = 0.0
    for number, sentence in enumerate(passage, 1):
        chosen = [best_term(word, terms, similarity) for word in sentence]
        weights = [
            value * terms[term] if term is not None and value > alpha else 0.0 for term, value in chosen
        ]
        active = [term is not None and value > alpha for term, value in chosen]
        inside = sum(weights)
        node += inside
        for i, word in enumerate(sentence):
            for k in range(i + 1, min(i + 4, len(sentence))):
                if not (active[i] and active[k]) or word == sentence[k] or chosen[i][0] == chosen[k][0]:
                    continue
                strength = npmi(word, sentence[k])
                if strength is not None and strength > beta:
                    edge += strength
                    inside += strength
        pos = max(pos, inside / number)
    return node, edge, pos


def best_term(word, terms, similarity):
    best, value = None, -2.0
    for term in terms:
        if similarity(word, term) > value:
            best, value = term, similarity(word, term)
    return best, value


def literal_final(parts, weights):
    """Reciprocal ranks (1, 2, 2, 4; equal to four decimals), weighted."""
    columns = [[1 / rank for rank in range(1, len(parts) + 1)]]
    for column in zip(*parts, strict=True):
        places = sorted(range(len(parts)), key=lambda place: -column[place])
        ranks = {places[0]: 1}
        for rank, (before, place) in enumerate(pairwise(places), 2):
            ranks[place] = ranks[before] if round(column[before], 4) == round(column[place], 4) else rank
        columns.append([1 / ranks[place] for place in range(len(parts))])
    return [sum(w * column[i] for w, column in zip(weights, columns, strict=True)) for i in range(len(parts))]
