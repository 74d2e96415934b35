"""`manage.py train-kpqa`: a keyphrase predictor from question answering sets as published."""

from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from django.conf import settings as project
from django.core.management.base import BaseCommand, CommandError, DjangoHelpFormatter

from core.accounts.commandline import natural, outputs, plain
from distillery_learned.training.progress import TrainingProgress, duration, said_of, stopping
from evaluations.commandline import positive

if TYPE_CHECKING:
    from metrics.model_folders import ModelFolder

#: Exit status of what was stopped by Ctrl-C, as shells have it.
_STOPPED = 130

_EPILOG = """\
DATA are JSON files as published: SQuAD 1.1 and 2.0 (and sets in their form), HotpotQA, MS-MARCO Q&A; also
gzipped. What cannot be used is counted by reason. The defaults are those of Lee et al. (2021), C.1: AdamW,
5 epochs, batches of 16, at most 256 word pieces, a layer of 768 units; of all epochs the one with the lowest
loss on the development set is kept.

MODEL is a folder: the encoder, the head, card.json with data, settings and figures, README.md for people.
While it is trained, MODEL.training/ holds what is needed to go on after Ctrl-C or a crash, with --resume:
the model is then the very same. That folder is removed when the model is complete.

  manage.py train-kpqa train-v1.1.json hotpot_train_v1.1.json --encoder ~/bert-base-uncased --out models/kpqa
"""


