import pytest

from membership.errors import InputError
from membership.studies.comparison import names
from membership.studies.comparison.settings import PROFILES, Settings


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"models": '["forest"]'}, r"models 'forest': give some of logistic"),
        ({"n_reference": "7"}, "n_reference is 7; give an even number"),
        ({"n_targets": "1"}, r"n_targets = 1.*at least 2"),
        ({"dataset": "digit"}, "digit"),
        ({"also_datasets": '["purchase_like:1000"]', "also_models": '["cnn"]'}, "takes images"),
        ({"dataset": "purchase_like:200", "models": '["small"]'}, "at least 300"),
    ],
)
def test_what_cannot_work_is_named_at_once(given, said):
    with pytest.raises(InputError, match=said):
        Settings.from_strings({"profile": "tiny", **given}).check_run()


@pytest.mark.parametrize("profile", PROFILES)
def test_cells_have_names_of_their_own(profile):
    cells = names.cells(Settings.from_values({"profile": profile}))
    assert len({one.word for one in cells}) == len(cells)
    assert {one.dataset for one in cells} == {
        one.dataset for one in names.typical(Settings.from_values({"profile": profile}))
    }
