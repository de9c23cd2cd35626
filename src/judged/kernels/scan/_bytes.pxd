"""What `_bytes.h` offers."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef extern from "_bytes.h" nogil:
    int NUMBER "JUDGED_NUMBER"
    int NOT_A_NUMBER "JUDGED_NOT_A_NUMBER"
    const uint8_t *token_end "judged_token_end"(const uint8_t *p, const uint8_t *limit)
    const uint8_t *next_token "judged_next_token"(const uint8_t *p, const uint8_t *limit)
    int plain_line "judged_plain_line"(const uint8_t *p, const uint8_t *limit, const uint8_t **cut)
    uint32_t hash_of "judged_hash"(const uint8_t *p, size_t n, const uint8_t *limit, uint64_t seed)
    int compare "judged_compare"(const uint8_t *a, size_t m, const uint8_t *b, size_t n)
    int equal "judged_equal"(const uint8_t *a, size_t m, const uint8_t *b, size_t n)
    void prefetch "judged_prefetch"(const void *p)
    int is_space "judged_is_space"(uint8_t c)
    int begins "judged_begins"(const uint8_t *p, const uint8_t *q, size_t n, const uint8_t *limit)
    int number "judged_number"(const uint8_t *p, const uint8_t *end, const uint8_t *limit, int single, double *out)
