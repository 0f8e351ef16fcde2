"""Makes the logs in this folder with the tools themselves: pip install inspect_ai lm_eval, then python make_logs.py.

No model is asked: answers are drawn at random, so that it is known that the large one is better.
"""

import json
import random
import sys
from pathlib import Path

SKILL = {"small": 0.55, "large": 0.80}
HARD = {item: random.Random(item).uniform(-0.25, 0.25) for item in range(60)}


def draw(system, item, draw_number=0):
    """Return whether a system knows the answer to an item this time."""
    return random.Random(f"{system} {item} {draw_number}").random() < SKILL[system] + HARD[item]


def make_inspect(folder):
    """One task of 40 questions, answered twice by two models, and by the small one with another prompt."""
    from inspect_ai import Task, eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import match
    from inspect_ai.solver import solver, system_message

    samples = [
        Sample(
            id=f"q{i}", input=f"What is {i} times {i + 3}?", target=str(i * (i + 3)), metadata={"digits": len(str(i))}
        )
        for i in range(40)
    ]

    @solver
    def answer():
        async def solve(state, _):
            told = 20 * any(message.role == "system" for message in state.messages)
            right = draw(state.model.name, int(state.sample_id[1:]), told + state.epoch)
            state.output = ModelOutput.from_content(str(state.model), state.target.text if right else "0")
            return state

        return solve

    asked = {"small": ("small", []), "large": ("large", []), "small-think": ("small", ["Think first."])}
    for name, (system, prompt) in asked.items():
        steps = [*map(system_message, prompt), answer()]
        task = Task(name="times", dataset=MemoryDataset(samples, name="times"), solver=steps, scorer=match())
        log = evaluate(task, model=f"mockllm/{system}", epochs=2, log_dir=str(folder), display="none")[0]
        Path(log.location).rename(folder / f"{name}.eval")


def make_lm_eval(folder):
    """Two tasks of 60 questions, one of multiple choice, one with two filters."""
    import lm_eval
    from lm_eval.api.model import LM
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    class Random(LM):
        def __init__(self, system):
            super().__init__()
            self.system = system

        def loglikelihood(self, requests):
            known = {each.doc_id: draw(self.system, each.doc_id) for each in requests}
            right = [each.idx == each.doc["label"] for each in requests]
            return [
                (-1.0 if ok == known[each.doc_id] else -2.0, False) for ok, each in zip(right, requests, strict=True)
            ]

        def loglikelihood_rolling(self, requests):
            raise NotImplementedError

        def generate_until(self, requests):
            said = [
                each.doc["choices"][each.doc["label"]] if draw(self.system, each.doc_id, 1) else "0"
                for each in requests
            ]
            return [f"It is {text}." if draw("small", i, 2) else f"#### {text}" for i, text in enumerate(said)]

    items = [
        {"question": f"What is {i} plus {i + 7}?", "choices": [str(2 * i + 7), str(2 * i + 8)][:: 1 - 2 * (i % 2)],
         "label": i % 2} for i in range(60)
    ]  # fmt: skip
    Path("sums.jsonl").write_text("".join(json.dumps(each) + "\n" for each in items))
    common = {"dataset_path": "json", "dataset_kwargs": {"data_files": {"test": "sums.jsonl"}}, "test_split": "test",
              "doc_to_text": "{{question}}", "metadata": {"version": 1}}  # fmt: skip
    pattern = {"strict-match": r"#### (\d+)", "flexible-extract": r"(\d+)"}
    filters = [
        {"name": name, "filter": [{"function": "regex", "regex_pattern": regex}, {"function": "take_first"}]}
        for name, regex in pattern.items()
    ]
    tasks = [
        {"task": "sums_mc", "output_type": "multiple_choice", "doc_to_choice": "choices", "doc_to_target": "label",
         "metric_list": [{"metric": "acc"}], **common},
        {"task": "sums_gen", "output_type": "generate_until", "doc_to_target": "{{choices[label]}}",
         "filter_list": filters, "metric_list": [{"metric": "exact_match"}],
         "generation_kwargs": {"until": ["\n"]}, **common},
    ]  # fmt: skip
    for system in SKILL:
        tracker = EvaluationTracker(output_path=str(folder / system))
        found = lm_eval.simple_evaluate(
            Random(system), tasks=tasks, task_manager=TaskManager(), log_samples=True, evaluation_tracker=tracker,
            bootstrap_iters=0, model_args=None,
        )  # fmt: skip
        samples = found.pop("samples")
        found["config"]["model_args"] = f"pretrained=example/{system}"
        tracker.general_config_tracker.model_name = f"example/{system}"
        tracker.general_config_tracker.model_name_sanitized = f"example__{system}"
        for name in ("pretty_env_info", "git_hash", "transformers_version"):
            found.pop(name, None)
        tracker.save_results_aggregated(results=found, samples=samples)
        for task in found["configs"]:
            tracker.save_results_samples(task_name=task, samples=samples[task])
    Path("sums.jsonl").unlink()


if __name__ == "__main__":
    here = Path(__file__).parent
    make_inspect(here / "inspect") if "inspect" in sys.argv[1:] else make_lm_eval(here / "lm_eval")
