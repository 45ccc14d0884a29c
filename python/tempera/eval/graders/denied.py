r"""Tells a value that a text states from one that it denies, asks about, takes back or offers beside another.

Words that deny are listed, and all others leave an answer as it is. They stand directly beside the value, beside the words
that state it (“I doubt that the answer is 5”), or begin the next sentence.
"""

from __future__ import annotations

import re

NEAR = 300  # characters on each side of a value

_END = re.compile(r"[.!?;\n]")
# Directly before a value: a denial, a guess or a wrong answer, and what another is preferred to.
_BEFORE = re.compile(
    r"(?:(?:\b(?:not|never|cannot|hardly|nor|anything but|by no means|no longer)|n't)"
    r"(?: (?:be|equals?|to|answer|even|exactly|likely|possibly|simply|write|say|have|get|choose|select|pick))*"
    r"|\b(?:wrong|incorrect|mistaken|tempting|naive|rejected|first|initial|earlier|previous|old) (?:answer|option|choice|guess|thought|instinct)"
    r"(?: (?:is|was|would be))?:?"
    r"|\b(?:wrong|incorrect|false|rejected):"
    r"|\b(?:rather than|instead of|as opposed to|other than|different from|differs from|rule out|disagree with|i guessed|or (?:maybe|perhaps|possibly|else))"
    r"|\b(?:mistakenly|wrongly|tempting to|tempted to|wrong to|incorrect to) \w+|\b(?:false|not true) that [^,]*)"
    r"[^\w,:]*$",
    re.IGNORECASE,
)
# Before the words that state a value.
_DENIED_STATEMENT = re.compile(
    r"(?:(?:\b(?:not|never|no(?:body| one))|n't) (?:would )?(?:the case|think|believe|say|sure|certain|convinced)"
    r"|\b(?:i doubt|i deny|(?:i|first) thought|false|impossible|unlikely|mistake to (?:say|think)|wrong to say|tempting to think)"
    r"|\b(?:says|said|claims|thinks|believes|might think|may think|would guess|people think|students say))"
    r"(?: \w+){0,3} (?:it|answer|option|choice)(?: is| was|'s)\W*$",
    re.IGNORECASE,
)
# After a value, in its sentence; a group calls it wrong.
_AFTER = re.compile(
    r"\W*(?P<wrong>(?:(?:but|which|this|that|it) )*(?:is|was|would be|seems|looks|must be|that's) (?:(?:the|a|my) )?"
    r"(?:wrong|incorrect|false|impossible|ruled out|first guess|trap|not (?:the )?(?:answer|it|right|correct|true|possible)))\b"
    r"|\W*(?:(?:isn't|cannot be|can't be) (?:the answer|right|it)|doesn't work|does not work)\b"
    r"|\W*[,(–—-] ?(?:(?P<bad>wrong|incorrect|wrongly|incorrectly)|not$|no(?=,| wait|$)|sorry|i mean|or (?:rather|maybe|perhaps|possibly)|just kidding)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[^,]*(?:, (?:right|or is it.*))?", re.IGNORECASE)
# After a value, in its sentence: another one is beside it, by another condition or reading.
_VALUE = r"[$(]?(?:\d|[B-H]\b)"
_ALTERNATIVE = re.compile(
    r"\$? (?P<when>if|when|unless|assuming|under|(?:by|for|in|with) (?:the )?(?:one|first|even|odd))\b.*(?:,(?: or| but| while)?| and) "
    rf"{_VALUE}.* (?:(?P=when)|otherwise|else|another|other|second|even|odd)\b"
    rf"|.* (?:else|otherwise)(?: it is)? {_VALUE}(?!\w* would)"
    rf"|\$?, (?:perhaps|maybe) {_VALUE}",
    re.IGNORECASE,
)
_YES = re.compile(r"\W*(?:yes|it is)\b", re.IGNORECASE)
_WORD = re.compile(r"[a-z]", re.IGNORECASE)
# At the beginning of the next sentence.
_TAKEN_BACK = re.compile(
    r"\W*(?:(?:oh|wait|hold on|hmm|but|however|actually)\b\W*)*"
    r"(?:no(?:[,.]| wait)|hardly|certainly not|nope|nah|not!|false!|sorry,|apologies|correction|my bad|just kidding|on second thought|not really|oops"
    r"|(?:scratch|ignore|forget|disregard) that|i (?:was wrong|made a mistake|made an error|meant|retract|withdraw)|let me (?:correct|redo)"
    r"|(?:that|this|the above|this answer)(?: is| was|'s)(?: a)? (?:wrong|incorrect|false|mistake|joke|not (?:right|correct|true))\b"
    r"|(?:that|this) (?:cannot|can't|doesn't|does not) (?:be|work))"
    r"|\W*(?:wait|actually|or)\b(?: maybe| perhaps)?\W*(?:it (?:is|should be) |it's )?\W*[0-9B-H]\b",
    re.IGNORECASE,
)


def is_denied(before: str, after: str, may_be_wrong: bool = False) -> bool:
    """True if the text before and after a value denies it; an answer that may be wrong is not denied by being called so.

    >>> is_denied("The answer is ", "."), is_denied("The answer is not ", ". It is 6."), is_denied("It is ", ". Wait, that is wrong.")
    (False, True, True)
    """
    before, after = (text.replace("’", "'") for text in (before[-NEAR:], after[:NEAR]))
    sentence = _END.split(before.replace("\n", " "))[-1]
    end = _END.search(after)
    rest, later = (after[: end.start()], after[end.end() :]) if end else (after, "")
    asks = end is not None and end.group() == "?" and _ASKS.fullmatch(rest) and not _YES.match(later) and _WORD.search(sentence)
    called = _AFTER.match(rest)
    if called and called.lastgroup and may_be_wrong:
        called = None
    if asks or called:
        return True
    in_sentence = _BEFORE.search(sentence) or _DENIED_STATEMENT.search(sentence) or _ALTERNATIVE.match(rest)
    return bool(in_sentence or _TAKEN_BACK.match(later))
