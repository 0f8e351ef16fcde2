"""Do the tables of Sanchez Carmona, Jiang and Dong (2025) come out again, from runs drawn from them?

    python replications/carmona.py [--tables 200]

The 5,154 runs behind the paper are not public. Tables of that shape are drawn from equation 1 with the printed
parameters (`simulate_carmona2025`) and fitted by the paper's form and by the default one of `holdsup rank`: printed are
the truth, the mean estimate and how often 95% limits hold the truth. Before that: which of the printed numbers
contradict each other; after it: how the paper's form depends on its reference levels. Exits with 1 if a parameter is
not recovered.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from math import pi, sqrt
from textwrap import fill

import numpy as np
import pyarrow as pa

from holdsup import LmmFit, fit_lmm, rank_systems, read_scores
from holdsup.data import carmona2025, carmona2025_contributions, simulate_carmona2025
from holdsup.fit import contrast, refit
from holdsup.numerics.distributions import chi2_quantile
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from holdsup.verdict.ranking.forms import Form, make_default, make_paper
from holdsup.verdict.ranking.table import RunTable, lay_out_runs

NUISANCE = ("seed", "lr", "batch", "num_epochs")
INGREDIENTS = {"DAPT": "DAPT", "Pretrain_from_scratch": "scratch", "Link function": "link"}  # printed, and our column
TREAT = {"num_epochs": "numeric"}
EPOCH_SD = 0.03 * sqrt(52)  # of the slopes that tables are drawn with; see `contradictions`
LEAST = 0.90  # coverage, which 200 tables tell to .03
BANDS = 4.0  # standard errors by which a mean estimate may be off, of some forty that are looked at
PRINTED = {(effect.table, effect.name): effect for effect in carmona2025()}
RANDOM = {"model choice": ("system", "(Intercept)"), "dataset choice": ("dataset", "(Intercept)"),
          "model*dataset": ("system:dataset", "(Intercept)"), "residual": ("Residual", "")}  # fmt: skip


@dataclass
class Tally:
    """What was estimated of one parameter, table by table.

    Attributes
    ----------
    truth : what the tables were drawn with
    estimates : one a table
    covered : whether the limits held the truth; none where there are no limits
    """

    truth: float
    estimates: list[float] = field(default_factory=list)
    covered: list[bool] = field(default_factory=list)

    def add(self, estimate: float, low: float | None, high: float | None) -> None:
        """Take in the estimate of one more table."""
        self.estimates.append(estimate)
        if low is not None and high is not None:
            self.covered.append(low <= self.truth <= high)

    def coverage(self) -> float:
        """Return the share of tables whose limits hold the truth."""
        return float(np.mean(self.covered))

    def off(self) -> float:
        """Return the bias in its standard errors."""
        return (np.mean(self.estimates) - self.truth) / (np.std(self.estimates, ddof=1) / sqrt(len(self.estimates)))


def main() -> None:
    """Print all tables, and exit with 1 if a parameter is not recovered."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=200)
    tables = parser.parse_args().tables
    print(render_text(contradictions(), width=120))
    paper, contributions, default = recover(tables)
    shown = (
        ("Paper's form: Tables 1 and 3", paper), ("Paper's form with contributions: Table 2", contributions),
        ("Default form: nuisance settings and differences of systems", default),
    )  # fmt: skip
    for title, tallies in shown:
        print(render_text(tabulate(f"{title}, {tables} simulated tables", tallies), width=120), flush=True)
    print(render_text(references(), width=120))
    for line in answer(simulate_carmona2025(seed=1)):
        print(fill(line, 120, subsequent_indent="  "))
    lost = [name for _, tallies in shown for name, tally in tallies.items() if not recovered(name, tally)]
    print(f"Not recovered: {', '.join(lost)}" if lost else "All parameters are recovered.")
    sys.exit(int(bool(lost)))


