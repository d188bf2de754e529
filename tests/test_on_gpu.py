"""What is stopped or killed on a lent machine goes on, ends the same, and says what is left."""

import itertools
import time

import pytest
import safetensors
import torch

from membership import paths
from membership.book.running.gathering_plan import Step
from membership.errors import InputError
from membership.evidence.gathering import Parts
from membership.training import deadline, sgd
from membership.training.cache import Cache
from workflow import on_gpu
from workflow.on_gpu import ASKING, TRAINING, Piece, Times

# One convolutional model of either kind, and eight small ones in two parts.
TOY = ("bmia-resnet50", "lood-gelu")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A machine of its own: cache and results in a folder that a test names."""

    def at(name):
        monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / name / "cache"))
        monkeypatch.setattr(paths, "results_dir", lambda: tmp_path / name / "results")
        return tmp_path / name

    return at


def is_model(file):
    with safetensors.safe_open(file, framework="pt") as opened:
        return any("weight" in name for name in opened.keys())  # noqa: SIM118


def written(folder):
    return {
        file.relative_to(folder): file.read_bytes()
        for file in folder.rglob("results/**/*.evidence")
    }


def left(*names):
    """Parts of each piece that are left."""
    every, times = on_gpu.pieces("tiny"), Times()
    return [int(on_gpu.row(every[name](), times)[2]) for name in names]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMBERSHIP_CACHE", str(folder / "cache"))
        patch.setattr(paths, "results_dir", lambda: folder / "results")
        assert on_gpu.main(["--toy", *TOY]) == 0
        assert left(*TOY) == [0, 0]
    return written(folder)


@pytest.mark.slow
def test_stopped_after_every_epoch_it_ends_with_the_same_bytes(place, undisturbed, monkeypatch):
    folder, real, calls = place("stopped"), deadline.is_over, itertools.count()
    monkeypatch.setattr(deadline, "is_over", lambda: real() or next(calls) % 2 == 1)
    parts = left(TOY[0])
    while parts[-1] and len(parts) < 20:
        assert on_gpu.main(["--toy", TOY[0]]) == 0
        parts += left(TOY[0])
    # Two models of three epochs; the third ends one, and the next begins.
    assert parts == [3, 3, 3, 2, 2, 0]
    assert written(folder) == {k: v for k, v in undisturbed.items() if TOY[0] in k.parts}
    assert len(undisturbed) == 5


@pytest.mark.slow
def test_killed_at_a_checkpoint_it_ends_with_the_same_bytes(place, undisturbed, monkeypatch):
    class Killed(BaseException):
        pass

    folder, save = place("killed"), Cache.save

    def die(self, key, tensors):
        save(self, key, tensors)
        if key.endswith("-checkpoint") and int(tensors["epochs_done"]) == 2:
            raise Killed

    monkeypatch.setattr(sgd, "SECONDS_BETWEEN_CHECKPOINTS", -1.0)
    monkeypatch.setattr(Cache, "save", die)
    deaths = 0
    for _ in range(8):
        try:
            on_gpu.main(["--toy", *TOY])
        except Killed:
            deaths += 1
    assert deaths == 4  # each model of the one, each part of the other
    assert written(folder) == undisturbed


@pytest.mark.slow
def test_a_machine_without_the_trained_models_goes_on_from_what_they_answered(place, undisturbed):
    folder = place("lent")
    assert on_gpu.main(["--toy", *TOY]) == 0
    trained = [file for file in folder.rglob("*.safetensors") if is_model(file)]
    assert len(trained) == 10
    for file in [*trained, *folder.rglob("cache/evidence/*")]:
        file.unlink()
    for file in folder.rglob("results/**/*.evidence"):
        file.unlink()
    assert left(*TOY) == [1, 1]
    assert on_gpu.main(["--toy", *TOY]) == 0
    assert written(folder) == undisturbed


def small(done, train=None):
    """A piece of two parts that leave a number."""

    def work(item):
        done.append(item)
        return {"value": torch.tensor(float(item)).numpy()}

    return Piece("small", 1.0, Parts(work, [1, 2], ["own"]), train)


def test_what_took_longer_than_is_left_is_not_started(place, capsys):
    place("own")
    times, done = Times(), []
    models = small(done, lambda item: None)
    # One of its models took a minute to be asked; the other is trained, and left at that.
    times.seconds = {"small": {"0": {TRAINING: 1.0, ASKING: 60.0}}}
    on_gpu.go_on(models, times, time.monotonic() + 30)
    assert done == []
    assert "small: what took 1.0 minutes is left for another time" in capsys.readouterr().out
    # Of steps that nothing shares, each is known by itself.
    on_gpu.go_on(small(done), times, time.monotonic() + 30)
    assert done == [2]
    on_gpu.go_on(small(done), times, time.monotonic() - 1)
    assert done == [2]
    on_gpu.go_on(models, times, time.monotonic() + 90)
    assert done == [2, 1]
    assert models.due() == []


def test_minutes_are_those_measured_less_what_is_trained(place):
    def half(item):
        raise deadline.Stopped(50, 100)

    place("own")
    times, models = Times(), small([], half)
    assert on_gpu.row(models, times) == ["small", "0", "2", "1.5", "50 of 100 epochs"]
    times.seconds = {"small": {"0": {TRAINING: 40.0, ASKING: 20.0}, "1": {TRAINING: 99.0}}}
    assert times.left(models, 1) == 60.0
    assert times.left(models, 1, 0.5) == 40.0
    assert on_gpu.row(models, times)[3] == "1.7"
    assert on_gpu.row(small([]), times)[3:] == ["2.0", ""]  # steps: each is known by itself


@pytest.fixture
def a_gpu(monkeypatch):
    """Steps are compared by a stand-in, each of which is noted."""
    made = []

    def compared(chapter, name, profile):
        made.append((chapter, name, profile))
        return Step(chapter, name, (1.0, 2.0), 0.5 if name == "steps-digits" else 0.001)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(on_gpu, "compared", compared)
    return made


def test_each_step_gets_its_verdict_once(place, a_gpu, capsys):
    place("own")
    assert on_gpu.main(["--toy", "verdict"]) == 1
    assert len(set(a_gpu)) == len(a_gpu) > 50
    assert ("gmip", "steps-digits", "tiny") in a_gpu
    assert "gmip steps-digits: beyond 0.01" in capsys.readouterr().out
    count = len(a_gpu)
    assert on_gpu.main(["--toy", "verdict"]) == 1
    assert len(a_gpu) == count
    assert left("verdict") == [0]


def test_without_a_gpu_one_line_says_so(place, monkeypatch, capsys):
    place("own")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert on_gpu.main([]) == 0
    assert capsys.readouterr().out == on_gpu.NO_GPU + "\n"
    assert on_gpu.main(["--toy", "verdict"]) == 0
    assert capsys.readouterr().out.startswith(on_gpu.ONE_DEVICE + "\n")
    assert not paths.cache_dir().exists()


def test_what_cannot_be_prepared_says_why(place, monkeypatch, capsys, tmp_path):
    place("own")
    monkeypatch.setenv("MEMBERSHIP_DATA", str(tmp_path / "none"))
    assert on_gpu.main(["--list", "bmia-c01"]) == 0
    said = capsys.readouterr().out
    assert "not prepared" in said
    assert "MEMBERSHIP_DATA" in said
    with pytest.raises(InputError, match="unknown piece 'bmia'"):
        on_gpu.main(["bmia"])


def test_the_paper_size_asks_for_what_the_claims_lack():
    every = on_gpu.pieces("paper")
    setups = {name: piece.args[1] for name, piece in every.items() if name.startswith("bmia")}
    assert {name: (one.epochs, one.augmentation, one.models) for name, one in setups.items()} == {
        "bmia-c01": (60, "flip-and-crop", (9, 8)),
        "bmia-resnet18": (300, "none", None),
        "bmia-resnet18-augmented": (300, "flip-and-crop", None),
        "bmia-resnet50": (300, "none", (1, 1)),
    }
    assert setups["bmia-resnet50"].network == "resnet50"
    assert {one.dataset for one in setups.values()} == {"cifar10"}
