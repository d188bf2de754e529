"""The command that runs Table 3: ``python -m recipes.imagenet``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from membership import paths
from membership.errors import InputError, RunError
from recipes.imagenet import Settings

EXHIBIT = "bayes-optimal-tab-3"
OPTIONS = {
    "root": "data_root",
    "models": "models",
    "epochs": "epochs",
    "batch-size": "batch_size",
    "image-size": "image_size",
    "seed": "seed",
    "device": "device",
    "n-jobs": "n_jobs",
    "out": "results_dir",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run Table 3 and save it as an exhibit."""
    options = _parser().parse_args(arguments)
    try:
        settings = Settings.from_values(
            {OPTIONS[name.replace("_", "-")]: value for name, value in vars(options).items()}
        )
        _run(settings)
    except (InputError, RunError) as error:
        print(error, file=sys.stderr)
        return 2 if isinstance(error, InputError) else 1
    except KeyboardInterrupt:
        print("stopped; the same command goes on after the last epoch finished", file=sys.stderr)
        return 1
    return 0


def _run(settings: Settings) -> None:
    # Here and not above: bad arguments should not wait for torch.
    from membership.book.exhibits import declared, files
    from membership.book.studies.bayes_optimal.network_tables import judged_on_imagenet
    from recipes.imagenet.table import table_3

    _check_writable(
        files.location(EXHIBIT, settings.chapter, settings.profile, settings.results_dir)
    )
    table = table_3(settings)
    (exhibit,) = (candidate for candidate in declared(settings.chapter) if candidate.id == EXHIBIT)
    files.save(exhibit, table, settings, {})
    print(judged_on_imagenet(table).to_string(index=False))


def _check_writable(target: Path) -> None:
    """Find out now, not after days, whether the result can be saved."""
    probe = target.with_name(f".{target.name}.probe")
    paths.atomic_write(probe, "")
    probe.unlink()


def _parser() -> argparse.ArgumentParser:
    described = {row.name: row for row in Settings.describe()}
    parser = argparse.ArgumentParser(
        prog="python -m recipes.imagenet",
        description="Table 3 of Sablayrolles et al. (2019). Takes days on one GPU.",
    )
    for option, name in OPTIONS.items():
        field = described[name]
        parser.add_argument(
            f"--{option}",
            type=int if field.type == "int" else str,
            nargs="+" if field.type == "list" else None,
            default=field.default,
            required=option == "root",
            help=field.help,
        )
    return parser


if __name__ == "__main__":
    sys.exit(main())
