"""A small corpus of ours: references, and what two systems might have made of them in several runs."""

from __future__ import annotations

SENTENCES = """\
The committee met on 3 May, and nobody objected to the plan.
"We will be back," she said; the door closed behind her.
Prices rose by 1,250.75 dollars in 2019-20, a record.
Is it true that the old bridge was sold twice?
He reads slowly, but he remembers every word of it.
The well-known U.S. painter never visited Rome (or so it seems).
A storm is coming from the north & nobody is ready.
Please close the window before you leave the house.
Two of the three witnesses couldn't identify the man.
Water boils at 100 degrees; at high altitude, it boils sooner.
They planted apple trees along the road to the village.
The train to Łódź leaves at 7.45 from platform 2.
I have never seen so many birds in one place.
Nobody knew who had written the letter, or why.
The results are in line with what we had expected.
After the rain the children went out to play in the garden.
It's a small shop that sells tea, coffee, and old books.
The minister refused to answer any of the questions!
She has worked here for ten years without a single complaint.
Most of the city was rebuilt after the fire of 1666.""".splitlines()
WORDS = "house very of not quickly an older the man where red".split()


def references(copies: int = 3) -> list[str]:
    """Return the references: each sentence with other numbers of its words in front."""
    return [" ".join([*WORDS[k : 2 * k], text]) for k in range(copies) for text in SENTENCES]


def translate(quality: int, run: int, copies: int = 3) -> list[str]:
    """Return a system's output: every so many words one is lost, changed or moved; the larger quality, the fewer."""
    made, place = [], run
    for text in references(copies):
        words: list[str] = []
        for word in text.split():
            place += 1
            if place % quality == 0:
                how = (place // quality + run) % 4
                if how == 0:
                    continue
                if how == 1:
                    words.append(WORDS[place % len(WORDS)])
                    continue
                if how == 2:
                    words.insert(max(0, len(words) - 3), word)
                    continue
                words.append(WORDS[(place + 3) % len(WORDS)])
            words.append(word)
        made.append(" ".join(words))
    return made
