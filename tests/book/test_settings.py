"""Parameters: profiles fill neutral values; every mistake is named in one line."""

import ast
import types
from typing import Any, ClassVar

import jupytext
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, model_validator

from membership.book import running
from membership.book.exhibits import exhibit_pages
from membership.book.namespaces import misspelt
from membership.book.settings import PROFILES, ChapterSettings, size
from membership.errors import InputError


class Settings(ChapterSettings):
    chapter: ClassVar[str] = "demo"
    profiles: ClassVar[dict[str, dict[str, Any]]] = {
        "tiny": {"dataset": "digits", "n_repeats": 2, "sizes": [10], "rate": 0.5},
        "quick": {"dataset": "digits", "n_repeats": 20, "sizes": [10, 20], "rate": 0.25},
    }

    n_repeats: int = Field(0, ge=0, description="repeats of the experiment; 0: the profile's")
    sizes: list[int] = Field([], description="records in each training set; []: the profile's")
    rate: float = Field(0.0, ge=0, le=1, description="learning rate in [0, 1]; 0: the profile's")
    exact: bool = Field(False, description="whether to solve exactly")

    @model_validator(mode="after")
    def _sizes_in_order(self):
        if self.sizes != sorted(self.sizes):
            raise InputError(f"parameter 'sizes' = {self.sizes}: sizes should ascend")
        return self


def test_the_shared_parameters_come_first_and_in_their_agreed_order():
    shared = ["profile", "dataset", "data_root", "seed", "device", "n_jobs", "results_dir"]
    assert [row.name for row in Settings.describe()][:7] == shared
    assert all(row.help for row in Settings.describe())


def test_neutral_values_take_the_profile_s_and_given_ones_stay():
    settings = Settings.from_values({"profile": "tiny", "sizes": [3, 4]})
    assert (settings.n_repeats, settings.sizes, settings.rate) == (2, [3, 4], 0.5)
    assert settings.dataset == "digits"
    assert Settings.from_values({}).n_repeats == 20
    assert Settings.from_values({"n_repeats": 0}).n_repeats == 20


def test_a_profile_without_sizes_leaves_the_defaults():
    assert Settings.from_values({"profile": "paper"}).n_repeats == 0


def test_a_row_of_the_table_is_a_parameter_with_its_profiles_and_its_least():
    class Sized(ChapterSettings):
        shared: ClassVar = {"dataset": ("digits", "digits", "adult"), "n_jobs": (1, 0, 0)}
        n_models: int = size("models, even", (8, 24, 128), least=(6, "an interval"), le=1000)
        rate: float = size("step size", (0.5, 0.25, 0.25), le=1)
        further: list[str] = size("further data sets", ([], ["digits"], ["adult", "mnist"]))

    assert Sized.profiles == {
        "tiny": {"dataset": "digits", "n_jobs": 1, "n_models": 8, "rate": 0.5},
        "quick": {"dataset": "digits", "n_models": 24, "rate": 0.25, "further": ["digits"]},
        "paper": {
            **{"dataset": "adult", "n_models": 128, "rate": 0.25},
            "further": ["adult", "mnist"],
        },
    }
    own = [(row.default, row.help) for row in Sized.describe()[-3:]]
    assert own == [
        (0, "models, even, 6 or more; 0: the profile's"),
        (0.0, "step size; 0: the profile's"),
        ([], "further data sets; []: the profile's"),
    ]
    assert Sized.from_values({"profile": "tiny", "n_models": 6}).n_models == 6
    for wrong, said in (
        ({"n_models": 5}, "n_models = 5: an interval needs at least 6"),
        ({"n_models": 1001}, "n_models"),
        ({"rate": -0.1}, "rate"),
    ):
        with pytest.raises(InputError, match=said):
            Sized.from_values(wrong)


def test_false_is_a_value_not_a_neutral_one():
    class Exact(Settings):
        profiles: ClassVar[dict[str, dict[str, Any]]] = {"quick": {"exact": True}}

    assert Exact.from_values({"exact": False}).exact is False


def test_parameters_are_plain_values_in_field_order():
    values = Settings.from_values({"n_repeats": 7}).parameters()
    assert list(values) == list(Settings.model_fields)
    assert values["n_repeats"] == 7
    assert values["sizes"] == [10, 20]


@given(st.integers(1, 10**6), st.floats(0.001, 1), st.lists(st.integers(0, 99), min_size=1))
def test_values_given_as_text_come_out_as_given_typed(n_repeats, rate, sizes):
    values = {"n_repeats": n_repeats, "rate": rate, "sizes": sorted(sizes)}
    from_text = Settings.from_strings({name: str(value) for name, value in values.items()})
    assert from_text == Settings.from_values(values)


