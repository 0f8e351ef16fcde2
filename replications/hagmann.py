"""Do the comparisons of Hagmann, Meier and Riezler come out again? Published, obtained, difference.

    python replications/hagmann.py [data_ter.csv.gz]

Data: StatNLP/empirical_methods, machine_translation_example/data (Apache-2.0): TER of three systems on 1,041 sentences,
the baseline in one run, the others in three. Their released code rounds a contrast before it divides by the residual
sd, so its effect sizes (.2032, .1694) differ from those below. The rest of the paper: `hagmann_conditional.py`,
`hagmann_variance.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import holdsup
from holdsup.rendering import Table
from holdsup.rendering.text import render_text

DATA = Path(__file__).resolve().parents[2] / "shared/data/hagmann_statnlp/data_ter.csv.gz"


def main() -> None:
    """Print the table and the verdict; exit with 1 if a number is off."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    if not file.is_file():
        sys.exit(f"{file} is not there: give the file of the data")
    found = holdsup.compare_systems(file, score="ter", baseline="Baseline", lower_is_better=True)
    assert found.paper is not None
    means = {system.name: system.mean for system in found.systems}
    sizes = {contrast.left: contrast.effect_size for contrast in found.contrasts}
    expected = [
        ("likelihood ratio of the systems, eqs. 3-4", 34.0895, found.paper.statistic, 5e-5),
        ("its degrees of freedom", 2, found.paper.df, 0),
        ("residual sd", 0.059045, found.paper.sigma, 5e-7),
        ("mean of Baseline", 0.591, means["Baseline"], 5e-4),
        ("mean of Marking", 0.578, means["Marking"], 5e-4),
        ("mean of PostEdit", 0.581, means["PostEdit"], 5e-4),
        ("effect size, Baseline - Marking", 0.2090, -float(sizes["Marking"] or 0), 5e-5),
        ("effect size, Baseline - PostEdit", 0.1629, -float(sizes["PostEdit"] or 0), 5e-5),
        ("ours, with (1 | system:sentence_id)", 18.908, found.test.statistic, 5e-4),
    ]
    rows = tuple((name, f"{p:.6g}", f"{o:.6g}", f"{o - p:+.1e}") for name, p, o, _ in expected)
    print(render_text(Table(title="data_ter", columns=("", "published", "obtained", "difference"), rows=rows)))
    print(f"\n{found.verdict}")
    off = [name for name, published, obtained, tolerance in expected if abs(obtained - published) > tolerance]
    sys.exit(f"off: {', '.join(off)}" if off else 0)


if __name__ == "__main__":
    main()