def contradictions() -> Table:
    """Return printed numbers beside what other printed numbers make of them."""
    value = {key: effect.value for key, effect in PRINTED.items()}
    cells, epochs = 52, np.array([5.0, 10, 15, 20])  # the paper does not print its numbers of epochs
    slope, residual = sqrt(value[3, "num_epochs"]), sqrt(value[3, "residual"])
    shares = {"seed": 3, "lr": 5, "batch": 2}
    rest = value[3, "model choice"] + value[3, "dataset choice"] + value[3, "model*dataset"]
    rest += sum(value[3, n] / shares[n.split("_")[0]] for t, n in value if t == 3 and n.split("_")[0] in shares)

    def explained(sd: float) -> float:
        return 100 * (1 - residual**2 / (rest + sd**2 * float(np.mean(epochs**2)) + residual**2))

    allowed = PRINTED[1, "num_epochs"].se * sqrt(cells)
    rows = (
        ("SE of num_epochs", 0.03, slope / sqrt(cells), "at least 3.20 / sqrt(52): a mean of 52 slopes"),
        ("sd of slopes of num_epochs", slope, allowed, "at most .03 x sqrt(52), from that SE"),
        ("R2, %", 82.77, explained(slope), "from Table 3, exact shares, 5 to 20 epochs"),
        ("R2, %", 82.77, explained(allowed), "the same with slopes of sd .22"),
        ("MAE in cross-validation", 2.22, residual * sqrt(2 / pi), "of normal errors with the residual sd 5.26"),
        ("residual sd", residual, 2.22 / sqrt(2 / pi), "of normal errors with the MAE 2.22"),
        ("SE of lr_4e-5", 0.22, residual * sqrt(2 / (5154 / 5)), "from the residual sd 5.26: agrees"),
        ("SE of batch_16", 0.18, sqrt(4 * residual**2 / 5154 + value[3, "batch_16"] / cells), "likewise"),
        ("SE of DAPT", 1.38, sqrt(2 * value[3, "model*dataset"] / 13), "at least, from model*dataset, 13 datasets"),
        ("BioBERT - BERT, shrunken", 76.99 - 73.22, value[2, "DAPT"], "Table 2: shrunk by .84"),
        ("BioLinkBERT - MSR, shrunken", 79.48 - 79.15, value[2, "Link function"], "Table 2: not shrunk"),
    )
    return Table(
        title="What the printed numbers say about each other",
        columns=("quantity", "printed", "from others", "how"),
        rows=tuple((what, f"{printed:.2f}", f"{other:.2f}", how) for what, printed, other, how in rows),
        notes=(
            "Slopes of num_epochs are drawn with sd .22. The residual sd agrees with standard errors and is kept; an",
            "MAE of 2.22 then needs errors with far heavier tails than normal ones, such as a few failed runs have.",
        ),
    )


def recover(tables: int) -> tuple[dict[str, Tally], dict[str, Tally], dict[str, Tally]]:
    """Return what was estimated by the paper's form, by it with contributions, and by the default form."""
    runs = lay_out(simulate_carmona2025())
    paper, default = make_paper(runs, treat=TREAT), make_default(runs, treat=TREAT)
    ingredients = " + ".join(INGREDIENTS.values())
    fits = [
        fit_lmm(paper.variances, paper.frame(runs)),
        fit_lmm(paper.variances.replace("(1 | system)", ingredients), paper.frame(runs)),
        fit_lmm(default.means, default.frame(runs)),
    ]
    tallies: tuple[dict[str, Tally], ...] = (truths(1, 3), truths(2), default_truths())
    for seed in range(1, tables + 1):
        drawn, fixed = (
            simulate_carmona2025(seed=seed, draw_systems=draw)["score"].to_numpy() for draw in (True, False)
        )
        take_paper(tallies[0], refit(fits[0], drawn))
        take_contributions(tallies[1], refit(fits[1], fixed))
        take_default(tallies[2], refit(fits[2], fixed))
    return tallies[0], tallies[1], tallies[2]


def lay_out(table: pa.Table) -> RunTable:
    """Return the rows as a ranking has them."""
    return lay_out_runs(read_scores(with_ingredients(table)), NUISANCE, INGREDIENTS.values(), nested_runs=True)


