"""Words and sentences of a text, and syllables of English words, counted by rules of spelling.

A word is a run of letters and digits. Apostrophes and hyphens inside it belong to it (don't, well-known), and so do
the points and commas of a number (3.14, 1,000) and the points of an acronym (U.S., e.g.), as Flesch counts
them. Words are compared in lower case. Texts in which no blanks stand between words (Chinese, Japanese,
Thai, ...) are not cut into words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Vowel signs and points belong to a word (Hindi, Hebrew, Arabic ...), though Python's \w leaves them out.
MARKS = "".join(c for c in map(chr, range(0x300, 0x2000)) if unicodedata.category(c) in ("Mn", "Mc")) + "\u200c\u200d"
RUN = rf"[^\W_]+(?:[{MARKS}]+[^\W_]*)*"
ACRONYM = re.compile(r"(?<![^\W_])(?:[^\W\d_]\.)+[^\W\d_](?![^\W_])")
WORD = re.compile(rf"{ACRONYM.pattern}|{RUN}(?:(?:['-]|(?<=\d)[.,](?=\d)){RUN})*")
SAME = str.maketrans({"’": "'", "ʼ": "'", "\u2010": "-", "\u2011": "-", "\u00ad": None})  # the last is a soft hyphen
CLOSERS = "\"')]}”»"
# An empty line ends a sentence, too: headings have no full stop.
BREAK = re.compile(rf"\n\s*\n|(?<![.!?…])[.!?…]+[{re.escape(CLOSERS)}]*(?=\s|$)|[。！？｡؟۔।॥]+")  # fmt: skip
LAST_TOKEN = re.compile(r"([^\s(\[\"']+) ?$")  # corpora cut into tokens have a blank before the point
NEXT_WORD = re.compile(rf"[\s\"'(\[“«]*({RUN})")
LOOK = 40  # characters around a full stop in which a token is looked for
TITLES = frozenset(
    "mr mrs ms mx dr prof rev hon gen col lt sgt capt cmdr gov sen rep pres messrs mme mlle st mt vs v cf e.g i.e viz "
    "ca approx resp esp incl".split()
)  # never the end of a sentence
NUMBERED = frozenset("no nos fig figs eq eqs vol p pp ch sec art op nr".split())  # not before a number
SHORTENED = frozenset(
    "etc inc ltd co corp bros jr sr al est ave blvd rd dept univ ph.d jan feb mar apr jun jul aug sep sept oct nov "
    "dec".split()
)  # the end if a word follows that often begins a sentence
STARTERS = frozenset(
    "the a an this that these those it its he she they we you i his her their our my there here in on at for from with "
    "as by to but and or so if when while after before then however what who why how no not yes all some many most "
    "one".split()
)
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
IRREGULAR = {
    word: count
    for count, words in {
        1: "aches drawer hm hmm hmmm isle mao mm morgue ms nth seoul sh shh shhh st tao vaughan zeus",
        2: "acme acne agnes ahmed ai aires ante aug bauer berkeley bluer bluish boaz boyish buenos buick business "
        "cafe canyon carriage cashier catholic catholics cds cheesecake chile chloe choir cliche cliched clueless "
        "coed coerce coerced colonel colonels cordial crooked cruelest cruelly cutesy dante daphne deathbed dept "
        "devilish diamond diaper dovetail drier dryer duet dulles dyer eu evening eyeball eyebrow eyelash eyelid "
        "eyesight farewell forefront frasier frontier fryer fueling genius georgetown giant gimme glacier goer "
        "gooey grapevine graveyard hideout hodgepodge horseshoe housewife id iq jagged jared jesse joanne joel "
        "joey jose jukebox julius lemme leon likewise livestock lois louie louis louise lovejoy luis lukewarm "
        "luncheon makeshift marriage maybe mendes messrs milestone mrs nadia naive naked nietzsche nike nineteen "
        "noah noel nosedive notebook ok opera peon pepe pharaoh phoebe pierre posse premier princeton psyche "
        "ragged rene rhea risque rosewood rugged rulebook safeties sagebrush salesman savior scapegoat scion "
        "seance sgt shakespeare shoreline soldier someone sonia sophomore spaniard spokesman stagecoach stalemate "
        "storefront strikeout takeoff therefore thereof truer truest uk unwed uv vaguely valiant vaudeville "
        "vineyard wednesday werewolf whereas whitehouse wholesale wicked wisecrack wiseguy wretched xavier zoe",
        3: "abc achilles albeit alliance andean andrea angeles anime api ariel atheist atm beforehand behavior "
        "behaviour businessman caretaker carriageway caveat ceo cereal cgi chandelier chihuahua cia civilian "
        "coercion comanche concierge coyote cpu croatia crotchety dalliance daredevil deity diego dolores dvds "
        "elliot elliott epa etienne eyelashes fbi fiance finale foreboding gabriel gabrielle garcia gillian "
        "gonzales gpu hawaii hbo hercules heroin heroine hiatus housekeeping hyena ibm infrared ingenious "
        "intriguing irs italian jamaica joanna juliette karate koala leoni likelihood lillian lineage livelihood "
        "loggia louisa louisville machete madeline makeover meander mercedes messiah montreal moreover muriel "
        "nausea newlywed noteworthy oahu oasis ohio permeate peyote philippe pursuer quieter rafael recipe reissue "
        "requiem rescuer rickety salesperson salome samoan sesame siamese sierra silhouette skeleton spokesperson "
        "spokeswoman suicide takeover temperament tenement tiara tolkien truism twentieth ufo url usa vienna "
        "vietnam vip wannabe whoever zimbabwe",
        4: "abalone adagio agreeable albuquerque amnesiac aphrodite apostrophe arguable arguably businesswoman "
        "california caribbean cataloguing catastrophe chameleon cleopatra coagulate comedienne corleone delineate "
        "diarrhea epitome etc ethereal facsimile foreseeable gratuitous hyperbole initiative kamikaze karaoke "
        "leonardo minutiae neanderthal nevertheless penelope pennsylvania preexisting proprietor riviera santiago "
        "sociopath suicidal venereal vietnamese vigilante whatsoever zoologist zoology",
        5: "christianity enthusiasm enthusiastic judiciary louisiana minneapolis psychoanalyst radioactive sociology "
        "spontaneity virtuosity",
        6: "homogeneity mediterranean paleontologist sociological",
        7: "confidentiality",
    }.items()
    for word in words.split()
}


def normalize(text: str) -> str:
    """Return a text in composed characters (NFC), with one kind of apostrophe and of hyphen."""
    return unicodedata.normalize("NFC", text).translate(SAME)


def split_words(text: str) -> list[str]:
    """Return the words of a text, in lower case.

    >>> split_words("Mr. Smith's well-known U.S. firm didn't pay $1,000.50, e.g. in 2019.")
    ['mr', "smith's", 'well-known', 'u.s', 'firm', "didn't", 'pay', '1,000.50', 'e.g', 'in', '2019']
    """
    return WORD.findall(normalize(text).lower())


def count_sentences(text: str) -> int:
    """Return how many sentences with a word in them a text has.

    A sentence ends at a full stop, question or exclamation mark before a blank, at an empty line, and at the end of
    the text. The point of an abbreviation, an initial or a list number is no full stop, and a quotation that goes on
    in lower case ("Why?" he asked) does not end a sentence.

    >>> count_sentences('Dr. J. Smith paid 3.50 dollars, e.g. for tea. "Why?" he asked. It was 5 p.m. The end')
    4
    """
    text = normalize(text)
    count = start = 0
    for match in BREAK.finditer(text):
        if _ends_sentence(text, match, start):
            count += bool(WORD.search(text, start, match.start()))
            start = match.end()
    return count + bool(WORD.search(text, start))


def _ends_sentence(text: str, match: re.Match[str], start: int) -> bool:
    mark = match[0]
    stop = mark.rstrip(CLOSERS)
    found = NEXT_WORD.match(text, match.end(), match.end() + LOOK)
    if found is None or stop[0] not in ".!?…":
        return True
    follower = found[1]
    if stop != mark or stop[:2] == ".." or stop[0] == "…":  # the end of a quotation, or three points
        return not follower[0].islower()
    if stop != ".":
        return True
    before = LAST_TOKEN.search(text, max(start, match.start() - LOOK), match.start())
    return before is None or _closes(before, follower, first=not WORD.search(text, start, before.start()))


def _closes(before: re.Match[str], follower: str, *, first: bool) -> bool:
    """Return whether the point after a token, with a word that follows it, is a full stop."""
    token = before[1].lower()
    if token in TITLES or (first and token.isdecimal() and len(token) <= 3):  # Mr. Smith; 1. Wash the dishes
        return False
    if token in NUMBERED and follower[0].isdecimal():
        return False
    if token in SHORTENED or ACRONYM.fullmatch(token):
        return follower[0].isupper() and follower.lower() in STARTERS
    return len(token) > 1 or before[1] == "I" or not before[1].isupper()


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