def test_text_stays_text_where_text_is_wanted():
    assert Settings.from_strings({"dataset": "5"}).dataset == "5"
    assert Settings.from_strings({"exact": "True"}).exact is True


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"n_repeats": 5.0}, "'n_repeats' = 5.0"),
        ({"n_repeats": True}, "'n_repeats' = True"),
        ({"n_repeats": "5"}, "'n_repeats' = '5'"),
        ({"n_repeats": -1}, "greater than or equal to 0"),
        ({"n_repeats": None}, "'n_repeats' = None"),
        ({"rate": float("nan")}, "finite number"),
        ({"rate": 1.5}, "less than or equal to 1"),
        ({"sizes": (1, 2)}, "'sizes' = (1, 2)"),
        ({"sizes": [1, 2.5]}, "sizes[1]"),
        ({"sizes": [2, 1]}, "sizes should ascend"),
        ({"device": "gpu"}, "'auto', 'cpu' or 'cuda'"),
        ({"profile": "fast"}, "'tiny', 'quick' or 'paper'"),
        ({"seed": -3}, "'seed' = -3"),
        ({"n_repeat": 5}, "unknown parameter 'n_repeat'; did you mean 'n_repeats'?"),
        ({"zzz": 5}, "unknown parameter 'zzz'; the parameters are: profile, dataset"),
    ],
)
def test_a_bad_value_is_named_with_what_would_be_accepted(values, expected):
    with pytest.raises(InputError) as caught:
        Settings.from_values(values)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "accepted"),
    [
        ({"exact": "yes"}, "true or false"),
        ({"exact": 1}, "true or false"),
        ({"device": "gpu"}, "'auto', 'cpu' or 'cuda'"),
        ({"seed": -3}, "a whole number from 0 to 4,294,967,295"),
        ({"n_repeats": "ten"}, "a whole number, 0 or more"),
        ({"rate": "ten"}, "a number from 0 to 1"),
        ({"sizes": "[10,"}, "a list such as '[60,120]'"),
        ({"label": 3}, "text; papermill's `-p` makes numbers of digits, `-r label VALUE` does not"),
    ],
)
def test_a_refusal_ends_with_the_values_that_would_do(values, accepted):
    with pytest.raises(InputError) as caught:
        Settings.from_values(values)
    assert str(caught.value).endswith(f"; accepted: {accepted}")


@pytest.mark.parametrize("word", ["true", "True", "TRUE", True])
def test_what_papermill_hands_on_as_a_word_is_true_or_false(word):
    assert Settings.from_notebook(notebook_globals(exact=word)).exact is True


@pytest.mark.parametrize("word", ["false", "False", "FALSE", " false ", False])
def test_so_is_false(word):
    class Exact(Settings):
        profiles: ClassVar[dict[str, dict[str, Any]]] = {"quick": {"exact": True}}

    assert Exact.from_notebook(notebook_globals(exact=word)).exact is False


@pytest.mark.parametrize(("words", "sizes"), [("[3, 4]", [3, 4]), ("[]", [10, 20]), (7, [7])])
def test_a_list_may_be_written_as_text(words, sizes):
    assert Settings.from_notebook(notebook_globals(sizes=words)).sizes == sizes


def test_all_problems_are_told_at_once_in_one_line():
    with pytest.raises(InputError) as caught:
        Settings.from_values({"n_repeat": 5, "seed": "x\ny" * 100, "rate": 2.0})
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    assert all(name in message for name in ("'n_repeat'", "'seed'", "'rate'"))


@pytest.mark.parametrize("text", ["five", "5.0", "true", "", "[5]"])
def test_text_that_is_no_integer_is_refused(text):
    with pytest.raises(InputError, match="'n_repeats'"):
        Settings.from_strings({"n_repeats": text})


def notebook_globals(**given: Any) -> dict[str, Any]:
    """What a kernel's globals hold when the first cell after the parameters runs."""
    ipython = {"In": [""], "Out": {}, "_": "", "__name__": "__main__", "_ih": [""], "exit": exit}
    own = {"Settings": Settings, "np": types, "helper": notebook_globals}
    defaults = {row.name: row.default for row in Settings.describe()}
    return {**ipython, **own, **defaults, **given}


def test_a_notebook_s_globals_become_settings():
    settings = Settings.from_notebook(notebook_globals(n_repeats=3, profile="tiny"))
    assert settings == Settings.from_values({"n_repeats": 3, "profile": "tiny"})


def test_a_misspelt_name_in_a_notebook_is_found():
    with pytest.raises(InputError, match="did you mean 'n_repeats'"):
        Settings.from_notebook(notebook_globals(n_repeat=3))


def test_an_ill_typed_value_in_a_notebook_is_found():
    with pytest.raises(InputError, match="'n_repeats' = '3'"):
        Settings.from_notebook(notebook_globals(n_repeats="3"))


