"""Item properties that are computed from texts: readability, length, word rarity."""

from holdsup.scores.properties.computing import compute_property
from holdsup.scores.properties.expressions import TextProperty, split_properties
from holdsup.scores.properties.measures import characters, flesch, length, words_per_sentence
from holdsup.scores.properties.rarity import WordCounts, count_words, rarity_mean, rarity_sum, read_counts
from holdsup.scores.properties.syllables import count_syllables
from holdsup.scores.properties.words import count_sentences, split_words

__all__ = [
    "TextProperty",
    "WordCounts",
    "characters",
    "compute_property",
    "count_sentences",
    "count_syllables",
    "count_words",
    "flesch",
    "length",
    "rarity_mean",
    "rarity_sum",
    "read_counts",
    "split_properties",
    "split_words",
    "words_per_sentence",
]
