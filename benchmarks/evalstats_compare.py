"""Compare simulated systems by evalstats; run by an interpreter that has it.

python evalstats_compare.py SCORES.npz
"""

import json
import sys
import warnings

import evalstats
import numpy as np
import pandas as pd

warnings.simplefilter("ignore")
pairs = np.load(sys.argv[1])
found = []
for left, right in zip(pairs["left"], pairs["right"], strict=True):
    frames = []
    for name, scores in (("left", left), ("right", right)):
        item, run = np.nonzero(~np.isnan(scores))
        frames.append(pd.DataFrame({"model": name, "item": item, "run": run, "score": scores[item, run]}))
    pair = evalstats.compare_models(evalstats.load_from(pd.concat(frames))).to_dict()["pairwise"][0]
    sign = 1 if pair["a"] == "left" else -1
    low, high = sorted((sign * pair["ci_low"], sign * pair["ci_high"]))
    found.append((pair["p_value"] < 0.05, low, high))
print(json.dumps([(bool(rejects), low, high) for rejects, low, high in found]))