def with_ingredients(table: pa.Table) -> pa.Table:
    """Return the table with a column for each ingredient."""
    system = np.array(table["system"].to_pylist())
    for name, systems in carmona2025_contributions().items():
        table = table.append_column(INGREDIENTS[name], pa.array(np.isin(system, systems).astype(float)))
    return table


def truths(*tables: int) -> dict[str, Tally]:
    """Return a tally for each row of the printed tables, drawn with that value."""
    found = {}
    for effect in carmona2025():
        if effect.table in tables and effect.table < 3:
            found[effect.name] = Tally(effect.value)
        elif effect.table in tables:
            found[f"variance of {effect.name}"] = Tally(EPOCH_SD**2 if effect.name == "num_epochs" else effect.value)
    return found


def take_paper(tallies: dict[str, Tally], fit: LmmFit) -> None:
    """Take in fixed effects and variances of one fit."""
    effects = {effect.name: effect for effect in fit.fixed} | {"Intercept": fit.fixed[0]}
    limits = variance_limits(fit)
    for name, tally in tallies.items():
        if name.startswith("variance of "):
            printed = name.removeprefix("variance of ")
            tally.add(*limits[RANDOM.get(printed, ("system:dataset", printed))])
        else:
            tally.add(effects[name].estimate, effects[name].low, effects[name].high)


def take_contributions(tallies: dict[str, Tally], fit: LmmFit) -> None:
    """Take in what the ingredients add by one fit."""
    effects = {effect.name: effect for effect in fit.fixed}
    for name, tally in tallies.items():
        found = effects[INGREDIENTS[name]]
        tally.add(found.estimate, found.low, found.high)


def default_truths() -> dict[str, Tally]:
    """Return the differences from the first settings, as the default form has them, and those of systems."""
    value = {name: effect.value for (table, name), effect in PRINTED.items() if table == 1}
    found = {f"lr {rate} - 1e-5": Tally(value.get(f"lr_{rate}", 0.0) - value["lr_1e-5"]) for rate in
             ("2e-5", "3e-5", "4e-5", "5e-5")}  # fmt: skip
    found |= {"batch 32 - 16": Tally(-value["batch_16"]), "num_epochs": Tally(value["num_epochs"])}
    added = {name: PRINTED[2, name].value for name in INGREDIENTS}
    found["BioBERT - BERT"] = Tally(added["DAPT"])
    found["MSR BiomedBERT - BERT"] = Tally(added["Pretrain_from_scratch"])
    found["BioLinkBERT - MSR BiomedBERT"] = Tally(added["Link function"])
    return found


def take_default(tallies: dict[str, Tally], fit: LmmFit) -> None:
    """Take in differences of settings and of systems by one fit."""
    for name, tally in tallies.items():
        left, _, right = name.partition(" - ")
        if name == "num_epochs":
            weights = {"center(num_epochs)": 1.0}
        elif left.split()[0] in NUISANCE:
            weights = {left.replace(" ", ""): 1.0}
        else:
            weights = {f"system{left}": 1.0} | ({} if right == "BERT" else {f"system{right}": -1.0})
        found = contrast(fit, weights)
        tally.add(found.estimate, found.low, found.high)


def variance_limits(fit: LmmFit) -> dict[tuple[str, str], tuple[float, float | None, float | None]]:
    """Return each variance v with Satterthwaite's limits, v df / chi2 with df = 2 v^2 / var(v); none at zero."""
    model = fit.model()
    theta, uncertainty = model.engine.optimum.theta, model.engine.inference.uncertainty
    places = {(block.group.label, block.columns[0].name): block.places[0][2] for block in model.design.random}
    found: dict[tuple[str, str], tuple[float, float | None, float | None]] = {}
    for part in fit.random:
        key = (part.group, part.term)
        if part.variance == 0:
            found[key] = (0.0, None, None)
            continue
        slope = np.zeros(len(theta) + 1)  # of log v, which is 2 log(theta sigma) and a constant
        slope[-1] = 2 / model.engine_sigma
        if key in places:
            slope[places[key]] = 2 / theta[places[key]]
        df = 2 / float(slope @ uncertainty @ slope)
        low, high = (part.variance * df / max(chi2_quantile(level, df), 1e-300) for level in (0.975, 0.025))
        found[key] = (part.variance, low, high)
    return found


