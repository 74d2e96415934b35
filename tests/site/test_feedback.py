"""What requesters said of a worker's work."""

from tests.site import world


def said(client, query=""):
    return [(each.kind, each.comment) for each in client.get(f"/feedback{query}").context["said"]]


def test_decisions_with_words_and_bonuses_are_listed_the_latest_first(lab, rosa, ben, as_rosa):
    group = world.make_group(lab)
    with world.in_the_past(days=2, hours=12):
        good, plain, bad, other = (world.do(who, world.post(group)) for who in (rosa, rosa, rosa, ben))
        world.do(rosa, world.post(group))
    with world.in_the_past(days=2):
        world.approve(good, "Very clear.")
        world.approve(plain)
        world.approve(other, "For Ben alone.")
    with world.in_the_past(days=1):
        world.reject(bad, "<b>Copied.")
    world.bonus(good, 50, "For the explanation.")
    assert said(as_rosa) == [
        ("bonus", "For the explanation."),
        ("rejected", "<b>Copied."),
        ("approved", "Very clear."),
    ]
    assert said(as_rosa, "?kind=approved") == [("approved", "Very clear.")]
    assert said(as_rosa, "?kind=rejected") == [("rejected", "<b>Copied.")]
    assert said(as_rosa, "?kind=bonus") == [("bonus", "For the explanation.")]
    page = as_rosa.get("/feedback").content.decode()
    assert "$0.50" in page and "&lt;b&gt;Copied." in page
    assert "66 %" in page


def test_work_is_counted_by_requester(lab, rosa, as_rosa):
    other = world.make_requester("Speech Group")
    one, two = world.make_group(lab), world.make_group(other)
    world.approve(world.do(rosa, world.post(one)))
    world.reject(world.do(rosa, world.post(two)), "Silence.")
    paid = world.do(rosa, world.post(two))
    world.approve(paid)
    world.bonus(paid, 25)
    world.do(rosa, world.post(two))
    context = as_rosa.get("/feedback").context
    assert [(each.name, each.approved, each.rejected, each.waiting) for each in context["requesters"]] == [
        ("Speech Group", 1, 1, 1),
        ("Answer Lab", 1, 0, 0),
    ]
    assert context["requesters"][0].bonus_cents == 25
    assert (context["everything"].rate, context["everything"].total) == (66, 4)


def test_feedback_costs_the_same_with_one_word_and_with_thirty(lab, rosa, as_rosa, queries_of):
    group = world.make_group(lab)

    def feedback(number):
        holding = world.do(rosa, world.post(group))
        world.approve(holding, f"Good {number}")
        world.bonus(holding, 5)

    feedback(0)
    one = queries_of(as_rosa, "/feedback")
    for number in range(14):
        feedback(number)
    assert queries_of(as_rosa, "/feedback") == one


def test_pages_of_feedback_follow_each_other(lab, rosa, as_rosa):
    group = world.make_group(lab)
    for number in range(22):
        world.approve(world.do(rosa, world.post(group)), f"Good {number}")
    words = [words for _, words in said(as_rosa) + said(as_rosa, "?page=2")]
    assert sorted(words) == sorted(f"Good {number}" for number in range(22))
