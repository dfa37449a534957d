"""Random changes of bytes and of text."""

from random import Random

__all__ = ["TOKENS", "mutated_bytes", "mutated_text"]

# What readers stumble over: numbers at the edge of their types, marks, blanks, and words with a meaning.
TOKENS = (
    "", " ", "0", "-0", "1", "2", "-1", "007", "1.0", "1.5", "-999", "1e999", "1e-999", "-1e308", "9223372036854775807",
    "9223372036854775808", "-9223372036854775809", "18446744073709551616", "123456789012345678901234567890", "inf",
    "-inf", "nan", "NaN", "NA", "null", "?", "None", "True", "false", "1,5", "1.234,5", "12 %", "0x10", "1_000", "+5",
    "--5", "1e", ".", "-", "+", "=1+1", "'=x", "@x", "\t", "\r", '"', '""', '"a"', "'", "\\", "#", "%", "%%", "a b",
    "ä", "日本", "\ufeff", "\u2028", "\x1f", "\x7f", "user", "item", "rating", "id", "row", "col", "value", "timestamp",
    "Unnamed: 0", "2020-01-01", "x" * 300, "9" * 300,
)  # fmt: skip
SEPARATORS = (",", ";", "\t", "|", " ", "\n", "\r\n", "\r", "\n\n")


def mutated_bytes(random: Random, data: bytes) -> bytes:
    """Return the bytes after one to six changes: flipped, replaced, inserted, deleted, repeated, swapped or cut."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        if not changed:
            break
        start = random.randrange(len(changed))
        length = min(random.choice((1, 1, 1, 2, 4, 8, 32)), len(changed) - start)
        kind = random.randrange(9)
        if kind == 0:
            changed[start] ^= 1 << random.randrange(8)
        elif kind == 1:
            changed[start] = random.randrange(256)
        elif kind == 2:
            changed[start] = random.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif kind == 3:
            changed[start:start] = random.randbytes(length)
        elif kind == 4:
            del changed[start : start + length]
        elif kind == 5:
            changed[start:start] = changed[start : start + length] * random.choice((1, 2, 50))
        elif kind == 6:
            other = random.randrange(len(changed))
            changed[start : start + length] = changed[other : other + length]
        elif kind == 7:
            changed[start : start + length] = random.choice((b"\0", b"\xff")) * length
        elif random.random() < 0.3:
            del changed[start:]
    return bytes(changed)


def mutated_text(random: Random, text: str) -> str:
    """Return the text after one to six changes of its fields, separators and lines."""
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        lines = text.splitlines(keepends=True) or [""]
        k = random.randrange(len(lines))
        kind = random.randrange(8)
        if kind <= 2:
            separator = random.choice((",", ",", ";", "\t", " "))
            fields = lines[k].rstrip("\r\n").split(separator)
            fields[random.randrange(len(fields))] = random.choice(TOKENS)
            lines[k] = separator.join(fields) + random.choice(("\n", "\n", "\n", "\r\n", "\r", ""))
        elif kind == 3:
            lines.insert(k, random.choice(lines))
        elif kind == 4:
            del lines[k]
        elif kind == 5:
            place = random.randrange(len(lines[k]) + 1)
            lines[k] = lines[k][:place] + random.choice((*TOKENS, *SEPARATORS)) + lines[k][place:]
        elif kind == 6:
            old, new = random.choice(SEPARATORS), random.choice(SEPARATORS)
            lines = ["".join(lines).replace(old, new)]
        else:
            lines = ["".join(lines).replace(random.choice(("1", "a", ".", "g")), random.choice(TOKENS))]
        text = "".join(lines)
    return text
