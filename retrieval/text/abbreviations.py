"""Abbreviations whose dot ends no sentence, or not always. Lower case, without their last dot."""

#: A name or a number follows: the dot never ends a sentence before a letter in upper case.
_TITLES = """
mr mrs ms mx messrs mmes dr prof st sts sr sra jr fr rev hon gov sen rep pres gen col maj capt cpt cmdr lt
sgt cpl pvt adm ald supt insp mt ft vs v cf e.g i.e viz resp ca approx al ibid op cit ed eds trans repr
mme mlle mgr ste herr fr frl dipl ing mag dhr mevr mej dña exc ud uds vd vds
jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri
z.b d.h u.a z.t o.ä i.d.r v.a bzw vgl sog geb gest evtl ggf bspw bijv o.a d.w.z p.ex c.-à-d p.ej
"""
#: A number follows; before anything else they are words ("no.") or end a sentence.
_BEFORE_NUMBERS = """
no nos nr num fig figs eq eqs vol vols p pp pg sec sect ch chap chaps art arts par para app tab pt bd s abb
kap abs núm pág págs §
"""
#: Whatever follows decides: they end a sentence where a word follows that often begins one.
_MIDDLE_OR_END = """
inc ltd co corp bros llc plc etc a.m p.m u.s u.k u.n e.u d.c u.s.a l.a n.y b.c a.d b.c.e c.e ph.d m.d b.a
m.a b.sc m.sc d.phil ll.b ll.m esq ave blvd rd sq dept univ assn est min max avg lb lbs oz hr hrs sec
secs mins yr yrs mi usw u.s.w usf etw enz ee.uu
"""
#: Words that begin sentences far more often than they follow an abbreviation within one.
_STARTERS = """
The A An This That These Those It Its He She They We You I His Her Their Our My In On At By For From To With
Under After Before During When While Where Who What Why How If Although Though Because Since As And But Or
So Yet However Moreover Furthermore Therefore Thus Then There Here Some Many Most All Each Every No Not One
Also Another Both Other According Today Now Once Unlike Like Such Is Are Was Were Do Does Did Can Could
Should Would Will May Might
Der Die Das Ein Eine Er Sie Es Wir Ich Dies Diese Dieser Dieses Im Am Auf Bei Nach Seit Mit Und Aber Doch
Le La Les Un Une Il Elle Ils Elles Nous Vous Ce Cette Ces Dans En Sur Pour Mais Et
El Los Las Una Él Ella Ellos Esto Este Esta Pero Y Según
"""
#: Languages that write ordinals with a dot: "am 3. Oktober".
_ORDINAL_DOT = "cs da de et fi hr hu is lt lv nb nn no pl sk sl sr tr"

TITLES, BEFORE_NUMBERS, MIDDLE_OR_END, STARTERS, ORDINAL_DOT = (
    frozenset(words.split()) for words in (_TITLES, _BEFORE_NUMBERS, _MIDDLE_OR_END, _STARTERS, _ORDINAL_DOT)
)
