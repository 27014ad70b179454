// SPDX-License-Identifier: MIT
// One row of a packed table, coded against its neighbours. The writer and the reader compile the same walk:
//
//   espyPackCoder                       what takes or gives bits
//   espyPackCoder_Bit(coder, context, wanted)   codes one bit; the reader ignores `wanted`
//   espyPackCoder_BitOf(coder, ifZero, ifOne, which, wanted)   the same by one of two contexts
//   espyPackCoder_Raw(coder, wanted)            codes 16 bits of which nothing is known
//   ESPY_PACK_WANTED(value)             `value` in the writer, 0 in the reader, where there is no target to look at
//
// Two passes: slots whose neighbours agree hardly ever differ from them and are asked for in groups of 128, 32, 8 and
// 1; then each slot whose neighbours disagree, by what they are and by how the last one like it turned out.

static void espyPackRow_CodeAgreed(espyPackCoder* shared, const espyiPackNear* nearby, const uint32_t* agreed,
                                   const uint32_t* target, uint32_t* row, uint32_t words, uint32_t lastWord)
{
    // A copy, so that its fields stay in registers whatever is written to the row.
    espyPackCoder coder = *shared;
    uint32_t axes = nearby->axes;
    uint32_t recent[3] = {0, 0, 0};
    uint32_t last = 0;
    (void)target;
    for (uint32_t first = 0; first < words; first += 4u)
    {
        uint32_t end = first + 4u < words ? first + 4u : words;
        uint32_t any = 0;
        uint32_t all = ~0u;
        uint32_t wanted = 0;
        for (uint32_t w = first; w < end; ++w)
        {
            uint32_t exists = w + 1u == words ? lastWord : ~0u;
            any |= agreed[w];
            all &= agreed[w] | ~exists;
            wanted |= ESPY_PACK_WANTED((target[w] ^ row[w]) & agreed[w]);
        }
        if (any == 0)
        {
            continue;
        }
        uint32_t context = ESPYI_PACK_FIRST_GROUP + (axes * 2u + recent[0]) * 2u + (all != ~0u ? 1u : 0u);
        recent[0] = espyPackCoder_Bit(&coder, context, wanted != 0 ? 1u : 0u);
        for (uint32_t w = first; recent[0] && w < end; ++w)
        {
            uint32_t agree = agreed[w];
            if (agree == 0)
            {
                continue;
            }
            uint32_t value = row[w];
            uint32_t mixed = ~agree & (w + 1u == words ? lastWord : ~0u);
            wanted = ESPY_PACK_WANTED((target[w] ^ value) & agree);
            context = ESPYI_PACK_FIRST_GROUP + ((4u + axes) * 2u + recent[1]) * 2u + (mixed != 0 ? 1u : 0u);
            recent[1] = espyPackCoder_Bit(&coder, context, wanted != 0 ? 1u : 0u);
            if (!recent[1])
            {
                last = 0;
                continue;
            }
            uint32_t changes = (value ^ (value << 1)) | (value ^ (value >> 1));
            uint32_t differs = 0;
            for (uint32_t shift = 0; shift < 32u; shift += 8u)
            {
                uint32_t part = agree & (0xFFu << shift);
                if (part == 0)
                {
                    continue;
                }
                context = ESPYI_PACK_FIRST_GROUP + ((8u + axes) * 2u + recent[2]) * 2u +
                          ((mixed & (0xFFu << shift)) != 0 ? 1u : 0u);
                recent[2] = espyPackCoder_Bit(&coder, context, (wanted & part) != 0 ? 1u : 0u);
                if (!recent[2])
                {
                    last = 0;
                    continue;
                }
                for (; part != 0; part &= part - 1u)
                {
                    uint32_t bit = espyiPack_LowestBit(part);
                    context = ESPYI_PACK_FIRST_SLOT + (axes * 2u + (value >> bit & 1u)) * 4u + (changes >> bit & 1u);
                    last = espyPackCoder_BitOf(&coder, context, context + 2u, last, wanted >> bit & 1u);
                    differs |= last << bit;
                }
            }
            row[w] = value ^ differs;
        }
    }
    *shared = coder;
}

