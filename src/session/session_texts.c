/* session_texts.c: texts that are executed again and again.
 *
 * Who embeds a session, and who holds the last line of a prompt, executes the same text
 * many times. The second time its tree is kept with the session, and with that what is
 * compiled of its statements, as with a def's: from then on they are neither read nor
 * planned anew while what they were planned for is still so (session_run.c). A text is
 * passed over if something is to be said of it each time, and if its statements read what
 * earlier ones of it had computed on the way: they are planned together.
 */
#include "session.h"
#include <string.h>

static bool is_text(const known_text *k, const char *text, const char *file)
{
    return k->text && !strcmp(k->text, text) && !strcmp(k->file, file);
}

static void forget_tree(stc_session *s, known_text *k)
{
    if (!k->tree) return;
    session_forget_tree(s, k->tree);
    arena_free(&k->a);
    k->tree = NULL;
}

static void forget(stc_session *s, known_text *k)
{
    forget_tree(s, k);
    mem_strfree(&s->m->cx, k->text);
    mem_strfree(&s->m->cx, k->file);
    *k = (known_text){0};
}

/* Nothing is found again where all plans are to be told, or memory is short. */
static bool keeps_texts(const stc_session *s)
{
    return !s->told && !s->dry && s->repeat <= 1 && !s->m->cx.max_memory;
}

known_text *session_text_known(stc_session *s, const char *text, const char *file)
{
    for (int i = 0; i < TEXTS_KNOWN && keeps_texts(s); i++) {
        known_text *const k = &s->texts[i];
        if (!is_text(k, text, file)) continue;
        k->used = ++s->executed;
        return k;
    }
    return NULL;
}

stc_status session_text_parse(stc_session *s, known_text *k, const source *src, ast **tree)
{
    stc_status st = STC_OK;
    if (!k->tree) {
        arena_init(&k->a, &s->m->cx);
        st = parse_script(&k->a, src, &k->tree);
        if (st) arena_free(&k->a);
        if (st) k->tree = NULL;
    }
    *tree = k->tree;
    return st;
}

void session_text_note(stc_session *s, const char *text, const char *file)
{
    ctx *cx = &s->m->cx;
    known_text *k = s->texts;
    if (!keeps_texts(s) || strlen(text) > TEXT_MOST) return;
    for (int i = 1; i < TEXTS_KNOWN; i++)
        if (s->texts[i].used < k->used) k = &s->texts[i];
    forget(s, k);
    k->text = mem_strdup(cx, text);
    k->file = mem_strdup(cx, file);
    k->used = ++s->executed;
    if (k->text && k->file) return;
    forget(s, k);
    diag_clear(cx); /* it is read once more, then */
}

void session_text_pass(stc_session *s, known_text *k)
{
    forget(s, k);
}

void session_texts_free(stc_session *s)
{
    for (int i = 0; i < TEXTS_KNOWN; i++)
        forget(s, &s->texts[i]);
}
