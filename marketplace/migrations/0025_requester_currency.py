from django.conf import settings
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def fill_currency(apps, schema_editor):
    """That of the newest payout, which says it; else that of the settings, in which the money was booked."""
    requester, payout = apps.get_model("marketplace", "Requester"), apps.get_model("marketplace", "Payout")
    with_money = requester.objects.filter(real_money=True, deposited_cents__gt=0)
    newest = payout.objects.filter(requester=OuterRef("pk")).order_by("-pk").values("currency")[:1]
    paid = payout.objects.filter(requester__in=with_money).values("requester")
    with_money.exclude(pk__in=paid).update(currency=settings.MARKETPLACE_CURRENCY)
    with_money.filter(pk__in=paid).update(currency=Subquery(newest))


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0024_former_id_settled")]

    operations = [
        migrations.AddField(
            model_name="requester",
            name="currency",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Of its real money, from the first deposit on.",
                max_length=3,
            ),
        ),
        migrations.RunPython(fill_currency, migrations.RunPython.noop),
    ]
