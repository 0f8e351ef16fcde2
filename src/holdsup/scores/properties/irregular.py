"""Words whose syllables the rules of spelling do not give, by how many they have."""

from __future__ import annotations

__all__ = ["IRREGULAR"]

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
