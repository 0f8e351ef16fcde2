"""Syllables of English words, counted by rules of spelling and a list of words that break them."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from holdsup.scores.properties.irregular import IRREGULAR

__all__ = ["count_syllables"]

# What can follow a silent e inside a word: movement, something, framework.
ENDINGS = (
    "ly$|ful|less|ness|ment|some|where|thing|time|work|like|ship|body|dom$|ty$|guard|ground|board|line|light|mark|"
    "man$|men$|woman|women|day|life|land$|spread|way|child|hold|ball|boat|paper|back|fire|wide|side|long|maker|making|"
    "keeper|berg"
)
# After l and r fewer can: the e of element is sounded.
ENDINGS_LR = (
    "ly$|less|ness|some|where|thing|time|work|like|dom$|hold|house|guard|ground|man$|men$|place|land$|to|most|fu|with|"
    "by$|cast"
)


def _any(*rules: str) -> re.Pattern[str]:
    return re.compile("|".join(rules))


SILENT = _any(
    r"(?<=[^aeiouylr])e$",  # make
    r"(?<=[aeiouyrl]l)e$",  # whole, but not table
    r"(?<=[aeiouyr]r)e$",  # here, but not acre
    r"(?<=[aeiouy])e[sd]?$",  # toe, shoes, tied
    r"(?<=q)ue[sd]?$",  # unique
    r"(?<=[aeion]g)ue[sd]?$",  # league
    r"(?<=[^aeiouytdlr])ed$",  # walked, but not wanted
    r"(?<=[aeiouyrl]l)ed$",  # pulled, but not bottled
    r"(?<=[aeiouyr]r)ed$",  # stared
    r"(?<=[^aeiouyszxcglr])(?<!ch)(?<!sh)es$",  # makes, but not faces
    r"(?<=[aeiouyrl]l)es$",  # rules
    r"(?<=[aeiouyr]r)es$",  # stores
    rf"(?<=\w[^aeiouylr])e(?={ENDINGS})",  # movement, but not refuse
    rf"(?<=[aeiouy][lr])e(?={ENDINGS_LR})",  # careless, but not element
    r"(?<=[aeiouyr]r)e(?=ment)",  # requirement
    r"(?<=^ev)e(?=ry)",  # everything
    r"(?<=^for)e(?=[ghkmnst])(?!sts?$|ns)",  # foreground, but not forest
    r"(?<=^(?:hom|lif|nam|sid|som|typ))e(?=[bcghkpstw])(?!s$)",  # sidewalk
    r"(?<=^spac)e(?=[cpw])",  # spacecraft
)
CONSONANT = _any(
    r"(?<=q)u(?=[aeiouy])",  # quit
    r"(?<=[aeiou])y(?=[aeou])",  # player
    r"(?<=[^aeiou])y(?=ard)",  # backyard
)
# A vowel that ends a syllable although another vowel follows.
HIATUS = _any(
    r"[aeiouy](?=ing)",  # going
    r"(?<![cstgxlnhi])i(?=[aou])(?!ages?$)",  # media, but not marriage
    r"(?<=th|ph|ch)i(?=[aou])",  # Cynthia
    r"(?<=^l)i(?=[ao])",  # lion
    r"(?<=[^l]l)i(?=a[bnst]|o[^nru]|u)",  # alias, but not million
    r"(?<=n)i(?=a|o[^nru]|ous|os?$|u)",  # mania, but not onion
    r"(?<=l)i(?=os?$)",  # folio
    r"(?<=[cst])i(?=os?$|at|u[ms])",  # initiate, but not nation
    r"(?<=\w\w\w)i(?=e(?:r|rs|st)$)",  # easier, but not pier
    r"(?<![cstln])i(?=en[ct])",  # audience, but not patience
    r"(?<=sc|cl)i(?=en)",  # science
    r"(?<=^al)i(?=en)",  # alien
    r"i(?=et[yi]|ets?$|etal|etl)",  # variety, quiet
    r"(?<=[aeiouy][^aeiouycsn])e(?=as?$|ans?$)",  # idea, European
    r"(?<![gpjl])e(?=o(?!u))",  # video, but not people
    r"(?<=[lp])e(?=os?$)",  # galileo
    r"(?<=^g)e(?=o[glmp])",  # geology
    r"(?<=[^gtchj])e(?=ou)",  # hideous, but not gorgeous
    r"(?<=cr)e(?=at(?!ur))",  # create, but not creature
    r"(?<=^r)e(?=ac[^h]|ali|aff|app|arr|arm|ass)",  # react
    r"(?<=th)e(?=at|or)",  # theater
    r"(?<=ucl|[^v]in)e(?=ar)",  # nuclear
    r"(?<=[^qgs])u(?=a)",  # actual
    r"(?<=s)u(?=al|at)",  # usual
    r"(?<=[^qg])u(?=e[ln]|os?$|oso)",  # cruel
    r"(?<=[nr])u(?=in)",  # ruin
    r"(?<=l)u(?=id)",  # fluid
    r"u(?=it[yi])",  # continuity
    r"u(?=ou)",  # continuous
    r"(?<=[^aeiou])y(?=[aoi])",  # flying
    r"o(?=e[tm])",  # poem
    r"a(?=o)",  # chaos
    r"a(?=ic)",  # archaic
    r"e(?=u[ms])",  # museum
    r"o(?=ics?$|ism|icis|ical)",  # heroic
    r"(?<=^c)o(?=operat|opt|ord|inc|ed|ex|au|ali)",  # cooperate
    r"(?<=^r)e(?=en[^ae]|ele|esta|eva|in[^ds]|int|ins|it|un|org|op)",  # reunite
)
SOUNDED = _any(r"[ia]sms?$", r"thms?$", r"^mc(?=[^aeiouy])")  # a syllable without a vowel: criticism, rhythm, McGregor
SWALLOWED = re.compile("ically$")  # basically
HISSING = re.compile("(?:[sxz]|[cs]h|[cgsz]e)$")
# What the stem must end in for a contracted ending to be a syllable: boss's, it'll, could've, it'd.
CONTRACTED = {"s": HISSING, "ll": re.compile("[^aeiouy]$"), "ve": re.compile("[^aeiouy]$"), "d": re.compile("[dt]$")}
VOWELS = re.compile("[aeiouyæœø]+|[éí]")  # a sounded accent begins a syllable of its own
LONGEST_SPELLED = 4  # letters of a word without vowels that is spelled: TV, HTML, but not "hmmmmm"
KEPT = {"é": "é", "è": "é", "ê": "é", "ë": "é", "ï": "í", "í": "í"}  # sounded wherever they stand: café, naïve


@lru_cache(maxsize=2**17)
def count_syllables(word: str) -> int:
    """Return how many syllables an English word has when it is read aloud; at least one.

    The parts of a hyphenated word are counted one by one. A figure counts one for each digit: four for 1918
    (nineteen-eighteen), which is the example that Flesch gives.

    Examples
    --------
    >>> [count_syllables(word) for word in ("make", "table", "wanted", "walked", "idea", "well-known", "isn't")]
    [1, 2, 2, 1, 3, 2, 2]
    """
    return max(1, sum(_count_part(part) for part in word.lower().replace("’", "'").split("-")))


def _count_part(part: str) -> int:
    if "." in part and part.replace(".", "").isalpha():  # an acronym is spelled: U.S.
        return len(part.replace(".", ""))
    digits = sum(char.isdecimal() for char in part)
    letters = "".join(_plain(char) for char in part if char.isalpha() or char == "'")
    if digits and letters in ("", "s", "st", "nd", "rd", "th"):  # 1990s, 3rd
        return digits
    return digits + (_count_letters(letters.strip("'")) if letters else 0)


def _plain(char: str) -> str:
    """Return a letter without its accent, unless the accent says that the letter is sounded."""
    return char if char.isascii() else KEPT.get(char, unicodedata.normalize("NFD", char)[0])


def _count_letters(word: str) -> int:
    if word in IRREGULAR:
        return IRREGULAR[word]
    head, mark, ending = word.rpartition("'")
    stem = head.replace("'", "")
    if mark and stem and ending in CONTRACTED:
        return _count_letters(stem) + bool(CONTRACTED[ending].search(stem))
    if mark and ending == "t" and stem.endswith("n") and len(stem) > 2:  # didn't, but not don't
        return _count_letters(stem + ending) + (stem[-2] not in "aeiou")
    if mark:
        return _count_letters(stem + ending)
    if word.endswith("s") and word[:-1] in IRREGULAR and not HISSING.search(word[:-1]):
        return IRREGULAR[word[:-1]]
    if not VOWELS.search(word):
        return len(word) if len(word) <= LONGEST_SPELLED else 1
    read = CONSONANT.sub("_", SILENT.sub("_", word))
    vowels = len(VOWELS.findall(read)) + len(HIATUS.findall(read))
    return max(1, vowels + len(SOUNDED.findall(word)) - len(SWALLOWED.findall(word)))
