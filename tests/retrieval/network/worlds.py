"""Passages made of a few topics, and the bytes of a network."""

import random

TEXTS = {
    "hospital": ["doctor", "nurse", "patient", "ward", "treats", "visits", "heals", "bed", "ill", "medicine"],
    "garage": ["engine", "wheel", "mechanic", "oil", "repairs", "brake", "drives", "road", "fuel", "gear"],
    "kitchen": ["cook", "oven", "bread", "salt", "bakes", "stirs", "soup", "pepper", "plate", "spoon"],
}


def passages(count, *, seed, words=14):
    """Sentences of one topic each, with some numbers and function words between."""
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        topic = chance.choice(list(TEXTS.values()))
        chosen = [
            chance.choice([*topic, *topic, "the", "of", str(chance.randrange(30))]) for _ in range(words)
        ]
        chosen[chance.randrange(words)] += "."
        made.append(" ".join(chosen).capitalize())
    return made


def tree(folder):
    """Bytes of all columns of a network's segments and vectors, by name."""
    return {
        (path.parent.name[0], path.name): path.read_bytes()
        for path in folder.glob("[sv]*/*")
        if path.is_file()
    }