static void espyPackRow_CodeMixed(espyPackCoder* shared, const espyiPackNear* nearby, const uint32_t* agreed,
                                  const uint32_t* target, uint32_t* row, uint32_t words, uint32_t lastWord)
{
    espyPackCoder coder = *shared;
    uint32_t lastState = ~0u;
    uint32_t last = 0;
    bool three = nearby->count == 7u;
    (void)target;
    for (uint32_t w = 0; w < words; ++w)
    {
        uint32_t rest = ~agreed[w] & (w + 1u == words ? lastWord : ~0u);
        if (rest == 0)
        {
            continue;
        }
        uint32_t wanted = ESPY_PACK_WANTED(target[w]);
        uint32_t a = nearby->rows[0][w], b = nearby->rows[1][w], c = nearby->rows[2][w];
        uint32_t d = three ? nearby->rows[3][w] : 0, e = three ? nearby->rows[4][w] : 0;
        uint32_t f = three ? nearby->rows[5][w] : 0, g = three ? nearby->rows[6][w] : 0;
        uint32_t seen = 0;
        for (; rest != 0; rest &= rest - 1u)
        {
            uint32_t bit = espyiPack_LowestBit(rest);
            uint32_t state = (a >> bit & 1u) | (b >> bit & 1u) << 1 | (c >> bit & 1u) << 2 | (d >> bit & 1u) << 3 |
                             (e >> bit & 1u) << 4 | (f >> bit & 1u) << 5 | (g >> bit & 1u) << 6;
            uint32_t context = (nearby->firstState + state) * 3u;
            uint32_t same = state == lastState ? 1u : 0u;
            last = espyPackCoder_BitOf(&coder, context + same, context + 2u * same, last, wanted >> bit & 1u);
            lastState = state;
            seen |= last << bit;
        }
        row[w] |= seen;
    }
    *shared = coder;
}

/// A row that nothing predicts: a flag a word and, where it is not 0, its bits as they are. That takes a third more
/// room than asking for each slot would, in one row of a tile, and an eighth of the time. Its contexts are those of
/// groups without axes that have slots whose neighbours disagree, of which there are none.
static void espyPackRow_CodeFirst(espyPackCoder* shared, const uint32_t* target, uint32_t* row, uint32_t words,
                                  uint32_t lastWord)
{
    espyPackCoder coder = *shared;
    uint32_t last = 0;
    (void)target;
    for (uint32_t w = 0; w < words; ++w)
    {
        uint32_t wanted = ESPY_PACK_WANTED(target[w]);
        last = espyPackCoder_Bit(&coder, ESPYI_PACK_FIRST_GROUP + 2u * last + 1u, wanted != 0 ? 1u : 0u);
        row[w] = 0;
        if (last)
        {
            uint32_t low = espyPackCoder_Raw(&coder, wanted & 0xFFFFu);
            row[w] = (low | espyPackCoder_Raw(&coder, wanted >> 16) << 16) & (w + 1u == words ? lastWord : ~0u);
        }
    }
    *shared = coder;
}

/// Codes a row of `words` words, of which the last has the slots of `lastWord`. Fills `row` in both directions.
static void espyPackRow_Code(espyPackCoder* coder, const espyiPackNear* nearby, const uint32_t* target, uint32_t* row,
                             uint32_t words, uint32_t lastWord)
{
    if (nearby->count == 0)
    {
        espyPackRow_CodeFirst(coder, target, row, words, lastWord);
        return;
    }
    uint32_t any[ESPYI_PACK_STRIPE_WORDS];
    uint32_t all[ESPYI_PACK_STRIPE_WORDS];
    for (uint32_t w = 0; w < words; ++w)
    {
        any[w] = all[w] = nearby->rows[0][w];
    }
    for (uint32_t n = 1; n < nearby->count; ++n)
    {
        const uint32_t* other = nearby->rows[n];
        for (uint32_t w = 0; w < words; ++w)
        {
            all[w] &= other[w];
            any[w] |= other[w];
        }
    }
    uint32_t* agreed = any;
    for (uint32_t w = 0; w < words; ++w)
    {
        row[w] = all[w];
        agreed[w] = (all[w] | ~any[w]) & (w + 1u == words ? lastWord : ~0u);
    }
    espyPackRow_CodeAgreed(coder, nearby, agreed, target, row, words, lastWord);
    if (nearby->count > 1u)
    {
        espyPackRow_CodeMixed(coder, nearby, agreed, target, row, words, lastWord);
    }
}
