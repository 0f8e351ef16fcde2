"""The JSON Schema of a document of measurements, made from the record so that it cannot drift."""

from __future__ import annotations

from typing import Any

from holdsup.measurements.record import CONDITIONS
from holdsup.measurements.rows import DOCUMENT, RECORDS

__all__ = ["EXPLANATIONS", "schema_of_measurements"]

EXPLANATIONS = {
    "object": "what was measured: the system, or the variant of it",
    "measurand": "the quantity measured, such as BLEU or fluency",
    "value": "the measured value, such as 84.51 or 91 %",
    "unit": "percent or proportion, or another word; may stay empty",
    "scale_minimum": "the lowest value that the scale has; 0 if empty, 1 for ratings from 1 to 7",
    **{name: condition.explanation for name, condition in CONDITIONS.items()},
    "source": "where the value is published",
    "time": "when it was measured",
}


def schema_of_measurements() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a document of measurements."""
    text = {"type": "string"}
    kinds = {"value": {"type": ["number", "string"]}, "scale_minimum": {"type": ["number", "string", "null"]}}
    described = {name: {**kinds.get(name, text), "description": said} for name, said in EXPLANATIONS.items()}
    conditions = {name: described.pop(name) for name in CONDITIONS}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "holdsup measurements, version 1",
        "description": "Measured values with the conditions under which they were measured.",
        "type": "object",
        "properties": {
            **{field: {"const": value} for field, value in DOCUMENT.header.items()},
            "explanations": {"type": "object", "additionalProperties": text},
            RECORDS: {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        **described,
                        "conditions": {
                            "type": "object",
                            "description": "conditions of measurement; one that is left out or empty is not reported",
                            "properties": conditions,
                            "additionalProperties": text,
                        },
                    },
                    "required": ["object", "measurand", "value"],
                },
            },
        },
        "required": [*DOCUMENT.header, RECORDS],
    }
