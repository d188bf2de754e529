"""The registered attacks that see parameters or gradients."""

from membership.attacks.bayes_optimal import matt, matt_from_log_odds
from membership.attacks.entry import Attack
from membership.attacks.forms import sif_from_forms
from membership.attacks.glir import glir, glir_steps
from membership.attacks.iha import iha
from membership.attacks.influence import sif
from membership.attacks.residual import residual
from membership.attacks.scoring import glir_score, iha_score, matt_score, residual_score

OUT = "other records"


def _forms(how: str, *terms: str) -> tuple[str, ...]:
    return tuple(f"form.{how}.{term}" for term in terms)


_SEE_ALL = ("losses", "weights", "recipe", "all other records")
_IHA_TERMS = ("own2", "own3", "mean2", "mean3")
_STEPS = ("steps.distance", "steps.susceptibility")
_LINEAR = ("log_odds", "reference_log_odds")

# name, display, function, needs, knowledge, references, paper, equation, score, glossary entry
WHITE_BOX = (
    Attack(
        "sif",
        "SIF",
        sif,
        _forms("published", "own1"),
        ("weights", "training records"),
        "none",
        "cohen2024",
        "self-influence",
        lambda seen: sif_from_forms(seen.form("published")),
    ),
    Attack(
        "iha",
        "IHA",
        iha,
        ("loss|log_odds", *_forms("published", *_IHA_TERMS)),
        _SEE_ALL,
        "none",
        "suri2024",
        "Equation 8",
        lambda seen: iha_score(seen, "published"),
    ),
    Attack(
        "iha-star",
        "IHA*",
        iha,
        ("loss|log_odds", *_forms("regularised", "own2", "own3", "rest2", "rest3")),
        _SEE_ALL,
        "none",
        "suri2024",
        "Equation 8, with the weight decay in the stationarity",
        lambda seen: iha_score(seen, "regularised"),
        "IHA\\*",
    ),
    Attack(
        "residual",
        "residual test",
        residual,
        _forms("identity", "own2", "rest2"),
        _SEE_ALL,
        "none",
        "suri2024",
        "Theorem 3.2, without curvature",
        residual_score,
    ),
    Attack(
        "matt",
        "MATT",
        matt,
        ("log_odds", "reference_log_odds|step_product"),
        ("weights", "reference models"),
        OUT,
        "sablayrolles2019",
        "Equation 40",
        matt_score,
    ),
    Attack(
        "matt-second",
        "MATT, second order",
        matt_from_log_odds,
        (*_LINEAR, "leverage"),
        ("weights", "reference models"),
        OUT,
        "sablayrolles2019",
        "Equation 39",
        lambda seen: matt_score(seen, newton=False),
        "MATT",
    ),
    Attack(
        "matt-newton",
        "MATT, Newton step",
        matt_from_log_odds,
        (*_LINEAR, "leverage"),
        ("weights", "reference models"),
        OUT,
        "sablayrolles2019",
        "Equation 39",
        lambda seen: matt_score(seen, newton=True),
        "MATT",
    ),
    Attack(
        "glir",
        "GLiR",
        glir,
        _STEPS,
        ("step gradients", "population records"),
        "none",
        "leemann2023",
        "Algorithm 1",
        lambda seen: glir_score(seen, slice(0, 1)),
    ),
    Attack(
        "glir-steps",
        "GLiR, all steps",
        glir_steps,
        _STEPS,
        ("step gradients", "population records"),
        "none",
        "leemann2023",
        "Algorithm 1",
        lambda seen: glir_score(seen, slice(None)),
        "GLiR",
    ),
)
