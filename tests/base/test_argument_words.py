"""Sentences that name arguments."""

import pickle

import pytest

from manifill.base.argument_words import Argument, Wording, joined, message_of, worded

SENTENCE = Wording("pass ", Argument("duplicates", "average"), ", or give ", Argument("row"), ".")


def _write(argument: Argument) -> str:
    return f"<{argument.name}>"


def test_the_string_has_the_words_of_python() -> None:
    assert SENTENCE == "pass duplicates='average', or give row."
    assert f"{SENTENCE}" == str(SENTENCE) == SENTENCE


def test_other_words_are_given_on_request() -> None:
    assert worded(SENTENCE, _write) == "pass <duplicates>, or give <row>."
    assert worded("plain {braces}", _write) == "plain {braces}"


def test_messages_of_exceptions() -> None:
    with pytest.raises(ValueError, match="duplicates='average'") as caught:
        raise ValueError(SENTENCE)
    assert worded(caught.value, _write) == "pass <duplicates>, or give <row>."
    assert worded(ValueError("plain"), _write) == "plain"
    assert worded(OSError(2, "no file", "x"), _write) == "[Errno 2] no file: 'x'"


def test_a_sentence_may_be_a_part_of_another() -> None:
    try:
        raise ValueError(SENTENCE)
    except ValueError as error:
        whole = Wording("refused: ", message_of(error))
    assert whole == f"refused: {SENTENCE}"
    assert worded(whole, _write) == "refused: pass <duplicates>, or give <row>."
    assert message_of(OSError(2, "no file")) == "[Errno 2] no file"


def test_a_value_may_be_none() -> None:
    assert Wording(Argument("sigma", None)) == "sigma=None"


def test_lists() -> None:
    names = [Argument(name) for name in "abc"]
    assert Wording(*joined(names)) == "a, b and c"
    assert Wording(*joined(names[:2])) == "a and b"
    assert Wording(*joined(names[:1])) == "a"


def test_a_sentence_comes_back_from_another_process() -> None:
    assert pickle.loads(pickle.dumps(SENTENCE)).parts == SENTENCE.parts
