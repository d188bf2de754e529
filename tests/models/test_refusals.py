"""What the networks refuse: a call, and words of the one line."""

from functools import partial

import pytest

from membership import models
from membership.errors import InputError

scaled = partial(models.scaled_mlp, n_features=4, depth=1, width=3, n_classes=2)
REFUSED = [
    (partial(models.small_cnn, (32, 32), 10), r"shape = \(32, 32\): expected \(channels, height"),
    (partial(models.small_cnn, 3072, 10), r"shape = 3072: expected \(channels, height, width\)"),
    (partial(models.small_cnn, (1, 3, 8), 10), "height = 3: expected a whole number from 4 up"),
    (partial(models.small_cnn, (1, 8, 3), 10), "width = 3: expected a whole number from 4 up"),
    (partial(models.small_cnn, (0, 8, 8), 10), "channels = 0: expected a whole number from 1"),
    (partial(models.vgg16, 1000, 31), "image_size = 31: expected a whole number from 32 up"),
    (partial(models.vgg16, 1, 224), "n_classes = 1: expected a whole number from 2 up"),
    (partial(models.vgg16, 1000, 224, 0), "in_channels = 0: expected a whole number from 1 up"),
    (partial(models.mlp, 0, (4,), 2), "n_features = 0: expected a whole number from 1 up"),
    (partial(models.mlp, 4.0, (4,), 2), "n_features = 4.0: expected a whole number"),
    (partial(models.mlp, 4, (4, -1), 2), "hidden = -1: expected a whole number from 1 up"),
    (partial(models.mlp, 4, 4, 2), r"hidden = 4: expected a sequence of widths, such as \(32,\)"),
    (partial(models.mlp, 4, (4,), 1), "n_classes = 1: expected a whole number from 2 up"),
    (partial(models.mlp, 4, (4,), True), "n_classes = True: expected a whole number from 2 up"),
    (partial(models.mlp, 4, (4,), 2, "gelu"), "activation = 'gelu': expected one of relu, tanh"),
    (partial(models.mlp, 4, (4,), 2, ["relu"]), "activation = .'relu'.: expected one of relu"),
    (partial(scaled, depth=0), "depth"),
    (partial(scaled, activation="tanh"), "activation"),
    (partial(scaled, w_std=0.0), "w_std"),
    (partial(scaled, fan_in=0), "fan_in"),
    (partial(models.resnet, 20, 10), "depth = 20: expected one of 18, 34, 50, 101"),
    (partial(models.resnet, 18, 10, "tiny"), "stem = 'tiny': expected one of cifar, imagenet"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_a_bad_argument_is_one_line_that_names_it(call, words):
    with pytest.raises(InputError, match=words) as refused:
        call()
    assert "\n" not in str(refused.value)
