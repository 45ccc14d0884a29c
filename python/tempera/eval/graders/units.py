"""The units that may follow a number without changing it, and the words that change it."""

from __future__ import annotations

import re

# With a space before them or none: 5cm. Those of one letter need the space, for 5m is a product.
SYMBOLS = frozenset(
    """mm cm km m in ft yd mi mg kg g lb lbs oz ml mL L ms s min h hr hrs N J W V Hz kHz MHz kW kWh kJ mol Pa kPa rad deg mph
    kph C F am pm AM PM""".split()
)  # fmt: skip

# Measures and things that are counted, in the singular. The words of the question are taken too.
NOUNS = frozenset(
    """millimeter millimetre centimeter centimetre meter metre kilometer kilometre inch foot yard mile milligram gram kilogram
    ounce pound ton tonne milliliter millilitre liter litre cup pint quart gallon tablespoon teaspoon second minute hour day
    week month year decade degree radian dollar cent euro penny rupee yen peso percent watt kilowatt volt newton joule hertz
    mole acre hectare unit point celsius fahrenheit kelvin byte
    adult animal apple baby bag ball balloon banana bar basket bean bird block book bottle bowl box boy brick brother bus
    button cake candle candy car card carrot case cat chair chapter chicken child choice class coin color cookie cow crayon
    customer cycle desk digit dog doll donut duck edge egg employee error face factor family fish flight floor flower friend
    fruit game gift girl glass goal goat grape group guest hat head hen horse house integer item jar job kid lap leg lemon
    lesson letter line lion lollipop loaf machine man marble match meal member message mouse movie muffin nail nickel number
    orange outfit pack package page pair pan parent part party path patient pattern pen pencil permutation person phone photo
    picture pie piece pizza plane plant plate player pond potato present prime problem puppy puzzle question rabbit ribbon ring
    road robot room rose row sale sandwich school seat set sheep sheet shell shirt shoe shot side sister slice snack sock
    solution song spider spoon square star step sticker stone story student subset sweet table team ticket tile tooth tourist
    towel toy train tree triangle trip truck tulip value vase vehicle vertex visitor vote way wheel window winner woman word
    worker zero""".split()
)  # fmt: skip
_IRREGULAR = {
    "feet": "foot", "people": "person", "men": "man", "women": "woman", "children": "child", "teeth": "tooth", "mice": "mouse",
    "vertices": "vertex", "loaves": "loaf",
}  # fmt: skip

# What a unit is made of besides: 5 dollars per hour, 5 square feet. The first may end it, the second may not.
TAILS = frozenset("each left total altogether old tall long wide high away more".split())
JOINTS = frozenset("per a an of cubic sq every us".split())

# A number beside one of these is another number, or several. The words of a question are no units if they are here.
CHANGERS = frozenset(
    """or to and times plus minus over divided multiplied mod modulo squared cubed half halves third thirds fourth fourths
    fifth fifths sixth sixths seventh sevenths eighth eighths ninth ninths quarter quarters tenth tenths twelfth twelfths hundredth hundredths
    thousandth thousandths tens hundred hundreds thousand thousands million millions mil billion billions bn trillion trillions quadrillion quintillion googol kilo mega giga ppm basis double dot comma dozen
    dozens gross score lakh crore factorial choose base pi
    """.split()
)

# Between "answer is" and a number, these say that it is not the answer.
NOT_LEADING = CHANGERS | frozenset(
    """between less least most than under above below negative twice double triple multiple sum product difference ratio
    root sqrt log ln sin cos tan from either neither square cube step""".split()
)


def singular(word: str) -> str:
    """A noun's singular, if the word is a plural.

    >>> [singular(word) for word in ("boxes", "puppies", "apples", "feet", "glass")]
    ['box', 'puppy', 'apple', 'foot', 'glass']
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for ending, instead in (("ies", "y"), ("es", ""), ("s", "")):
        if word.endswith(ending) and word[: -len(ending)] + instead in NOUNS:
            return word[: -len(ending)] + instead
    return word
_WORD = re.compile(r"[a-z]{3,}")


def words_of(question: str) -> frozenset[str]:
    """The words of a question that may be units of its answer: of three letters or more, and none that changes a number.

    >>> sorted(words_of("How many gizmos are 2 dozen?"))
    ['are', 'gizmos', 'how', 'many']
    """
    return frozenset(_WORD.findall(question.lower())) - CHANGERS


_TOKEN = re.compile(r"[A-Za-z]+|\^\(?-?[0-9]\)?|.")


def is_unit(text: str, words: frozenset[str] = frozenset()) -> bool:
    """True if a text after a number is nothing but signs and units; `words` are taken for units too.

    >>> [is_unit(text) for text in ("", "cm^2", " dollars per hour", "°C", "x", " m", "m", " thousand", " apples or 6")]
    [True, True, True, True, False, True, False, False, False]
    """
    before, last = "", ""  # the token before, and the last one that is not a space
    for token in _TOKEN.findall(text):
        if token.isspace():
            pass
        elif token in "%°":
            last = "sign"
        elif token in "/×":
            if last != "unit":
                return False
            last = "joint"
        elif token[0] == "^":
            if last != "unit" or len(token) == 1:
                return False
            last = "power"
        elif token == "." and before.isalpha():
            pass  # sq. ft.
        elif not token.isalpha():
            return False
        elif before or token in SYMBOLS and len(token) > 1:
            word = token.lower()
            if token in SYMBOLS or singular(word) in NOUNS or word in words:
                last = "unit"
            elif word in TAILS:
                last = "tail"
            elif word in JOINTS:
                last = "joint"
            else:
                return False
        else:
            return False
        before = token
    return last != "joint"
