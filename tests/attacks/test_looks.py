import colorsys

import pytest
from matplotlib.colors import to_rgb

from membership import attacks
from membership.attacks import looks
from membership.attacks.registry import ORDER


def test_every_attack_has_a_look_and_no_two_have_the_same():
    assert {*looks.LOOKS} == {*ORDER} <= {*attacks.registry()}
    seen = [(look.colour, look.marker) for look in looks.LOOKS.values()]
    assert len(seen) == len({*seen})


def test_a_family_has_one_hue():
    assert len(looks.FAMILIES) <= 7
    for hue, names in looks.FAMILIES.items():
        for name in names:
            own = to_rgb(looks.LOOKS[name].colour)
            assert looks.hue(looks.LOOKS[name]) == hue
            assert colorsys.rgb_to_hsv(*own)[0] == pytest.approx(
                colorsys.rgb_to_hsv(*to_rgb(hue))[0], abs=0.01
            )


@pytest.mark.parametrize(
    ("series", "name"),
    [
        ("LOSS", "loss"),
        ("MALT", "loss"),
        ("LiRA (n=8)", "lira"),
        ("LiRA, a variance a record", "lira"),
        ("loss (LiRA)", "lira"),
        ("LiRA-L", "lira-l"),
        ("LiRA offline, global variance", "lira-offline-global"),
        ("IHA*", "iha-star"),
        ("IHA", "iha"),
        ("BMIA, closed form", "bmia-closed"),
        ("marginal (Attack-P)", "attack-p"),
        ("plain difference", "difference"),
        ("MAST on the networks", "mast"),
        ("RMIA online (BASE), temperature 2", "base-warm"),
    ],
)
def test_a_series_has_the_look_of_the_attack_that_it_names(series, name):
    assert looks.of_series(series) == looks.LOOKS[name]


@pytest.mark.parametrize(
    "series", ["best on the loss", "a coin", "IHAs", "pre-LiRA", "no references"]
)
def test_what_names_no_attack_has_none(series):
    assert looks.of_series(series) is None
