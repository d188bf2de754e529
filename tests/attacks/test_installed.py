"""Attacks of others: by an entry point, by a module's name, and what is said of bad ones."""

import sys
import textwrap

import numpy as np
import pytest

from membership import attacks
from membership.attacks import installed
from membership.book.cli.audits import import_attacks
from membership.errors import InputError
from tests.attacks.games import games

registered = sys.modules["membership.attacks.registry"]
OWN = """
from membership import attacks

@attacks.declare(
    name="plain-odds", display="plain odds", needs=("log_odds",), knowledge=("losses",)
)
def plain_odds(seen):
    return {scores}
"""
HONEST = OWN.format(scores='seen["log_odds"]')


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A function that writes a module, and installs it where a group is named."""
    monkeypatch.setattr(registered, "ATTACKS", dict(registered.ATTACKS))
    monkeypatch.syspath_prepend(tmp_path)
    installed.import_installed.cache_clear()

    def write(code, group=None, name="others_attacks"):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(code))
        monkeypatch.delitem(sys.modules, name, raising=False)
        if group:
            told = tmp_path / "others_attacks-1.0.dist-info"
            told.mkdir()
            (told / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
            (told / "entry_points.txt").write_text(f"[{group}]\nanything = {name}\n")
        return name

    yield write
    sys.modules.pop("others_attacks", None)
    installed.import_installed.cache_clear()


def test_an_installed_package_s_attack_is_in_every_table(package):
    package(HONEST, group="membership.attacks")
    assert "plain-odds" in attacks.registry()
    assert "plain-odds" not in attacks.registry(others=False)
    evidence = games()["outputs"]
    table = attacks.score_table(evidence)
    np.testing.assert_array_equal(table.score["plain-odds"][0], evidence["log_odds"].values[0])
    assert "plain odds" in set(attacks.requirements()["attack"])


def test_nothing_is_imported_before_the_registry_is_asked(package):
    package(HONEST, group="membership.attacks")
    assert "others_attacks" not in sys.modules
    attacks.registry(others=False)
    assert "others_attacks" not in sys.modules


def test_an_installed_package_that_cannot_be_imported_is_left_out_and_named(package):
    package("import no_such_module_at_all", group="membership.attacks")
    with pytest.warns(UserWarning, match=r"attacks of others are left out: .*no_such_module"):
        assert "loss" in attacks.registry()


def test_a_module_is_imported_by_its_name_from_the_working_folder(package, tmp_path, monkeypatch):
    name = package(HONEST)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p != str(tmp_path)])
    monkeypatch.chdir(tmp_path)
    before = [*sys.path]
    import_attacks((name,))
    assert "plain-odds" in attacks.registry()
    assert sys.path == before


def test_a_file_is_imported_by_its_path(package, tmp_path):
    import_attacks((str(tmp_path / f"{package(HONEST)}.py"),))
    assert "plain-odds" in attacks.registry()


WORD = HONEST.replace('("losses",)', '("loses",)')
KNOWN = r"knowledge: 'loses' is no word.*'losses' \(the target's loss, or log-odds"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise ValueError('a\\nb')", "ValueError: a b"),
        ("x = 1", "declares no attack; let it call membership.attacks.declare"),
        (HONEST.replace("plain-odds", "loss"), "attack loss: there is one of this name already"),
        (HONEST.replace("plain odds", "LOSS"), "another is displayed as 'LOSS'"),
        (HONEST.replace("plain-odds", "Plain odds"), "give small letters, digits and hyphens"),
        (WORD, KNOWN),
        (HONEST.replace("knowledge=", "knowlege="), "'knowlege'; did you mean 'knowledge'"),
        (HONEST.replace('needs=("log_odds",), ', ""), "needs is missing; give display"),
        (
            HONEST.replace('("losses",)', '("losses",), references="halves"'),
            r"references: 'halves' is no word.*'none' \(there are none\)",
        ),
    ],
)
def test_a_module_that_does_not_do_is_told_in_a_line(package, code, said):
    name, before = package(code), dict(registered.ATTACKS)
    with pytest.raises(InputError, match=said) as told:
        import_attacks((name,))
    assert str(told.value).startswith(f"--import {name}: ")
    assert "\n" not in str(told.value)
    assert before == registered.ATTACKS


def test_a_module_that_is_not_there_is_told_in_a_line(package, tmp_path):
    for name in ("no_such_module_at_all", str(tmp_path / "none.py")):
        with pytest.raises(InputError, match=r"cannot be imported: .*NotFoundError"):
            import_attacks((name,))


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ('seen["log_odds"][:3]', r"shape \(3,\)"),
        ('seen["log_odds"] / 0', "some are not finite"),
        ("0.5", r"shape \(\)"),
    ],
)
def test_scores_that_do_not_do_leave_the_attack_out_with_a_reason(package, scores, said):
    import_attacks((package(OWN.format(scores=scores)),))
    with np.errstate(divide="ignore"):
        found = attacks.scores(games()["outputs"])
    assert "plain-odds" not in found.score
    assert "loss" in found.score
    with pytest.raises(InputError, match=said):
        raise InputError(found.lacking["plain-odds"])


def test_words_are_enumerations_that_are_texts():
    word = attacks.Knowledge.LOSSES
    assert (word, word.help) == ("losses", attacks.KNOWLEDGE["losses"])
    fields = {"name": "a-1", "display": "a", "needs": "log_odds", "score": len}
    one = attacks.Attack(**fields, knowledge=(word,), references=attacks.References.OUT)
    assert one == attacks.Attack(**fields, knowledge="losses", references="other records")
    assert type(one.knowledge[0]) is str
    assert one.needs == ("log_odds",)
