"""What examples/wine/tune.toml tunes."""

from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC


def make_svm() -> Pipeline:
    """Return a support vector machine on standardized measures."""
    return make_pipeline(StandardScaler(), SVC())
