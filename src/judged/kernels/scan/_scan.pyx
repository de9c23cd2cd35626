# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""The compiled scanner of `align`: lines of text, or columns, into blocks.

It keeps the contract of `judged.kernels.scan.scanner`, which says the same in NumPy.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport isnan
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memchr

from judged.kernels.scan._blocks cimport FEW_COLUMNS, NAN, NOT_NUMBER, Blocks
from judged.kernels.scan._bytes cimport NOT_A_NUMBER, NUMBER, begins, equal, is_space, next_token, number, plain_line, prefetch, token_end
from judged.kernels.scan._index cimport Index

import numpy as np


cdef enum:
    PAUSE = 1 << 24  # bytes of text, about 20 ms, after which Ctrl-C is heeded
    AHEAD = 16  # ranges between the one that is read and the one that is fetched from memory


cdef int check_signals() except -1 with gil:
    return PyErr_CheckSignals()


def index_from(*flat):
    """The judged documents, ready to be looked up."""
    return Index(*flat)


cdef int lines(Blocks blocks, const uint8_t *p, const uint8_t *end, bint one_block) except -1 nogil:
    """Read lines up to `end`; a change of query closes a block unless all belong to one."""
    cdef const uint8_t *line
    cdef const uint8_t *word
    cdef const uint8_t *document
    cdef const uint8_t *after
    cdef size_t n, document_length
    cdef double score = 0
    cdef bint same
    cdef const uint8_t *cut[6]
    cdef const uint8_t *pause = p + PAUSE
    while p < end:
        if p >= pause:
            pause = p + PAUSE
            check_signals()
        line = p
        if plain_line(p, end, cut):
            n = cut[0] - p
            if not one_block and not (n == blocks.query_length and begins(p, blocks.query_start, n, blocks.limit)):
                turn_to(blocks, p, n, line)
            if read_score(blocks, cut[3] + 1, cut[4], &score):
                blocks.add(cut[1] + 1, cut[2] - cut[1] - 1, score)
            p = cut[5] + 1
            continue
        p = next_token(p, end)
        if p == end:
            break
        if p[0] == c'\n':
            p += 1
            continue
        if p[0] == c'#':
            p = line_end(p, end)
            continue
        word, n = p, blocks.query_length
        same = (
            blocks.query_start != NULL and <size_t> (end - p) > n and is_space(p[n])
            and begins(p, blocks.query_start, n, blocks.limit)
        )
        p = p + n if same else token_end(p, end)
        if not same and not one_block:
            turn_to(blocks, word, p - word, line)
        p = next_token(p, end)
        p = next_token(token_end(p, end), end)
        document = p
        p = token_end(p, end)
        document_length = p - document
        p = next_token(p, end)
        p = next_token(token_end(p, end), end)
        word = p
        p = token_end(p, end)
        after = next_token(p, end)
        if after == end or after[0] == c'\n':  # nothing after the score: too few columns
            blocks.fault(FEW_COLUMNS, line - blocks.base, columns_of(line, end))
            p = line_end(after, end)
            continue
        if read_score(blocks, word, p, &score):
            blocks.add(document, document_length, score)
        p = next_token(token_end(after, end), end)
        if p < end and p[0] != c'\n':
            blocks.wide += 1
            p = line_end(p, end)
        else:
            p += 1
    return 0


cdef inline int turn_to(Blocks blocks, const uint8_t *query, size_t n, const uint8_t *line) except -1 nogil:
    """Close the block before, if any, and open one of another query."""
    if blocks.query_start != NULL:
        blocks.close(line - blocks.base)
    blocks.query_start, blocks.query_length = query, n
    return blocks.open(blocks.index.find(query, n, blocks.limit), line - blocks.base)


