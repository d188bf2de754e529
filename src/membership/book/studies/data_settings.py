"""Settings of a chapter that reads data: what it asks of them, before any work."""

from collections.abc import Collection
from typing import Any, ClassVar, Self

from membership import addresses, data
from membership.addresses import Takes
from membership.book.settings import ChapterSettings
from membership.book.studies import patches
from membership.errors import InputError


class DataSettings(ChapterSettings):
    """A chapter names the least that it takes, and adds what else it asks of each data set."""

    least_data: ClassVar[Takes]
    # What knows data sets by name.
    known_by: ClassVar[Any] = data

    @classmethod
    def takes(cls) -> Takes:
        """The least that it asks of a reader's own data."""
        return cls.least_data

    @property
    def datasets(self) -> list[str]:
        """Every data set of a run, each once, the main one first."""
        return list(dict.fromkeys([self.dataset, *getattr(self, "also_datasets", ())]))

    def outlines(self) -> dict[str, data.Outline]:
        """The measures of every data set, by the name that it is asked for."""
        root = self.data_root or None
        self.known_by.require_known(self.datasets, root)
        return {name: self.known_by.outline(name, root) for name in self.datasets}

    def fitted(self, asked: Collection[str]) -> Self:
        """Note what the data call for; a chapter whose sizes depend on them cuts these too."""
        outlines = self.outlines()
        lines = [line for outline in outlines.values() for line in data.cautions(outline)]
        own, *beside = [outline.name for outline in outlines.values()]
        if addresses.read(self.dataset).is_own and beside and "also_datasets" not in asked:
            lines.append(
                f"{' and '.join(beside)} run beside {own}; `also_datasets` with the path of "
                f"{own} leaves them out"
            )
        return self.noting(*lines)

    def check_data(self) -> None:
        """See that every data set of the run can carry the chapter."""
        for name, outline in self.outlines().items():
            self.check_outline(name, outline)

    def check_outline(self, name: str, outline: data.Outline) -> None:
        """Refuse a data set of too few records, or one far from 1 in size where that matters."""
        takes = self.takes()
        if outline.n_records < takes.records:
            raise InputError(
                f"dataset {outline.name!r} holds {outline.n_records} records; give at least "
                f"{takes.records}"
            )
        if takes.scaled:
            self.check_scale(outline)

    def check_scale(self, outline: data.Outline) -> None:
        """Refuse records that are trained on as they are and lie far from 1 in size."""
        data.require_scaled(outline)


class DescribedSettings(DataSettings):
    """Of a chapter that also takes images described by fixed filters."""

    known_by: ClassVar[Any] = patches


def require_sides(outline: data.Outline, least: int) -> None:
    """Refuse pictures that are too small for the networks or kernels that look at them."""
    if outline.is_image and min(outline.shape[1:]) < least:
        raise InputError(
            f"dataset {outline.name!r} has pictures of {outline.shape[1]} x {outline.shape[2]} "
            f"pixels; give at least {least} a side"
        )
