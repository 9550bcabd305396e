"""Words that questions consist of, which say little about what is asked for."""

QUESTION_WORD_WEIGHT = 0.15  # of such a word in a ranking, against another of the same frequency
# In the most common languages, as `extract_terms` writes them. German `die` and `war` and Spanish `son` are left out,
# because they are words of their own in English.
QUESTION_WORDS = frozenset(
    "a an the of to in on at by for with from and or is are was were be been do does did can could should would "  # noqa: SIM905
    "will how what which who whom whose when where why i you he she it we they my your its this that these those there "
    "if as not have has had any some about into than then so me us please tell find get use "
    "der das den dem des ein eine einen einem einer und oder ist sind wie was wer wo wann warum welche welcher "
    "welches kann ich es sich mit von zu zum zur im am auf fur "
    "le la les un une des du de et ou est sont comment que quoi qui quand pourquoi quel quelle dans sur pour avec par "
    "el los las una y o es como que cual quien cuando donde por para con en del al "
    "il lo gli uno e di che chi quando dove perche nel con per da os as um uma do da em no na".split()
)