cdef inline const uint8_t *line_end(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """Where the next line begins."""
    found = <const uint8_t *> memchr(p, c'\n', end - p)
    return end if found == NULL else found + 1


cdef int64_t columns_of(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """How many columns a line has."""
    cdef int64_t count = 0
    p = next_token(p, end)
    while p < end and p[0] != c'\n':
        count += 1
        p = next_token(token_end(p, end), end)
    return count


cdef inline bint read_score(Blocks blocks, const uint8_t *p, const uint8_t *end, double *score) except -1 nogil:
    """Read a score; False, and a fault, where it is not a number, or NaN."""
    cdef int outcome = number(p, end, blocks.limit, blocks.single, score)
    if outcome == NUMBER:
        return True
    if outcome == NOT_A_NUMBER or not ask_python(p, end, score):
        blocks.fault(NOT_NUMBER, p - blocks.base, end - p)
        return False
    if isnan(score[0]):
        blocks.fault(NAN, p - blocks.base, end - p)
        return False
    return True


cdef bint ask_python(const uint8_t *p, const uint8_t *end, double *score) except -1 with gil:
    """Python's own reading of a number that the quick way leaves open."""
    text = (<const char *> p)[: end - p]
    if b"_" in text:  # which Python allows, and no one else
        return False
    try:
        score[0] = float(text)
    except ValueError:
        return False
    return True


cdef int rows(
    Blocks blocks,
    const uint8_t *queries,
    const int64_t *query_offset,
    const uint8_t *documents,
    const int64_t *document_offset,
    const double *scores,
    int64_t begin,
    int64_t end,
    bint one_block,
) except -1 nogil:
    """Read rows of columns; a change of query closes a block unless all belong to one."""
    cdef int64_t i
    cdef const uint8_t *p
    cdef size_t n
    for i in range(begin, end):
        if not one_block:
            p, n = queries + query_offset[i], <size_t> (query_offset[i + 1] - query_offset[i])
            if blocks.query_start == NULL or not equal(p, n, blocks.query_start, blocks.query_length):
                if blocks.query_start != NULL:
                    blocks.close(i)
                blocks.query_start, blocks.query_length = p, n
                blocks.open(blocks.index.find(p, n, queries + query_offset[end]), i)
        if isnan(scores[i]):
            blocks.fault(NAN, document_offset[i], 0)
            continue
        p = documents + document_offset[i]
        blocks.add(p, <size_t> (document_offset[i + 1] - document_offset[i]), scores[i])
    return 0


def scan_text(Index index, const uint8_t[::1] text, ranges, *, query, int rule, bint single):
    """Scan lines of the byte ranges given: block by block, or all as one block of `query`."""
    cdef Blocks blocks = Blocks(index, rule, single)
    cdef const uint8_t *base = &text[0]
    cdef int64_t begin = 0, end = 0
    cdef int64_t[:, ::1] cuts = np.ascontiguousarray(ranges, dtype=np.int64).reshape(-1, 2)
    cdef bint one_block = query is not None
    cdef int64_t number_of_query = query if one_block else -1
    cdef Py_ssize_t i
    blocks.base, blocks.limit = base, base + text.shape[0]
    with nogil:
        if one_block:
            blocks.open(number_of_query, cuts[0, 0])
        for i in range(cuts.shape[0]):
            begin, end = cuts[i, 0], cuts[i, 1]
            if i + AHEAD < cuts.shape[0]:  # rows of a scattered query are far apart, and memory is slow
                prefetch(base + cuts[i + AHEAD, 0])
                prefetch(base + cuts[i + AHEAD, 1] - 1)
            lines(blocks, base + begin, base + end, one_block)
        if one_block or blocks.query_start != NULL:
            blocks.close(end)
    return blocks.part()


def scan_columns(
    Index index,
    const uint8_t[::1] query_bytes,
    const int64_t[::1] query_offset,
    const uint8_t[::1] document_bytes,
    const int64_t[::1] document_offset,
    const double[::1] scores,
    ranges,
    *,
    query,
    int rule,
    bint single,
):
    """Scan the row ranges given of three columns: block by block, or all as one block of `query`."""
    cdef Blocks blocks = Blocks(index, rule, single)
    cdef int64_t[:, ::1] cuts = np.ascontiguousarray(ranges, dtype=np.int64).reshape(-1, 2)
    cdef bint one_block = query is not None
    cdef int64_t number_of_query = query if one_block else -1
    cdef int64_t end = 0
    cdef Py_ssize_t i
    blocks.base, blocks.limit = &document_bytes[0], &document_bytes[0] + document_bytes.shape[0]
    with nogil:
        if one_block:
            blocks.open(number_of_query, cuts[0, 0])
        for i in range(cuts.shape[0]):
            end = cuts[i, 1]
            rows(
                blocks, &query_bytes[0], &query_offset[0], &document_bytes[0], &document_offset[0], &scores[0],
                cuts[i, 0], end, one_block,
            )
        if one_block or blocks.query_start != NULL:
            blocks.close(end)
    return blocks.part()