def test_running_the_cell_again_does_not_trip_over_what_it_made():
    settings = Settings.from_notebook(notebook_globals())
    again = Settings.from_notebook(notebook_globals(settings=settings, figure=object()))
    assert again == settings


def test_a_reader_s_own_variables_are_let_be():
    own = {"i": 3, "rows": [1], "note": "mine", "total": 2.5, "repeat": 7}
    assert Settings.from_notebook(notebook_globals(**own)) == Settings.from_values({})


def test_a_reader_s_variable_that_looks_like_a_parameter_is_let_be_where_it_is_plainly_theirs():
    cells = [
        "",
        "n_repeats: int = 0\nseed: int = 0",
        "for n_repeat in range(3):\n    pass",
        "%time 1",
    ]
    found = Settings.from_notebook(notebook_globals(In=cells, n_repeat=2))
    assert found == Settings.from_values({})
    cells[1] += "\nn_repeat: int = 3"  # in the cell of the parameters it is a slip
    with pytest.raises(InputError, match="did you mean 'n_repeats'"):
        Settings.from_notebook(notebook_globals(In=cells, n_repeat=2))


@pytest.mark.parametrize("chapter", running.chapters())
def test_a_chapter_s_own_variables_do_not_look_like_misspelt_parameters(chapter):
    notebook = jupytext.reads(exhibit_pages.source_path(chapter).read_text(), "md:myst")
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    stored = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name))
    names = {node.id for node in stored if isinstance(node.ctx, ast.Store)}
    fields = running.settings_class(chapter).model_fields
    assert set(fields) < names
    assert [name for name in names - set(fields) if misspelt(name, None, fields)] == []


def test_one_number_stands_for_a_list_of_one():
    assert Settings.from_strings({"sizes": "366"}).sizes == [366]
    assert Settings.from_values({"sizes": 366}).sizes == [366]
    for wrong in ("[366", "ten", "1.5", "true"):
        with pytest.raises(InputError, match="parameter 'sizes'"):
            Settings.from_strings({"sizes": wrong})


def test_sizes_of_the_profile_are_cut_and_noted_and_sizes_asked_for_are_kept():
    given = Settings.from_values({"profile": "tiny", "n_repeats": 5})
    cut = given.cut({"n_repeats"}, {"n_repeats": 3, "sizes": [8]}, "own holds 8 records")
    assert (cut.n_repeats, cut.sizes) == (5, [8])
    assert cut.notes == ("sizes = [8], not the [10] of profile 'tiny': own holds 8 records",)
    assert given.notes == ()
    assert given.cut((), {"sizes": [10]}, "enough").notes == ()


def test_what_papermill_injects_must_be_a_parameter_whatever_its_name():
    injected = ["", "n_repeats: int = 0", "# Parameters\nn_repeats = 3\nzzz = 5\n", "i = 1"]
    given = notebook_globals(In=injected, n_repeats=3, zzz=5, i=1)
    with pytest.raises(InputError, match="unknown parameter 'zzz'; the parameters are"):
        Settings.from_notebook(given)
    del given["zzz"]
    assert Settings.from_notebook(given).n_repeats == 3


@pytest.mark.parametrize("text", ["7" * 5000, "[" * 100_000, "[1" + "0" * 5000 + "]"])
def test_text_beyond_sense_is_refused_in_one_short_line(text):
    with pytest.raises(InputError) as caught:
        Settings.from_strings({"n_repeats": text, "sizes": text})
    assert "'n_repeats'" in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("value", ["a\nb", "a\0b", "a\udcffb", "x" * 5000])
def test_text_that_names_no_file_is_refused(value):
    with pytest.raises(InputError, match="'data_root'"):
        Settings.from_values({"data_root": value})


def test_what_a_run_needs_is_checked_in_a_notebook_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / "cache"))
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot write .*file.results: Not a directory"):
        Settings.from_notebook(notebook_globals(results_dir=str(tmp_path / "file" / "results")))
    Settings.from_notebook(notebook_globals(results_dir=str(tmp_path / "new")))
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(InputError, match=r"cannot write .*file.cache"):
        Settings.from_notebook(notebook_globals())
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_gpu_that_is_not_there_is_missed_before_any_work(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("membership.book.settings._GPU_DRIVER", "/nowhere")
    with pytest.raises(InputError, match="'device' = 'cuda': torch finds no GPU here"):
        Settings.from_values({"device": "cuda"}).check_run()


def test_settings_cannot_be_changed_afterwards():
    settings = Settings.from_values({})
    with pytest.raises(ValueError, match="frozen"):
        settings.n_repeats = 3


def test_every_profile_name_is_accepted():
    assert [Settings.from_values({"profile": p}).profile for p in PROFILES] == list(PROFILES)
