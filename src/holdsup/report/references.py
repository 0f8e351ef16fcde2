"""The papers of the methods, as a line to read and as BibTeX."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from holdsup import __version__


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One paper."""

    entry: str  # BibTeX's kind of it
    authors: tuple[str, ...]  # "First Last", in order
    year: int  # of publication
    title: str  # its title
    where: tuple[str, str]  # BibTeX's field and value that say where it was published
    more: dict[str, str] = field(default_factory=dict)  # other fields: volume, pages

    def cite(self) -> str:
        """Return the short form: who and when.

        >>> REFERENCES["belz2022"].cite()
        'Belz, Popović & Mille (2022)'
        """
        last = [_last_name(author) for author in self.authors]
        names = f"{last[0]} et al." if len(last) > 3 else " & ".join(filter(None, [", ".join(last[:-1]), last[-1]]))
        return f"{names} ({self.year})"

    def line(self) -> str:
        """Return the long form, for a list of references."""
        pages = f", pages {self.more['pages'].replace('--', '-')}" if "pages" in self.more else ""
        volume = f" {self.more['volume']}" if "volume" in self.more else ""
        authors = ", ".join(self.authors).replace("{", "").replace("}", "")
        return f"{authors} ({self.year}). {self.title}. {self.where[1]}{volume}{pages}."

    def bibtex(self, key: str) -> str:
        """Return the entry of a BibTeX file; braces keep capitals as they are."""
        fields = {
            "author": " and ".join(self.authors),
            "title": f"{{{self.title}}}",
            self.where[0]: self.where[1],
            "year": str(self.year),
            **self.more,
        }
        body = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
        return f"@{self.entry}{{{key},\n{body}}}\n"


def _last_name(author: str) -> str:
    """Return the name to sort and cite by: what stands in braces, as in BibTeX, else the last word."""
    return author.partition("{")[2].rstrip("}") or author.rpartition(" ")[2]


def write_bibtex(keys: Iterable[str]) -> str:
    """Return a BibTeX file of these references."""
    return "\n".join(REFERENCES[key].bibtex(key) for key in dict.fromkeys(keys))


REFERENCES = {
    "hagmann2023": Reference(
        entry="inproceedings",
        authors=("Michael Hagmann", "Philipp Meier", "Stefan Riezler"),
        year=2023,
        title="Towards Inference Reproducibility of Machine Learning Research",
        where=("booktitle", "The Eleventh International Conference on Learning Representations (ICLR)"),
    ),
    "belz2022": Reference(
        entry="inproceedings",
        authors=("Anya Belz", "Maja Popović", "Simon Mille"),
        year=2022,
        title="Quantified Reproducibility Assessment of NLP Results",
        where=(
            "booktitle",
            "Proceedings of the 60th Annual Meeting of the Association for Computational Linguistics (Volume 1: Long "
            "Papers)",
        ),
        more={"pages": "16--28"},
    ),
    "xue2023": Reference(
        entry="inproceedings",
        authors=("Yan Xue", "Xuefei Cao", "Xingli Yang", "Yu Wang", "Ruibo Wang", "Jihong Li"),
        year=2023,
        title="We Need to Talk About Reproducibility in NLP Model Comparison",
        where=("booktitle", "Proceedings of the 2023 Conference on Empirical Methods in Natural Language Processing"),
    ),
    "wang2014": Reference(
        entry="article",
        authors=("Yu Wang", "Ruibo Wang", "Huichen Jia", "Jihong Li"),
        year=2014,
        title="Blocked 3x2 Cross-Validated t-Test for Comparing Supervised Classification Learning Algorithms",
        where=("journal", "Neural Computation"),
        more={"volume": "26", "number": "1", "pages": "208--235"},
    ),
    "moss2018": Reference(
        entry="inproceedings",
        authors=("Henry Moss", "David Leslie", "Paul Rayson"),
        year=2018,
        title="Using J-K-fold Cross Validation To Reduce Variance When Tuning NLP Models",
        where=("booktitle", "Proceedings of the 27th International Conference on Computational Linguistics (COLING)"),
    ),
    "sanchez2025": Reference(
        entry="inproceedings",
        authors=("Vicente Ivan {Sanchez Carmona}", "Shanshan Jiang", "Bin Dong"),
        year=2025,
        title="Towards Robust Comparisons of NLP Models: A Case Study",
        where=(
            "booktitle",
            "Proceedings of the 31st International Conference on Computational Linguistics (COLING)",
        ),
    ),
    "bates2015": Reference(
        entry="article",
        authors=("Douglas Bates", "Martin Mächler", "Ben Bolker", "Steve Walker"),
        year=2015,
        title="Fitting Linear Mixed-Effects Models Using lme4",
        where=("journal", "Journal of Statistical Software"),
        more={"volume": "67", "number": "1", "pages": "1--48"},
    ),
    "satterthwaite1946": Reference(
        entry="article",
        authors=("Franklin E. Satterthwaite",),
        year=1946,
        title="An Approximate Distribution of Estimates of Variance Components",
        where=("journal", "Biometrics Bulletin"),
        more={"volume": "2", "number": "6", "pages": "110--114"},
    ),
    "welch1947": Reference(
        entry="article",
        authors=("Bernard L. Welch",),
        year=1947,
        title="The Generalization of `Student's' Problem when Several Different Population Variances are Involved",
        where=("journal", "Biometrika"),
        more={"volume": "34", "number": "1/2", "pages": "28--35"},
    ),
    "holm1979": Reference(
        entry="article",
        authors=("Sture Holm",),
        year=1979,
        title="A Simple Sequentially Rejective Multiple Test Procedure",
        where=("journal", "Scandinavian Journal of Statistics"),
        more={"volume": "6", "number": "2", "pages": "65--70"},
    ),
    "koo2016": Reference(
        entry="article",
        authors=("Terry K. Koo", "Mae Y. Li"),
        year=2016,
        title="A Guideline of Selecting and Reporting Intraclass Correlation Coefficients for Reliability Research",
        where=("journal", "Journal of Chiropractic Medicine"),
        more={"volume": "15", "number": "2", "pages": "155--163"},
    ),
    "nadeau2003": Reference(
        entry="article",
        authors=("Claude Nadeau", "Yoshua Bengio"),
        year=2003,
        title="Inference for the Generalization Error",
        where=("journal", "Machine Learning"),
        more={"volume": "52", "number": "3", "pages": "239--281"},
    ),
    "holdsup": Reference(
        entry="misc",
        authors=("{The holdsup developers}",),
        year=2026,
        title="holdsup: does the result hold up?",
        where=("howpublished", f"Software, version {__version__}"),
    ),
}
