"""The papers of the methods, as a line to read and as BibTeX."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from holdsup import __version__

WHERE = {
    "inproceedings": "booktitle",
    "article": "journal",
    "misc": "howpublished",
    "book": "publisher",
}  # BibTeX's field of each kind


@dataclass(frozen=True, slots=True)
class Reference:
    """One paper."""

    entry: str  # BibTeX's kind of it
    year: int  # of publication
    author: str  # "First Last", in order, with " and " between them
    title: str  # its title
    where: str  # where it was published
    more: dict[str, str] = field(default_factory=dict)  # other fields: volume, pages

    @property
    def authors(self) -> list[str]:
        """The authors, in order."""
        return self.author.split(" and ")

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
        return f"{authors} ({self.year}). {self.title}. {self.where}{volume}{pages}."

    def bibtex(self, key: str) -> str:
        """Return the entry of a BibTeX file; braces keep capitals as they are."""
        fields = {
            "author": self.author,
            "title": f"{{{self.title}}}",
            WHERE[self.entry]: self.where,
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
        "inproceedings", 2023, "Michael Hagmann and Philipp Meier and Stefan Riezler",
        "Towards Inference Reproducibility of Machine Learning Research",
        "The Eleventh International Conference on Learning Representations (ICLR)",
    ),
    "belz2022": Reference(
        "inproceedings", 2022, "Anya Belz and Maja Popović and Simon Mille",
        "Quantified Reproducibility Assessment of NLP Results",
        "Proceedings of the 60th Annual Meeting of the Association for Computational Linguistics (Volume 1: Long "
        "Papers)", {"pages": "16--28"},
    ),
    "xue2023": Reference(
        "inproceedings", 2023, "Yan Xue and Xuefei Cao and Xingli Yang and Yu Wang and Ruibo Wang and Jihong Li",
        "We Need to Talk About Reproducibility in NLP Model Comparison",
        "Proceedings of the 2023 Conference on Empirical Methods in Natural Language Processing",
    ),
    "wang2014": Reference(
        "article", 2014, "Yu Wang and Ruibo Wang and Huichen Jia and Jihong Li",
        "Blocked 3x2 Cross-Validated t-Test for Comparing Supervised Classification Learning Algorithms",
        "Neural Computation", {"volume": "26", "number": "1", "pages": "208--235"},
    ),
    "moss2018": Reference(
        "inproceedings", 2018, "Henry Moss and David Leslie and Paul Rayson",
        "Using J-K-fold Cross Validation To Reduce Variance When Tuning NLP Models",
        "Proceedings of the 27th International Conference on Computational Linguistics (COLING)",
    ),
    "sanchez2025": Reference(
        "inproceedings", 2025, "Vicente Ivan {Sanchez Carmona} and Shanshan Jiang and Bin Dong",
        "Towards Robust Comparisons of NLP Models: A Case Study",
        "Proceedings of the 31st International Conference on Computational Linguistics (COLING)",
    ),
    "bates2015": Reference(
        "article", 2015, "Douglas Bates and Martin Mächler and Ben Bolker and Steve Walker",
        "Fitting Linear Mixed-Effects Models Using lme4",
        "Journal of Statistical Software", {"volume": "67", "number": "1", "pages": "1--48"},
    ),
    "bell2002": Reference(
        "article", 2002, "Robert M. Bell and Daniel F. McCaffrey",
        "Bias Reduction in Standard Errors for Linear Regression with Multi-Stage Samples",
        "Survey Methodology", {"volume": "28", "number": "2", "pages": "169--181"},
    ),
    "angelopoulos2023": Reference(
        "misc", 2023, "Anastasios N. Angelopoulos and John C. Duchi and Tijana Zrnic",
        "PPI++: Efficient Prediction-Powered Inference",
        "arXiv:2311.01453",
    ),
    "satterthwaite1946": Reference(
        "article", 1946, "Franklin E. Satterthwaite",
        "An Approximate Distribution of Estimates of Variance Components",
        "Biometrics Bulletin", {"volume": "2", "number": "6", "pages": "110--114"},
    ),
    "efron1981": Reference(
        "article", 1981, "Bradley Efron and Charles Stein", "The jackknife estimate of variance",
        "The Annals of Statistics", {"volume": "9", "pages": "586--596"},
    ),
    "koehn2004": Reference(
        "inproceedings", 2004, "Philipp Koehn", "Statistical significance tests for machine translation evaluation",
        "EMNLP 2004", {"pages": "388--395"},
    ),
    "welch1947": Reference(
        "article", 1947, "Bernard L. Welch",
        "The Generalization of `Student's' Problem when Several Different Population Variances are Involved",
        "Biometrika", {"volume": "34", "number": "1/2", "pages": "28--35"},
    ),
    "landemets1983": Reference(
        "article", 1983, "K. K. Gordon Lan and David L. DeMets",
        "Discrete Sequential Boundaries for Clinical Trials",
        "Biometrika", {"volume": "70", "number": "3", "pages": "659--663"},
    ),
    "waudby2024": Reference(
        "article", 2024, "Ian Waudby-Smith and Aaditya Ramdas",
        "Estimating Means of Bounded Random Variables by Betting",
        "Journal of the Royal Statistical Society Series B", {"volume": "86", "number": "1", "pages": "1--27"},
    ),
    "holm1979": Reference(
        "article", 1979, "Sture Holm",
        "A Simple Sequentially Rejective Multiple Test Procedure",
        "Scandinavian Journal of Statistics", {"volume": "6", "number": "2", "pages": "65--70"},
    ),
    "westfall1993": Reference(
        "book", 1993, "Peter H. Westfall and S. Stanley Young",
        "Resampling-Based Multiple Testing: Examples and Methods for p-Value Adjustment",
        "Wiley",
    ),
    "koo2016": Reference(
        "article", 2016, "Terry K. Koo and Mae Y. Li",
        "A Guideline of Selecting and Reporting Intraclass Correlation Coefficients for Reliability Research",
        "Journal of Chiropractic Medicine", {"volume": "15", "number": "2", "pages": "155--163"},
    ),
    "bradley1952": Reference(
        "article", 1952, "Ralph Allan Bradley and Milton E. Terry",
        "Rank Analysis of Incomplete Block Designs: I. The Method of Paired Comparisons",
        "Biometrika", {"volume": "39", "number": "3/4", "pages": "324--345"},
    ),
    "cameron2011": Reference(
        "article", 2011, "A. Colin Cameron and Jonah B. Gelbach and Douglas L. Miller",
        "Robust Inference With Multiway Clustering",
        "Journal of Business & Economic Statistics", {"volume": "29", "number": "2", "pages": "238--249"},
    ),
    "agarwal2021": Reference(
        "inproceedings", 2021,
        "Rishabh Agarwal and Max Schwarzer and Pablo Samuel Castro and Aaron Courville and Marc G. Bellemare",
        "Deep Reinforcement Learning at the Edge of the Statistical Precipice",
        "Advances in Neural Information Processing Systems 34",
    ),
    "mogstad2024": Reference(
        "article", 2024, "Magne Mogstad and Joseph P. Romano and Azeem M. Shaikh and Daniel Wilhelm",
        "Inference for Ranks with Applications to Mobility across Neighbourhoods and Academic Achievement across "
        "Countries",
        "Review of Economic Studies", {"volume": "91", "number": "1", "pages": "476--518"},
    ),
    "nadeau2003": Reference(
        "article", 2003, "Claude Nadeau and Yoshua Bengio",
        "Inference for the Generalization Error",
        "Machine Learning", {"volume": "52", "number": "3", "pages": "239--281"},
    ),
    "holdsup": Reference(
        "misc", 2026, "{The holdsup developers}",
        "holdsup: does the result hold up?",
        f"Software, version {__version__}",
    ),
}  # fmt: skip
