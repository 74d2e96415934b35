"""Operations of the API about people from outside: study links, their lists, texts that they agree to."""

from people.api import links, rosters, texts

RESOURCES = (links.links, rosters.rosters, texts.texts)