class _Formatter(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    """Leaves the lines below the options as they are."""


class Command(BaseCommand):
    """Parses, trains, prints."""

    help = "Train a predictor of key phrases for KPQA metrics (docs/metrics.md)."
    requires_system_checks = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        """The parser, with examples below the options."""
        return super().create_parser(
            prog_name, subcommand, epilog=_EPILOG, formatter_class=_Formatter, **kwargs
        )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """DATA, encoder and model; how to train; where."""
        parser.add_argument("data", nargs="+", type=Path, metavar="DATA", help="question answering sets")
        parser.add_argument(
            "--encoder",
            required=True,
            metavar="NAME|FOLDER",
            help="a transformer with a fast tokeniser: its folder, or its name on the Hub if it was fetched",
        )
        parser.add_argument("--out", required=True, type=Path, metavar="MODEL", help="the folder to make")
        parser.add_argument(
            "--download", action="store_true", help="fetch the encoder of that name; else nothing is fetched"
        )
        parser.add_argument("--resume", action="store_true", help="go on with a training that was stopped")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the facts of the run there")

        how = parser.add_argument_group("training")
        how.add_argument("--epochs", type=natural, default=5, metavar="N", help="(default: %(default)s)")
        how.add_argument("--batch", type=natural, default=16, metavar="N", help="(default: %(default)s)")
        how.add_argument(
            "--learning-rate",
            type=positive,
            default=2e-5,
            metavar="R",
            help="of AdamW (default: %(default)s)",
        )
        how.add_argument(
            "--warm-up",
            type=_share,
            default=0.0,
            metavar="SHARE",
            help="share of all steps in which the rate rises from 0 (default: none)",
        )
        how.add_argument(
            "--decay", action="store_true", help="let the rate fall to 0 by the last step (default: it stays)"
        )
        how.add_argument(
            "--max-length",
            type=natural,
            default=256,
            metavar="N",
            help="word pieces of a pair; longer answers are read in parts (default: %(default)s)",
        )
        how.add_argument(
            "--units", type=natural, default=768, metavar="N", help="of the layer (default: %(default)s)"
        )
        how.add_argument(
            "--without-question", action="store_true", help="the predictor sees answers alone (-KP)"
        )
        how.add_argument(
            "--dev-share",
            type=_share,
            default=0.1,
            metavar="SHARE",
            help="of the examples, set aside by passages to choose the epoch; with 0 the last epoch is kept "
            "(default: %(default)s)",
        )
        how.add_argument(
            "--limit", type=natural, metavar="N", help="use that many examples, drawn by the seed"
        )
        how.add_argument(
            "--without-whole",
            action="store_true",
            help="leave out examples whose key phrase is all of the answer sentence",
        )
        how.add_argument(
            "--seed",
            type=natural,
            default=13,
            metavar="N",
            help="of the split and of chance (default: %(default)s)",
        )
        how.add_argument(
            "--seeds",
            type=natural,
            default=1,
            metavar="N",
            help="train N times, with --seed and the next ones, into MODEL-SEED each (the paper: 5)",
        )

        where = parser.add_argument_group("machine")
        where.add_argument(
            "--device", default="auto", help="cpu, cuda, cuda:1 … (default: a GPU if there is one)"
        )
        where.add_argument(
            "--precision",
            default="auto",
            choices=("auto", "fp32", "bf16", "fp16"),
            help="half precision is mixed: weights stay fp32 (default: bf16 or fp16 on a GPU, fp32 on a CPU)",
        )
        where.add_argument(
            "--keep-every",
            type=positive,
            default=10.0,
            metavar="MINUTES",
            help="between checkpoints within an epoch; there is one after each (default: %(default)g)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Train; what cannot be done ends it with status 1 and leaves no model."""
        from metrics.errors import MetricError  # not needed to parse arguments

        try:
            self._train_all(options)
        except MetricError as error:
            stopped = type(error).__name__ == "StoppedError"
            raise CommandError(str(error), returncode=_STOPPED if stopped else 1) from error
        except KeyboardInterrupt as error:
            raise CommandError(
                "Stopped. What was kept of the training, if anything, is there for --resume.",
                returncode=_STOPPED,
            ) from error

    def _train_all(self, options: dict[str, Any]) -> None:
        """One training, or one for each seed and the spread of their figures."""
        if options["seeds"] < 1:
            raise CommandError("--seeds is at least 1.")
        if options["seeds"] == 1:
            self._train(options)
            return
        if options["json"]:
            raise CommandError(
                "--json writes the facts of one training. Leave it out with --seeds; cards hold them."
            )
        seeds = range(options["seed"], options["seed"] + options["seeds"])
        outs = {seed: options["out"].with_name(f"{options['out'].name}-{seed}") for seed in seeds}
        f1_scores = []
        for out in outs.values():
            if not options["resume"] and out.exists():
                raise CommandError(f"{out} is there already. Give another name, or go on with --resume.")
        for seed, out in outs.items():
            if out.exists():
                from metrics.model_folders import opened

                model = opened(out)
                self.stdout.write(f"There already: {out} ({model.signature})")
            else:
                model = self._train({**options, "seed": seed, "out": out})
            f1 = (model.card["best"].get("dev") or {}).get("f1")
            f1_scores += [f1] if f1 is not None else []
        if len(f1_scores) > 1:
            self.stdout.write(
                f"F1 over {len(f1_scores)} trainings: mean {fmean(f1_scores):.4f}, standard deviation "
                f"{stdev(f1_scores):.4f}."
            )

    def _train(self, options: dict[str, Any]) -> "ModelFolder":
        from distillery_learned.training import require_packages

        require_packages("train-kpqa")
        from core.accounts.commandline import bar
        from core.files.atomic import FileWriteError, json_of, write_together
        from distillery_learned.training.kpqa_runs import refuse_existing

        out = Path(options["out"])
        files = outputs(options, ("json",), source=out, what="the model")
        refuse_existing(out, resume=options["resume"])
        with bar() as progress:
            telling = TrainingProgress(progress, self._note)
            model = self._model(out, options, telling)
        for line in telling.held:
            self._note(line)
        for epoch in model.card["epochs"]:
            self.stdout.write(said_of(epoch))
        self.stdout.write(
            f"Epoch {model.card['best']['epoch']} is kept; {duration(model.card['seconds'])} of training, "
            f"{model.card['examples_per_second']:,.0f} examples/s."
        )
        self.stdout.write(f"Written: {out} ({model.signature})")
        facts = {"model": model.name, "signature": model.signature, **model.card}
        try:
            write_together({path: json_of(facts) for path in files.values()})
        except FileWriteError as error:
            raise CommandError(str(error)) from error
        for path in files.values():
            self.stdout.write(f"Written: {path}")
        return model

    def _model(self, out: Path, options: dict[str, Any], telling: TrainingProgress) -> "ModelFolder":
        from distillery_learned.metrics import devices
        from distillery_learned.metrics.encoders import find_encoder
        from distillery_learned.training.kpqa import encoder_for, trained
        from distillery_learned.training.kpqa_epochs import Watch
        from distillery_learned.training.kpqa_files import prepared
        from distillery_learned.training.kpqa_runs import Settings, precision_for

        settings = Settings(
            epochs=options["epochs"],
            batch=options["batch"],
            learning_rate=options["learning_rate"],
            longest=options["max_length"],
            units=options["units"],
            seed=options["seed"],
            with_question=not options["without_question"],
            precision=options["precision"],
            device=options["device"],
            warm_up=options["warm_up"],
            decay=options["decay"],
        )
        precision_for(settings.precision, devices.device(settings.device))
        origin = find_encoder(options["encoder"], download=options["download"])
        base = encoder_for(options["encoder"], settings, download=options["download"])
        data = prepared(
            options["data"],
            seed=settings.seed,
            dev_share=options["dev_share"],
            limit=options["limit"],
            whole_answers=not options["without_whole"],
            progress=telling.read,
        )
        for line in data.lines():
            telling.note(line)
        with stopping() as is_stopping:
            return trained(
                base,
                {"name": origin.name, "digest": origin.digest},
                data,
                out,
                settings,
                resume=options["resume"],
                watch=Watch(telling.step, telling.epoch, is_stopping, 60 * options["keep_every"]),
                distillery=project.DISTILLERY_VERSION,
            )

    def _note(self, line: str) -> None:
        self.stderr.write(plain(line), style_func=str)


def _share(text: str) -> float:
    """A number from 0 and below 1."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1:
        raise ArgumentTypeError(f"{text!r} is no share: give a number from 0 and below 1, such as 0.1")
    return number