def tabulate(title: str, tallies: dict[str, Tally]) -> Table:
    """Return truth, estimates and coverage of each parameter."""
    rows = []
    for name, tally in tallies.items():
        mean, sd = np.mean(tally.estimates), np.std(tally.estimates, ddof=1)
        coverage = f"{100 * tally.coverage():.1f}" if tally.truth else ""  # zero is no value that limits could hold
        bias = (f"{mean - tally.truth:+.3f}", f"{tally.off():+.1f}")
        rows.append((name, f"{tally.truth:.3f}", f"{mean:.3f}", *bias, f"{sd:.3f}", coverage))
    columns = ("parameter", "truth", "mean estimate", "bias", "in its SE", "sd of estimates", "coverage, %")
    return Table(title=title, columns=columns, rows=tuple(rows))


def recovered(name: str, tally: Tally) -> bool:
    """Return whether estimates are right on average and limits of fixed effects hold; zero can only be too high.

    Satterthwaite's limits of variances are shown but not asked for: they are too narrow near zero and with four levels.
    """
    holds = name.startswith("variance of") or tally.coverage() > LEAST
    return tally.truth == 0 or (abs(tally.off()) < BANDS and holds)


def references() -> Table:
    """Return the criterion of the same table with other levels as references, by both forms."""
    table = simulate_carmona2025(seed=1)
    rows = []
    for what, swapped in (("as printed", ()), ("seed 20 for 59", ("seed", "20")), ("lr 2e-5 for 5e-5", ("lr", "2e-5"))):
        runs = lay_out(last(table, *swapped) if swapped else table)
        forms: tuple[Form, ...] = (make_paper(runs, treat=TREAT), make_default(runs, treat=TREAT))
        found = [fit_lmm(form.variances, form.frame(runs)) for form in forms]
        seeds = max(part.variance for part in found[0].random if part.term.startswith("seed"))
        rows.append((what, f"{found[0].criterion:.2f}", f"{seeds:.1f}", f"{found[1].criterion:.2f}"))
    columns = ("references", "paper's form: criterion", "largest variance of a seed", "default form: criterion")
    note = "The rows and the scores are the same: only the level without an indicator changes."
    return Table(title="What the reference levels decide, one table", columns=columns, rows=tuple(rows), notes=(note,))


def answer(table: pa.Table) -> list[str]:
    """Return the five answers of the paper's form for one table, and its working example (equation 2)."""
    example = {"system": "BioBERT", "dataset": "BioASQ", "seed": "20", "batch": "16", "lr": "1e-5", "num_epochs": "15"}
    found = rank_systems(
        with_ingredients(table), nuisance=NUISANCE, treat=TREAT, paper=True, contribution=INGREDIENTS.values(),
        predict=example, pair=["BioLinkBERT", "MSR BiomedBERT"],
    )  # fmt: skip
    parts = " ".join(f"{part.value:+.2f} ({part.term})" for part in found.prediction)
    total = sum(part.value for part in found.prediction)
    said = [f"{number}. {each.question} {each.answer}" for number, each in enumerate(found.answers, start=1)]
    return [
        "One table, ranked by the paper's form:",
        *said,
        f"BioBERT on BioASQ after 15 epochs: {total:.2f} = {parts}",
    ]


def last(table: pa.Table, factor: str, level: str) -> pa.Table:
    """Return the table with a level renamed, so that it stands last and is the reference."""
    labels = [f"9{label}" if label == level else label for label in table[factor].to_pylist()]
    return table.set_column(table.column_names.index(factor), factor, pa.array(labels))


if __name__ == "__main__":
    main()
