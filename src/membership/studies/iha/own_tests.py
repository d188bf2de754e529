"""The tests of this chapter's own findings, by the standing margins."""

from membership.errors import InputError
from membership.exhibits import Source
from membership.published import Contrast, Outcome
from membership.published.claim_rules import about, better, chance, much_better
from membership.published.outcomes import every
from membership.studies.iha import leave_one_out, small_game, subjects
from membership.studies.iha.claim_numbers import IMAGES, MAIN, Rows, over
from membership.studies.iha.claim_tests import EVERYONE
from membership.studies.iha.clean_game import PAIRED

KNOWLEDGE = {EVERYONE: "IHA, everyone", "LOSS": "LOSS"}
# Of the clean game at scale; below, the game of `iha-ctl-5` speaks.
LEAST_TRAINED = 5000
AMONG = "LiRA, target among its references"


@over("iha-ctl-1", IMAGES)
def knowledge(rows: Rows, parts: int) -> Outcome:
    """With one gradient for members and others IHA gains nothing over LOSS."""
    return chance(rows.lead(EVERYONE, "LOSS", KNOWLEDGE), 0.01, parts=parts)


@over("iha-ctl-3", IMAGES)
def own_reference(rows: Rows, parts: int) -> Outcome:
    """The target among its references raises LiRA."""
    lead = rows.lead(AMONG, "LiRA", {AMONG: AMONG, "LiRA": "LiRA"})
    return much_better(lead, 0.01, parts=parts)


@over("iha-tab-2", IMAGES)
def ahead_without(rows: Rows, parts: int) -> Outcome:
    """Without the target among LiRA's references, IHA is ahead of it."""
    return better(rows.lead("IHA (Exact)", "LiRA", MAIN), 0.01, parts=parts)


@over("iha-tab-2", IMAGES, parts=2)
def ahead_on_images(rows: Rows, parts: int) -> Outcome:
    """IHA is ahead of LOSS and of SIF."""
    leads = [rows.lead("IHA (Exact)", name, MAIN) for name in ("LOSS", "SIF")]
    return every([better(one, 0.01, parts=parts) for one in leads])


@over("iha-ctl-4", IMAGES)
def weight_decay(rows: Rows, parts: int) -> Outcome:
    """IHA* is ahead of IHA, paired by target."""
    gain = rows.one(quantity="AUC, IHA* less IHA")
    named = gain.minus(0.0, f"AUC of IHA* less IHA, {rows.label}")
    return much_better(named, 0.01, parts=parts)


@over("iha-tab-4", IMAGES)
def small_terms_on_images(rows: Rows, parts: int) -> Outcome:
    """I3 and I4 may be dropped on the images too."""
    return about(rows.lead("IHA[loss,I1,I2]", "IHA[All]"), 0.01, parts=parts)


def parameters(source: Source) -> Outcome:
    """In the clean game, without retraining, IHA is ahead of LOSS."""
    return _in_the_game(source, "IHA", "LOSS")


def outputs(source: Source) -> Outcome:
    """In the clean game outputs with retraining are ahead of IHA."""
    return _in_the_game(source, "LiRA-L, online", "IHA")


def parameters_at_scale(source: Source) -> Outcome:
    """At 5,000 records, without retraining, IHA is ahead of LOSS."""
    return _at_scale(source, "IHA less LOSS")


def retrained_at_scale(source: Source) -> Outcome:
    """At 5,000 records, with retraining, parameters are ahead of outputs."""
    return _at_scale(source, "projection less LiRA-L")


def outputs_at_scale(source: Source) -> Outcome:
    """At 5,000 records outputs with retraining are ahead of IHA without."""
    return _at_scale(source, "LiRA-L less IHA")


def _at_scale(source: Source, contrast: str) -> Outcome:
    """A difference on every data set, pooled and record by record."""
    needed = subjects.files(subjects.GAME, subjects.games(source.settings))
    lacking = [name for name in needed if not source.has(name)]
    if lacking:
        raise InputError(f"a paired difference needs the evidence {', '.join(lacking)}")
    table = source.table("iha-ctl-14")
    fewest = min(one.attrs["recipe"]["members"] for one in map(source.evidence, needed))
    if fewest < LEAST_TRAINED:
        raise InputError(f"asks for {LEAST_TRAINED:,} training records; here are {fewest}")
    rows = table[(table["attack"] == contrast) & table["metric"].str.startswith(PAIRED)]
    found = [
        better(Contrast.of(row, f"{row.metric}: {contrast}, {row.dataset}"), 0.01, parts=len(rows))
        for row in rows.itertuples()
    ]
    sizes = (f"{name}: {size}" for name, size in table.attrs["sizes"].items())
    return every(found).on(*sizes)


def _in_the_game(source: Source, first: str, second: str) -> Outcome:
    needed = subjects.files(subjects.LEFT_OUT, subjects.left_out(source.settings))
    lacking = [name for name in needed if not source.has(name)]
    if lacking:
        raise InputError(f"a paired difference needs the evidence {', '.join(lacking)}")
    found = []
    for one in leave_one_out.experiments(source):
        contrast = small_game.difference(one, first, second, source.settings.seed)
        named = contrast.minus(0.0, f"{contrast.label}, {one.label}")
        found.append(better(named, 0.01, parts=2).on(one.size.partition(" (the paper")[0]))
    return every(found)
