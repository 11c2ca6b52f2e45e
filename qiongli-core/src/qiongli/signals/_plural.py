"""Plural forms of a phrase's last word, so that `event study` also matches `event studies`."""

from __future__ import annotations


def forms(word: str, *, alone: bool = False) -> tuple[str, ...]:
    """The word with its regular plural, or with its singular when it looks like a plural.

    A word that is a pattern `alone` gets no singular: "betas" are a matter of finance, "beta" is not.
    """
    if not word.isascii() or not word.isalpha() or len(word) < 3:
        return (word,)
    found = [word]
    if alone and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return (word,)
    if word.endswith("ies") and len(word) > 4:
        found.append(word[:-3] + "y")
    elif word.endswith(("ches", "shes", "sses", "xes")):
        found.append(word[:-2])
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        found.append(word[:-1])
    elif word.endswith("is"):
        found.append(word[:-2] + "es")
    elif word.endswith("y") and word[-2] not in "aeiou":
        found.append(word[:-1] + "ies")
    elif word.endswith(("s", "x", "ch", "sh")):
        found.append(word + "es")
    else:
        found.append(word + "s")
    return tuple(found)
