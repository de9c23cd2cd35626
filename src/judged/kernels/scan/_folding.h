/* Hashes of ids as they are and in lower case, the same as `Strings.hashes` and `folding.fold` make. */

#ifndef JUDGED_FOLDING_H
#define JUDGED_FOLDING_H

#include "_bytes.h"

enum { JUDGED_PLAIN, JUDGED_FOLDED, JUDGED_LEFT };

static inline uint64_t judged_mix_twice(uint64_t h) {
    h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93ull;
    return (h ^ (h >> 32)) * 0xd6e8feb86659fd93ull;
}

/* Up to eight bytes as a little-endian number, zeros after them. */
static inline uint64_t judged_word(const uint8_t *p, size_t n, const uint8_t *limit) {
#if JUDGED_LITTLE_ENDIAN
    if (n >= 8) return judged_load(p);
    if (limit - p >= 8) return judged_load(p) & (~0ull >> (64 - 8 * n));
#endif
    uint64_t word = 0;
    for (size_t i = 0; i < n && i < 8; i++) word |= (uint64_t)p[i] << (8 * i);
    return word;
}

static inline uint64_t judged_long_hash(const uint8_t *p, size_t n, const uint8_t *limit, uint64_t seed) {
    uint64_t h = seed ^ (n * 0x9e3779b97f4a7c15ull);
    for (size_t k = 0; k < n; k += 8) h = judged_mix_twice(h ^ judged_word(p + k, n - k, limit));
    return judged_mix_twice(h);
}

/* Both hashes of an id that is not empty, and what folding does to it. */
static inline uint8_t judged_fold(const uint8_t *p, size_t n, const uint8_t *limit, uint64_t seed, uint64_t *hash,
                                  uint64_t *folded) {
    uint64_t h = seed ^ (n * 0x9e3779b97f4a7c15ull), f = h, beyond = 0, changed = 0;
    for (size_t k = 0; k < n; k += 8) {
        uint64_t word = judged_word(p + k, n - k, limit), low = word & ~JUDGED_TOPS;
        uint64_t upper = ~word & JUDGED_TOPS &
                         ((low + JUDGED_ONES * (0x80 - 'A')) ^ (low + JUDGED_ONES * (0x7f - 'Z')));
        beyond |= word & JUDGED_TOPS;
        changed |= upper;
        h = judged_mix_twice(h ^ word);
        if (changed) f = judged_mix_twice(f ^ (word | (upper >> 2)));
        else f = h;
    }
    *hash = judged_mix_twice(h);
    if (beyond || p[0] <= 32 || p[n - 1] <= 32) {
        *folded = 0;
        return JUDGED_LEFT;
    }
    *folded = changed ? judged_mix_twice(f) : *hash;
    return changed ? JUDGED_FOLDED : JUDGED_PLAIN;
}

#endif
