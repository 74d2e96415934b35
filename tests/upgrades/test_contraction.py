"""What the check of migrations refuses, and what it lets pass: expand first, contract a release later."""

import pytest
from django.db import migrations, models
from django.db.migrations.state import ModelState, ProjectState

from tests.upgrades.contraction import find_contractions
from tests.upgrades.landed import (
    UNRELEASED,
    LandedMigration,
    add_new,
    digest_migrations,
    find_faults,
    read_landed,
    write_landed,
)


def refused(*operations):
    released = ProjectState()
    fields = {
        "id": models.BigAutoField(primary_key=True),
        "title": models.CharField(max_length=80),
        "note": models.TextField(null=True),
        "size": models.IntegerField(),
        "price": models.DecimalField(max_digits=8, decimal_places=2),
    }
    released.add_model(ModelState("shop", "Thing", list(fields.items())))
    migration = migrations.Migration("0002_next", "shop")
    migration.operations = list(operations)
    return [key.removeprefix("shop.0002_next: ") for key, _ in find_contractions(released, [migration])]


NEW_TABLE = migrations.CreateModel("Box", [("id", models.BigAutoField(primary_key=True))])


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        (migrations.RemoveField("Thing", "note"), "RemoveField Thing.note"),
        (migrations.DeleteModel("Thing"), "DeleteModel Thing"),
        (migrations.RenameField("Thing", "note", "remark"), "RenameField Thing.note"),
        (migrations.RenameModel("Thing", "Item"), "RenameModel Thing"),
        (migrations.AlterModelTable("Thing", "items"), "AlterModelTable Thing"),
        (migrations.RunSQL("DROP TABLE shop_thing"), "RunSQL"),
        (
            migrations.SeparateDatabaseAndState([migrations.RemoveField("Thing", "note")]),
            "RemoveField Thing.note",
        ),
        (migrations.AddField("Thing", "count", models.IntegerField(default=0)), "AddField Thing.count"),
        (migrations.AlterField("Thing", "note", models.TextField()), "AlterField Thing.note"),
        (migrations.AlterField("Thing", "title", models.CharField(max_length=79)), "AlterField Thing.title"),
        (migrations.AlterField("Thing", "title", models.SlugField(max_length=80)), "AlterField Thing.title"),
        (migrations.AlterField("Thing", "size", models.SmallIntegerField()), "AlterField Thing.size"),
        (migrations.AlterField("Thing", "size", models.PositiveIntegerField()), "AlterField Thing.size"),
        (migrations.AlterField("Thing", "size", models.IntegerField(unique=True)), "AlterField Thing.size"),
        (
            migrations.AlterField("Thing", "price", models.DecimalField(max_digits=6, decimal_places=2)),
            "AlterField Thing.price",
        ),
    ],
)
def test_what_takes_something_from_the_last_version_is_refused(operation, name):
    assert refused(operation) == [name]


@pytest.mark.parametrize(
    "operations",
    [
        [migrations.AddField("Thing", "count", models.IntegerField(db_default=0))],
        [migrations.AddField("Thing", "count", models.IntegerField(null=True))],
        [migrations.AlterField("Thing", "title", models.CharField(max_length=200))],
        [migrations.AlterField("Thing", "title", models.TextField())],
        [migrations.AlterField("Thing", "size", models.BigIntegerField(null=True))],
        [NEW_TABLE, migrations.AddField("Box", "label", models.TextField()), migrations.DeleteModel("Box")],
        [NEW_TABLE, migrations.RenameModel("Box", "Crate")],
        [
            migrations.AddField("Thing", "count", models.IntegerField(null=True)),
            migrations.RemoveField("Thing", "count"),
        ],
        [migrations.RunPython(migrations.RunPython.noop)],
        [
            migrations.SeparateDatabaseAndState(
                state_operations=[
                    migrations.RenameModel("Thing", "Item"),
                    migrations.AlterModelTable("Item", "shop_thing"),
                ]
            )
        ],
    ],
)
def test_what_the_last_version_can_ignore_passes(operations):
    assert refused(*operations) == []


def test_a_column_that_is_nullable_for_one_migration_only_is_refused_like_one_that_never_was():
    assert refused(
        migrations.AddField("Thing", "count", models.IntegerField(null=True)),
        migrations.AlterField("Thing", "count", models.IntegerField()),
    ) == ["AlterField Thing.count"]


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "shop" / "migrations"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "0001_initial.py").write_text("first")
    return tmp_path


def test_an_edited_or_removed_migration_is_named_with_what_to_do(tree):
    landed = {}
    assert add_new(landed, digest_migrations(tree)) == ["shop/migrations/0001_initial.py"]
    assert find_faults(landed, digest_migrations(tree)) == []
    file = tree / "shop/migrations/0001_initial.py"
    file.write_text("edited")
    [fault] = find_faults(landed, digest_migrations(tree))
    assert "shop/migrations/0001_initial.py has landed and was edited. Never edit" in fault
    assert "new migration" in fault
    file.unlink()
    [fault] = find_faults(landed, digest_migrations(tree))
    assert "is gone. Put it back" in fault


def test_a_new_migration_is_added_by_the_command_and_an_edited_one_never_is(tree):
    landed = {}
    add_new(landed, digest_migrations(tree))
    (tree / "shop/migrations/0002_more.py").write_text("second")
    [fault] = find_faults(landed, digest_migrations(tree))
    assert "make landed-migrations" in fault
    (tree / "shop/migrations/0001_initial.py").write_text("edited")
    assert add_new(landed, digest_migrations(tree)) == ["shop/migrations/0002_more.py"]
    [fault] = find_faults(landed, digest_migrations(tree))
    assert "Never edit" in fault
    write_landed(landed, tree / "list.txt")
    assert read_landed(tree / "list.txt") == landed
    assert landed["shop/migrations/0002_more.py"] == LandedMigration(
        "16367aacb67a4a017c8da8ab95682ccb390863780f7114dda0a0e0c55644c7c4",
        "shop/migrations/0002_more.py",
        UNRELEASED,
    )
