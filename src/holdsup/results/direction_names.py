"""Which way a score is better, as its name says: a TER, a loss or a latency when it is lower."""

from __future__ import annotations

import re
from collections.abc import Sequence

LOWER = frozenset(
    "ter wer cer per eer der mindcf loss losses logloss nll perplexity perplexities ppl bpb bpc bpd error errors err "
    "mse rmse nrmse msle rmsle mae mape smape mase medae brier ece fid fvd lpips latency latencies runtime ttft cost "
    "costs regret toxicity hallucination hallucinations misclassification miscalibration".split()
)
LOWER_PHRASES = (
    "cross_entropy edit_distance inception_distance negative_log_likelihood neg_log_likelihood false_positive "
    "false_negative inference_time response_time run_time bits_per_byte bits_per_char bits_per_dim".split()
)
# A time, but not time_to_failure, time_series or time_step.
TIME = re.compile(
    r"(?:^|_)time(?=_|$)(?!_(?:to|of|series|steps?|stamps?|horizons?|limits?|windows?|points?|lags?)(?:_|$))"
)
# Words of names that nobody takes for something that is better when lower.
NEUTRAL = frozenset(
    "score scores rating ratings grade grades points point value result results y elo pass passed".split()
)
HIGHER = frozenset(
    "accuracy acc f1 fscore precision recall bleu sacrebleu chrf comet bleurt meteor rouge rouge1 rouge2 rougel "
    "rougelsum bertscore auc auroc auprc mrr ndcg mcc iou kappa correct reward r2 spearman pearson dice jaccard "
    "ssim psnr gleu cider".split()
)
HIGHER_ALONE = frozenset("em exact_match map ap return returns success success_rate win_rate preference".split())
# Words that turn such a name round, as scikit-learn's neg_ does, or make it one of something else.
TURNING = frozenset(
    "neg negative negated minus inverse inv reciprocal anti non no not without free reduction improvement gain saved "
    "saving savings decrease tolerance resistance robust robustness detection detected correction corrected recovery "
    "efficiency effectiveness benefit sensitive aware skill win wins profit up life survival real battery".split()
)
NEGATED = re.compile(r"\s*(sklearn:)?(neg(ative|ated)?[_\W]|[-\N{MINUS SIGN}])\s*", re.IGNORECASE)  # neg_log_loss
COMPLEMENT = re.compile(r"\s*(1(\.0*)?|100)?\s*[-\N{MINUS SIGN}\N{EN DASH}]")  # 1-WER, -loss
STATED = re.compile(r",\s*lower_is_better=(true|false)\b", re.IGNORECASE)  # as exports name metrics with options
HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def find_direction(name: str) -> str | None:
    """Return "lower" or "higher" where the whole words of a name say which is better; None where they do not.

    >>> [find_direction(name) for name in ("WER (%)", "valLoss", "BLEU", "percent", "1 - error", "neg_log_loss")]
    ['lower', 'lower', 'higher', None, None, None]
    """
    if stated := STATED.search(name):
        return "lower" if stated[1].lower() == "true" else "higher"
    if arrows := {"\N{DOWNWARDS ARROW}", "\N{UPWARDS ARROW}"}.intersection(name):
        return ("lower" if "\N{DOWNWARDS ARROW}" in arrows else "higher") if len(arrows) == 1 else None
    own = name.partition(",")[0].rpartition(":")[2]  # without options, and of module:function the function
    words = [word for word in re.split(r"[\W_]+", HUMPS.sub("_", own).lower()) if word]
    plain = "_".join(words)
    for phrase in LOWER_PHRASES:
        if f"_{phrase}" in f"_{plain}":
            turned = TURNING.intersection(plain.replace(phrase, "").split("_")) or COMPLEMENT.match(own)
            return None if turned else "lower"
    if plain in HIGHER_ALONE or HIGHER.intersection(words):
        return None if LOWER.intersection(words) - {"per"} or TURNING.intersection(words) else "higher"
    errors = LOWER.intersection(word.rstrip("0123456789") for word in words)
    if words[-1:] != ["per"]:  # elsewhere a preposition, as in tokens_per_second
        errors -= {"per"}
    errors |= set(TIME.findall(plain))
    return "lower" if errors and not TURNING.intersection(words) and not COMPLEMENT.match(own) else None


def tell_direction(name: str) -> str | None:
    """Return the same, and of a name that says that a metric is negated the opposite of the metric's own.

    >>> [tell_direction(name) for name in ("neg_log_loss", "-WER", "sklearn:max_error", "loss", "score")]
    ['higher', 'higher', 'higher', 'lower', None]
    """
    if own := NEGATED.match(name):
        found = find_direction(name[own.end() :])
        return None if found is None else {"lower": "higher", "higher": "lower"}[found]
    return "higher" if name.startswith("sklearn:") else find_direction(name)


def is_neutral(name: str) -> bool:
    """Return whether a name that tells no direction is that of a score: higher is then what everybody assumes.

    >>> is_neutral("mqm_avg_score"), is_neutral("nodes_expanded")
    (True, False)
    """
    return not NEUTRAL.isdisjoint(re.split(r"[\W_]+", HUMPS.sub("_", name).lower()))


def say_assumed(names: Sequence[str], remedy: str) -> str:
    """Return the line that says which scores are taken as better when higher though their names do not tell."""
    return f"{', '.join(names)}: assumed that higher is better; {remedy} if not."


def say_by_name(names: Sequence[str], remedy: str) -> str:
    """Return the line that says which scores are better when lower, for no other reason than their names."""
    known = "its name" if len(names) == 1 else "their names"
    return f"{', '.join(names)}: lower is better, by {known}; {remedy} if not."
