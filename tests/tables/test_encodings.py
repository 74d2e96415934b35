"""Encodings: which names are taken, and what a file is guessed to be."""

import codecs

import pytest

from core.files.encodings import ALLOWED, USUAL, EncodingError, Guess, guess_encoding, text_encoding

SENTENCES = {
    "German": ("cp1252", "Ist Übergewicht gefährlich? Die Ärzte sagen: ja, natürlich.\n"),
    "French": ("cp1252", "Les causes sont liées à l'hérédité, très fréquente chez l'enfant.\n"),
    "Spanish": ("cp1252", "¿Qué es la diabetes? El niño comió mañana según el médico español.\n"),
    "English": ("cp1252", "What is a “normal” temperature? 37 °C? It costs €5\n"),
    "Polish": ("cp1250", "Jakie są objawy cukrzycy? Zażółć gęślą jaźń, że ktoś się boi wężów.\n"),
    "Czech": ("cp1250", "Jaké jsou příznaky cukrovky? Příliš žluťoučký kůň úpěl ďábelské ódy.\n"),
    "Russian": ("cp1251", "Каковы симптомы диабета? Съешь ещё этих мягких французских булок.\n"),
    "Russian of Unix": ("koi8-r", "Каковы симптомы диабета? Съешь ещё этих мягких булок.\n"),
    "Greek": ("cp1253", "Ποια είναι τα συμπτώματα του διαβήτη; Είναι συχνή ερώτηση.\n"),
    "Chinese": ("gb18030", "糖尿病的症状是什么?这是一个很常见的问题,很多人想知道答案。\n"),
    "Chinese of Taiwan": ("big5", "糖尿病的症狀是什麼?這是一個很常見的問題,很多人想知道答案。\n"),
    "Japanese": ("shift_jis", "糖尿病の症状は何ですか。これはよくある質問です。カタカナもあります。\n"),
    "Japanese of Unix": ("euc_jp", "糖尿病の症状は何ですか。これはよくある質問です。カタカナもあります。\n"),
    "Korean": ("cp949", "당뇨병의 증상은 무엇입니까? 이것은 흔한 질문입니다.\n"),
}


@pytest.mark.parametrize("language", SENTENCES)
def test_the_encoding_of_a_sentence_is_guessed(language: str) -> None:
    encoding, sentence = SENTENCES[language]

    guess = guess_encoding(sentence.encode(encoding))

    assert guess.encoding == encoding
    assert guess.confidence < 1


def test_names_of_a_table_are_guessed_where_they_are_words_in_one_encoding_alone() -> None:
    for encoding, table in (
        ("cp1251", "item;worker;score\nМосква;Анна;4\nМосква;Олег;5\nОмск;Анна;2\nОмск;Олег;1\n"),
        ("koi8-r", "item;worker;score\nМосква;Анна;4\nМосква;Олег;5\n"),
        ("cp1255", "item,worker,score\nשאלה,דנה,4\nתשובה,יוסי,5\n"),
        ("cp1252", "item,worker,score\nGenève,René,4\né,Zoë,5\n"),
    ):
        assert guess_encoding(table.encode(encoding)).encoding == encoding


@pytest.mark.parametrize("language", SENTENCES)
def test_utf_8_is_certain(language: str) -> None:
    assert guess_encoding(SENTENCES[language][1].encode()) == Guess("utf-8", 1)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_mark_at_the_beginning_decides(encoding: str) -> None:
    assert guess_encoding("Größe\n".encode(encoding)) == Guess(encoding, 1)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_known_without_its_mark(encoding: str) -> None:
    assert guess_encoding("id;query\n1;Wie groß?\n".encode(encoding)).encoding == encoding


def test_a_strange_line_far_behind_is_found() -> None:
    blocks = [b"id,query\n" * 10_000] * 30 + ["1,Größe und Stärke natürlich\n".encode("cp1252")]

    assert guess_encoding(blocks).encoding == "cp1252"


def test_one_damaged_line_makes_no_other_encoding() -> None:
    assert guess_encoding("é\n".encode() * 3 + b"\xff\xfe\n").encoding == "utf-8"


def test_a_letter_cut_by_a_block_is_no_damage() -> None:
    data = "Größe\n".encode()

    assert guess_encoding([data[:3], data[3:]]) == Guess("utf-8", 1)


def test_an_empty_file_is_utf_8() -> None:
    assert guess_encoding(b"") == Guess("utf-8", 1)
    assert guess_encoding([]) == Guess("utf-8", 1)


def test_a_guess_is_called_one() -> None:
    assert Guess("cp1252", 0.98).description == "Windows-1252 (Western Europe), a guess (98%)"
    assert guess_encoding("name,city\nAyşe,Köln\n".encode("cp1254")).description == (
        "Windows-1252 (Western Europe), a guess (49%; others fit as well: look at the letters)"
    )
    assert Guess("utf-8-sig", 1).description == "UTF-8"


@pytest.mark.parametrize(
    "name",
    [
        *("zlib", "base64", "bz2", "hex", "rot13", "quopri", "uu", "idna", "punycode", "undefined"),
        *("unicode_escape", "utf-7", "cp037", "", "\0", "utf-8\0", "no such", "x" * 100_000, "ü", "../utf_8"),
    ],
)
def test_what_is_no_encoding_of_text_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(
        EncodingError, match=r"is no encoding of text files\. Usual ones are utf-8"
    ) as refused:
        text_encoding(name)

    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    ("name", "meant"), [("latin-1", "iso8859-1"), ("Windows-1252", "cp1252"), (" UTF8 ", "utf-8")]
)
def test_other_names_of_an_encoding_are_taken(name: str, meant: str) -> None:
    assert text_encoding(name) == meant


def test_all_that_are_taken_are_known_by_that_name_and_read_text() -> None:
    for name in ALLOWED:
        assert codecs.lookup(name).name == name
        assert "id,1\n".encode(name).decode(name) == "id,1\n"
    assert set(USUAL) <= ALLOWED
