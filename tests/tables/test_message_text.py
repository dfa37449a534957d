"""Lists and counts in messages."""

import errno
import os

from manifill.tables.message_text import counted, listed, reason


def test_lists_and_counts() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "", "c"]) == "a, the unnamed column and c"
    assert listed([str(k) for k in range(8)]) == "0, 1, 2, 3, 4, 5, 6 and 7"
    assert listed([str(k) for k in range(20)]) == "0, 1, 2, 3, 4, 5, 6 and 13 more"
    assert (counted(1, "row"), counted(0, "row")) == ("1 row", "0 rows")


def test_errors_of_the_system_have_no_number() -> None:
    error = OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    assert reason(error) == "Invalid argument"
