/* words.c: the words a text can use without defining them, for completion.
 *
 * Keywords, types, formats and functions come from their own tables; the words for a
 * tensor's data are the parser's (parse_decl.c).
 */
#include "../lang/lexer.h"
#include "../../vm/fn/functions.h"

static const char *const keywords[] = {
#define KEYWORD(name) #name,
    LANG_KEYWORDS(KEYWORD)
#undef KEYWORD
};

static const char *const data[] = {"ones",   "zeros",  "random",  "eye",
                                   "arange", "normal", "integers"};

static const char *const statements[] = {"order", "where"}; /* words of statements */

static const char *const reductions[] = {
#define WORD(name) #name,
    LANG_REDUCTIONS(WORD) LANG_DERIVED(WORD)
#undef WORD
};

static const char *const asked[] = {
#define ASKED(name, count) #name,
    LANG_ASKED(ASKED)
#undef ASKED
};

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

const char *stc_word(int i)
{
    if (i < 0) return NULL;
    if (i < COUNT(keywords)) return keywords[i];
    i -= COUNT(keywords);
    if (i <= STC_C128) return stc_type_name((stc_type)i);
    i -= STC_C128 + 1;
    for (int k = 0; format_name_at(k); k++)
        if (i-- == 0) return format_name_at(k);
    if (i < COUNT(data)) return data[i];
    i -= COUNT(data);
    if (i < COUNT(statements)) return statements[i];
    i -= COUNT(statements);
    if (i < COUNT(reductions)) return reductions[i];
    i -= COUNT(reductions);
    if (i < COUNT(asked)) return asked[i];
    i -= COUNT(asked);
    for (int f = 0; f < FN_COUNT; f++)
        if (!fn_at(f)->symbol && fn_at(f)->typing != TY_CAST && i-- == 0)
            return fn_at(f)->name;
    return NULL;
}
