"""The list of HIT groups."""

from datetime import timedelta

from django.utils import timezone

from marketplace.lifecycle.hits import return_assignment
from marketplace.models import HIT
from tests.site import world


def titles(client, query=""):
    return [group.hit_type.title for group in client.get(f"/{query}").context["groups"]]


def counts(client):
    return {group.hit_type.title: group.available for group in client.get("/").context["groups"]}


def test_a_visitor_reads_the_list_and_is_asked_to_sign_in(lab, visitor):
    world.post(world.make_group(lab, "Judge an answer", reward_cents=60))
    page = visitor.get("/").content.decode()
    assert "Judge an answer" in page
    assert "$0.60" in page
    assert "Answer Lab" in page
    assert "1 HIT<" in page
    assert 'href="/accounts/login/"' in page
    assert ">Accept<" not in page


def test_a_worker_sees_how_many_hits_are_left_for_them(lab, rosa, as_rosa, as_ben):
    group = world.make_group(lab, "Answers")
    hits = [world.post(group, places=2) for _ in range(5)]
    world.do(rosa, hits[0])
    world.take(rosa, hits[1])
    return_assignment(holding=world.take(rosa, hits[2]))
    world.do(rosa, world.post(world.make_group(lab, "All done"), places=2))
    assert counts(as_rosa) == {"Answers": 3}
    assert counts(as_ben) == {"Answers": 5, "All done": 1}


def test_full_expired_and_disposed_hits_are_not_offered_and_a_place_whose_time_ran_out_at_once(
    lab, rosa, visitor
):
    group = world.make_group(lab, "Answers")
    world.do(rosa, world.post(group))
    world.post(group, lifetime_s=30, at=timezone.now() - timedelta(minutes=1))
    HIT.objects.filter(pk=world.post(group).pk).update(disposed_at=timezone.now())
    assert titles(visitor) == []
    group = world.make_group(lab, "Answers", duration_s=60)
    with world.in_the_past(hours=1):
        world.take(rosa, world.post(group))
    assert titles(visitor) == ["Answers"]


def test_search_finds_groups_in_which_all_words_occur(lab, visitor):
    other = world.make_requester("Linguistics, Room 4.12")
    world.post(world.make_group(lab, "Read a passage", description="Read.", keywords="text"))
    world.post(world.make_group(other, "Listen", description="You need headphones.", keywords="acoustics"))
    for search, found in (
        ("passage", ["Read a passage"]),
        ("PASSAGE read", ["Read a passage"]),
        ("passage sound", []),
        ("acoustics", ["Listen"]),
        ("headphones", ["Listen"]),
        ("room 4.12", ["Listen"]),
        ("%", []),
    ):
        shown = visitor.get("/", {"q": search})
        assert [group.hit_type.title for group in shown.context["groups"]] == found, search
    assert "Nothing fits these words" in shown.content.decode()


def test_the_list_is_ordered_as_the_url_says(lab, visitor):
    quick = world.make_group(lab, "quick", reward_cents=10, duration_s=60)
    rich = world.make_group(lab, "rich", reward_cents=300, duration_s=3600)
    large = world.make_group(lab, "large", reward_cents=50, duration_s=600)
    now = timezone.now()
    world.post(quick, at=now - timedelta(hours=1))
    world.post(rich, at=now - timedelta(hours=3))
    for _ in range(3):
        world.post(large, at=now - timedelta(hours=2))
    assert titles(visitor) == ["quick", "large", "rich"]
    assert titles(visitor, "?sort=newest") == ["quick", "large", "rich"]
    assert titles(visitor, "?sort=reward") == ["rich", "large", "quick"]
    assert titles(visitor, "?sort=time") == ["quick", "large", "rich"]
    assert titles(visitor, "?sort=available") == ["large", "quick", "rich"]


def test_nonsense_in_the_url_falls_back_to_the_first_page_of_the_newest(lab, visitor):
    world.post(world.make_group(lab, "Answers"))
    assert titles(visitor, "?sort=name&page=minus&q=%00") == ["Answers"]
    assert titles(visitor, "?page=999") == ["Answers"]


def test_long_lists_are_paged_and_links_keep_search_and_order(lab, visitor):
    for number in range(25):
        world.post(world.make_group(lab, f"Group {number:02}", reward_cents=number + 1))
    assert len(titles(visitor)) == 20
    assert titles(visitor, "?page=2&sort=reward") == [f"Group {n:02}" for n in (4, 3, 2, 1, 0)]
    page = visitor.get("/?sort=reward&q=group").content.decode()
    assert "Page 1 of 2" in page
    assert 'href="?sort=reward&amp;q=group&amp;page=2"' in page


def test_missing_qualifications_are_named(lab, as_rosa):
    kind = world.make_qualification(lab, "Guidelines read")
    world.post(world.make_group(lab, requirements=[world.needs(kind)]))
    page = as_rosa.get("/").content.decode()
    assert "You need the qualification “Guidelines read”." in page
    assert ">Accept<" not in page
    assert ">Preview<" in page


def test_what_a_worker_may_not_discover_is_not_there(lab, rosa, as_rosa, as_ben, visitor):
    from marketplace.qualifications.grants import grant

    kind = world.make_qualification(lab, "Has done this before")
    grant(qualification_type=kind, worker=rosa, value=1, notify=False)
    secret = world.needs(kind, "DoesNotExist", "DiscoverPreviewAndAccept")
    world.post(world.make_group(lab, "For new people", requirements=[secret]))
    world.post(world.make_group(lab, "For all"))
    assert titles(as_rosa) == ["For all"]
    assert titles(as_ben) == ["For all", "For new people"]
    assert titles(visitor) == ["For all", "For new people"]


def test_hostile_text_stays_text(lab, visitor):
    nasty = world.make_requester("<b>Lab</b>")
    world.post(
        world.make_group(
            nasty,
            "<script>alert(1)</script>",
            description="</p><img src=x onerror=alert(2)>",
            keywords='"><svg onload=alert(3)>',
        )
    )
    page = visitor.get("/", {"q": "<script>"}).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<img src=x" not in page
    assert "<svg onload" not in page
    assert "&lt;b&gt;Lab&lt;/b&gt;" in page


def test_a_long_list_costs_no_more_queries_than_a_short_one(lab, as_rosa, queries_of):
    kind = world.make_qualification(lab, "Guidelines read")
    rules = [world.needs(kind, "DoesNotExist", "DiscoverPreviewAndAccept")]
    world.post(world.make_group(lab, "first", requirements=rules))
    short = queries_of(as_rosa, "/")
    for number in range(29):
        world.post(world.make_group(lab, f"more {number}", requirements=rules if number % 2 else []))
    assert queries_of(as_rosa, "/") == short
    assert short <= 21
