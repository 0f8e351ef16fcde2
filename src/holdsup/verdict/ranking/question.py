"""What is asked of a table of runs, apart from the roles of its columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from holdsup.arguments import check_count, check_level, check_text
from holdsup.errors import ScoresError, list_names, quote_names
from holdsup.results import sign
from holdsup.scores import Scores
from holdsup.scores.audit import sign_roles
from holdsup.scores.roles import FILE, is_progress, is_usual
from holdsup.verdict.ranking.forms import Form, make_default, make_paper
from holdsup.verdict.ranking.formulas import make_own, mentioned_columns
from holdsup.verdict.ranking.table import RunTable, find_nuisance, name_of_role
from holdsup.verdict.rows import write_values

__all__ = ["Question"]

FEWEST_FOLDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The options of a ranking.

    Attributes
    ----------
    nuisance : columns in which runs differ, None for those found by their names
    formula : a model of the user's own
    paper : whether the form is the paper's
    treat : how nuisance columns are to be treated
    contribution : columns that describe systems
    predict : a configuration whose score is predicted
    pair : the systems whose raw gap is explained
    compare_forms : whether other forms are validated, too
    where : the values that rows must have
    last : the column of which only the largest value of each run and dataset counts
    nested_runs : whether it is declared that each dataset has runs of its own
    lower_is_better : whether the lowest mean is the best, None where the name of the score tells
    level : coverage of limits
    seed : of everything random
    folds : of the cross-validation
    """

    nuisance: tuple[str, ...] | None
    formula: str | None
    paper: bool
    treat: Mapping[str, str]
    contribution: tuple[str, ...]
    predict: Mapping[str, str] | None
    pair: tuple[str, ...] | None
    compare_forms: bool
    where: Mapping[str, Iterable[str] | str]
    last: str | None
    nested_runs: bool
    lower_is_better: bool | None
    level: float
    seed: int
    folds: int

    def check(self) -> None:
        """Refuse options that mean nothing, or nothing together."""
        check_level(self.level)
        check_text(self.formula, "formula")
        check_count(self.seed, "seed")
        if check_count(self.folds, "folds") and self.folds < FEWEST_FOLDS:
            raise ScoresError(f"folds is {self.folds!r}; give 2 or more, or 0 for no cross-validation")
        if self.paper and self.formula is not None:
            raise ScoresError("--paper and --formula are two forms: give one of them")
        if self.formula is not None and self.nuisance is not None:
            raise ScoresError("--formula names its nuisance columns itself: leave --nuisance out")
        for option, names in (("--nuisance", self.nuisance or ()), ("--contribution", self.contribution)):
            if twice := [name for name in names if names.count(name) > 1]:
                raise ScoresError(f"{option} names {twice[0]!r} twice: name each column once")

    def find_columns(self, scores: Scores) -> tuple[str, ...]:
        """Return the nuisance columns: those of the formula, those asked for, or those found by their names."""
        if self.formula is not None:
            taken = [name_of_role(scores, role) for role in ("score", "system", "dataset")]
            self._check_names(scores, taken)
            return mentioned_columns(self.formula, *taken)
        if self.nuisance is not None:
            self._check_roles(scores)
            repeated = [name for name in scores.facets if name in (*scores.roles.shared, *scores.roles.replicates)]
            return tuple(dict.fromkeys((*self.nuisance, *repeated)))
        return tuple(name for name in find_nuisance(scores) if name not in (*self.contribution, self.last))

    def chosen(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Return the nuisance columns that tell runs apart; one named like a training's progress must be asked for."""
        asked = self.nuisance is not None or self.formula is not None
        return tuple(name for name in columns if asked or not is_progress(name))

    def _check_names(self, scores: Scores, taken: Sequence[str]) -> None:
        """Refuse a formula that calls a column by its role where it has a name of its own."""
        others = {**scores.others, **scores.properties, **scores.facets}
        for role, name in zip(("score", "system", "dataset"), taken, strict=True):
            if role in mentioned_columns(self.formula or "", *taken) and role not in others:
                raise ScoresError(f"--formula: there is no column {role!r}; the {role}s are in {name!r}: write {name}")

    def _check_roles(self, scores: Scores) -> None:
        """Refuse a nuisance column that by its name is that of the systems or datasets, where no other is."""
        for role in ("system", "dataset"):
            name = next((name for name in self.nuisance or () if is_usual(role, name)), None)
            if name is not None and getattr(scores.roles, role) in (None, FILE):
                raise ScoresError(
                    f"--nuisance {name}: by its name it is the column of the {role}s, and there is no other: leave it "
                    f"out, or name the {role}s with --{role}"
                )

    def make_form(self, runs: RunTable, scores: Scores) -> Form:
        """Return the form that is asked for."""
        unknown = [name for name in self.treat if name not in runs.factors]
        if unknown:
            raise ScoresError(
                f"--treat {unknown[0]}={self.treat[unknown[0]]}: it is no nuisance column; there are "
                f"{list_names(runs.factors)} (name others with --nuisance)"
            )
        if self.formula is not None:
            return make_own(runs, self.formula, treat=self.treat)
        if self.paper:
            return make_paper(runs, treat=self.treat)
        roles = scores.roles
        return make_default(runs, treat=self.treat, replicates=roles.replicates, shared=roles.shared)

    def make_others(self, runs: RunTable, scores: Scores, form: Form) -> tuple[Form, ...]:
        """Return the forms that a form is compared with: none unless this is asked for."""
        if not self.compare_forms:
            return ()
        roles = scores.roles
        default, by_system = (
            make_default(runs, treat=self.treat, replicates=roles.replicates, shared=roles.shared, by_system=by_system)
            for by_system in (False, True)
        )
        forms = (default, by_system, make_paper(runs, treat=self.treat))
        return tuple(other for other in forms if other.name != form.name)

    def sign(self, scores: Scores, form: Form) -> str:
        """Return the line from which a stranger can redo the numbers."""
        where = {name: "/".join(write_values(name, value)) for name, value in self.where.items()}
        asked = {"treat": self.treat, "where": where, "predict": self.predict or {}}
        pairs = {
            option: quote_names(f"{name}={value}" for name, value in given.items()) for option, given in asked.items()
        }
        return sign(
            "rank", data=scores.digest, **sign_roles(scores), form=form.name, formula=self.formula,
            contribution=quote_names(self.contribution) or None, pair=quote_names(self.pair or ()) or None,
            **{option: written or None for option, written in pairs.items()}, last=self.last,
            nested_runs=self.nested_runs or None, forms=self.compare_forms or None,
            lower_is_better=self.lower_is_better, method="reml", folds=self.folds or None, level=self.level,
            seed=self.seed,
        )  # fmt: skip
