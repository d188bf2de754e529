"""Table 3: networks trained on half of ImageNet, for who has the images and a GPU.

No part of the package: run it from a clone. ``python -m recipes.imagenet --help``
"""

from typing import ClassVar, Literal

from pydantic import Field, field_validator

from membership.book.settings import PROFILES, ChapterSettings

MODELS = ("resnet101", "vgg16", "resnet18", "resnet34", "resnet50")


class Settings(ChapterSettings):
    """Parameters of the run; the defaults are the paper's (Section 6.4) where it states them."""

    chapter: ClassVar[str] = "bayes_optimal"

    profile: Literal[PROFILES] = Field("paper", description="folder of the results")
    dataset: Literal["imagenet"] = Field("imagenet", description="imagenet")
    data_root: str = Field("", description="folder that holds train/<class>/<image>.JPEG")
    models: list[str] = Field(
        ["resnet101", "vgg16"],
        min_length=1,
        description=f"networks to train, each once an augmentation: {', '.join(MODELS)}",
    )
    epochs: int = Field(90, ge=1, description="passes over the training half, 1 or more")
    batch_size: int = Field(256, ge=2, description="images in a step, 2 or more")
    image_size: int = Field(224, ge=32, description="pixels of a crop each way, 32 or more")

    @field_validator("models")
    @classmethod
    def _known(cls, models: list[str]) -> list[str]:
        unknown = [name for name in models if name not in MODELS]
        if unknown or len(set(models)) < len(models):
            raise ValueError(f"should name each network once, out of {', '.join(MODELS)}")
        return models
