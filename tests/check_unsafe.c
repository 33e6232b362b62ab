/* check_unsafe.c: what the verifier refuses, refusal by refusal: small programs in the
 * printed form, each with the words that it must be refused with; and what the
 * assembler makes of texts that end too early. check_verify.c has the proofs of whole
 * programs. */
#include "../vm/code/program.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

/* t0 csr, t1 dense, t2 dense result, t3 workspace, t4 rows of hashes, t5 csr result. */
#define HEAD                                                                               \
    ".registers v 6 i 4 m 4 c 8\n"                                                         \
    ".tensor t0 \"A\" input f64 (0) format 2 dense(0) compressed(1)\n"                     \
    ".tensor t1 \"x\" input f64 (0) format 1 dense(0)\n"                                   \
    ".tensor t2 \"y\" output f64 (0) [e1] format 1 dense(0)\n"                             \
    ".tensor t3 \"\" work f64 (0) [e1] format 1 compressed(0)\n"                           \
    ".tensor t4 \"B\" input f64 (0) format 2 dense(0) hashed(1)\n"                         \
    ".tensor t5 \"C\" output f64 (0) [e0 e1] format 2 dense(0) compressed(1)\n"            \
    ".extent e0 dim t0 0\n"                                                                \
    ".extent e1 dim t0 1\n"                                                                \
    ".const k0 f64 0\n"                                                                    \
    ".const k1 i64 1\n"                                                                    \
    ".const k2 i64 -1\n"                                                                   \
    ".merge g0 lo root hi e0 universe produce 0x3 { locate c0 t0 0 root root 1 }\n"        \
    ".merge g1 lo root hi e1 produce 0x2 { walk c2 }\n"
#define ROWS "loop i0, m0, g0\n" /* c0 in t0 */
/* A row of t5, and an element in it. */
#define ROW5                                                                               \
    "begin t5\niconst i0, k1\niconst i1, k1\nconst v0, k0\nat c1, t5, 0, root, i0\n"
#define STORE5 "at c2, t5, 1, c1, i1\nstore t5, c2, v0\n"
#define DEEP6                                                                              \
    ".tensor t6 \"D\" output f64 (0) [e0 e0 e1] format 3 compressed(0) compressed(1) "     \
    "compressed(2)\nbegin t6\niconst i0, k1\n"
#define TEMP6 ".tensor t6 \"\" temp f64 (0) [e0 e1] while t0 format 2 "
#define TWICE6                                                                             \
    ".tensor t6 \"D\" input f64 (0) format 2 compressed(0) nonunique dense(1)\n" MERGE(    \
        "produce 0x2 { walk c3 }") "open c3, t6, 0, root\nloop i1, m1, g2\n"
#define RUNS6 ".tensor t6 \"D\" input f64 (0) format 2 dense(0) rle(1)\n"
#define LATER6                                                                             \
    ".tensor t6 \"z\" output f64 (0) later [e1] format 1 dense(0)\nconst v0, k0\n"
/* t6, whose levels are no modes, and a workspace t7. */
#define UPDATE6(format, modes)                                                             \
    ".tensor t6 \"F\" inout f64 (0) [e0 e1] format 2 " format                              \
    "\n.tensor t7 \"\" work f64 "                                                          \
    "(0) " modes "\nws.begin t7\nws.end t7\nupdate t6, t7, add, f64" HALT
/* t2 is changed by a tensor of the program's own. */
#define MADE6(format)                                                                      \
    ".tensor t6 \"\" temp f64 (0) [e1] format 1 " format                                   \
    "\nbegin t6\nfinish t6\nupdate t2, t6, add, f64" HALT
/* The same of t7, made with as many places, and integers i0 … i3. */
#define BLOCK6(format, role, modes, block)                                                 \
    ".tensor t6 \"F\" inout f64 (0) [e0 e1] format 2 " format "\n.tensor t7 \"r\" " role   \
    " f64 (0) " modes "\nbegin t7\nfinish t7\niconst i0, k1\niconst i1, k1\n"              \
    "iconst i2, k1\niconst i3, k1\nblock " block HALT
#define FN(code) ".fn f0 \"f\" (f64 f64) f64 registers 2 code " code "\n"
#define MERGE(rest) ".merge g2 lo root hi e1 " rest "\n"
#define HALT "\nhalt\n"
/* What follows stands alone: no HEAD. */
#define ALONE "!"
#define TENSOR(rest) ALONE ".registers v 1 i 1 m 1 c 1\n.tensor t0 \"t\" " rest "\nhalt\n"
#define EXTENT(rest)                                                                       \
    ALONE ".tensor t0 \"x\" input f64 (0) format 1 dense(0)\n.extent e0 " rest "\nhalt\n"
/* A merge of seven operands by a program of their numbers. */
#define KNOWN7                                                                             \
    "{ known c0, known c1, known c2, known c3, known c4, known c5, known c6 }\nhalt\n"
/* … of which the first is as it says. */
#define POSTFIX_LOOP(role, table)                                                          \
    MERGE("postfix (" table ") { " role " c2, known c3, known c3, known c3, known c3, "    \
          "known c3, known c3 }")                                                          \
    "open c2, t1, 0, root\niconst i3, k1\nlocate c3, t1, 0, root, i3\nloop i1, m1, "       \
    "g2\nend" HALT
#define TWO MERGE("universe produce 0xf { known root, known root }")
/* All bits that a mask has. */
#define K8 "known c1, known c1, known c1, known c1, known c1, known c1, known c1, known c1"
#define MANY "{ " K8 ", " K8 ", " K8 ", " K8 ", " K8 ", " K8 ", " K8 ", " K8 " }\n"
#define POSTFIX(table) MERGE("postfix (" table ") " KNOWN7)

static const struct {
    const char *code, *words; /* NULL: it is sound */
} unsafe[] = {
    /* operands */
    {"mov v0, root" HALT, "there is no v65535"},
    {"const v0, k0\nfn1 v1, sin, i64, v0" HALT, "isn't a function of 1"},
    {"const v0, k0\nfn1 v1, add, f64, v0" HALT, "isn't a function of 1"},
    {"const v0, k0\nfn3 v1, add, f64, v0, v0, v0" HALT, "isn't a function of 3"},
    {"iconst i0, k1\nivalue v0, i0\nconv v1, f64, f64, v0" HALT, "v0 is i64"},
    {"const v0, k0\nwrap v1, i8, v0" HALT, "v0 is f64"},
    {"const v0, k0\nfold v1, eq, f64, v0, e0" HALT, "eq can't be accumulated"},
    {"const v0, k0\nfold v1, sin, f64, v0, e0" HALT, "sin can't be accumulated"},
    {"const v0, k0\nfold v1, bitor, f64, v0, e0" HALT, "bitor can't be accumulated"},
    {"const v0, k0\nfold v1, ldexp, f64, v0, e0" HALT, "ldexp can't be accumulated"},
    {"const v0, k1\nfold v1, add, f64, v0, e0" HALT, "v0 is i64"},
    {"const v0, k0\nrequire v0" HALT, "v0 is f64"},
    {"const v0, k1\nset.fill t2, v0" HALT, "v0 is i64"},
    {"const v0, k0\nset.fill t2, v0" HALT, "the fill of t2 is known"},
    {LATER6 "set.fill t6, v0\nbegin t6\nfinish t6" HALT, NULL},
    {LATER6 "begin t6\nset.fill t6, v0\nfinish t6" HALT, "while t6 is being assembled"},
    {"iconst i0, k1\nimuladd i1, i0, k0, i0" HALT, "k0 isn't an i64"},
    {"iconst i0, k1\nimuladd i1, i0, k1, i0\nidiv i2, i1, e0\nimod i3, i2, e0" HALT, NULL},
    {"present m0, 1, root" HALT, "m0 is read before"},
    {"begin t2\nfinish t2\nws.begin t3\nws.end t3\nupdate t2, t3, add, f64" HALT, NULL},
    {"ws.begin t3\nws.end t3\nupdate t2, t3, add, f64" HALT, "t2"},
    {"begin t2\nfinish t2\nws.begin t3\nupdate t2, t3, add, f64" HALT, "t3"},
    {"begin t2\nfinish t2\nupdate t2, t1, add, f64" HALT,
     "t1 is no workspace, nor made in order"},
    {"begin t2\nfinish t2\n" MADE6("compressed(0)"), NULL},
    {"begin t2\nfinish t2\n" MADE6("compressed(0) nonunique"),
     "t6 is no workspace, nor made in order"},
    {"begin t5\nfinish t5\nws.begin t3\nws.end t3\nupdate t5, t3, add, f64" HALT,
     "t5 has other levels than t3 has modes"},
    {"begin t2\nfinish t2\nws.begin t3\nws.end t3\nupdate t2, t3, add, i64" HALT,
     "t2 has another class"},
    {"begin t2\nfinish t2\nws.begin t3\nws.end t3\nupdate t2, t3, lt, f64" HALT,
     "values can't be combined by that"},
    {".tensor t6 \"r\" output f64 (0) [e0] format 1 compressed(0)\nbegin t6\nfinish "
     "t6\nws.begin t3\nws.end t3\nupdate t6, t3, add, f64" HALT,
     NULL},
    {".tensor t6 \"r\" output f64 (0) [e0] format 1 bytemap(0)\nbegin t6\nfinish "
     "t6\nws.begin t3\nws.end t3\nupdate t6, t3, add, f64" HALT,
     NULL},
    {".tensor t6 \"r\" output f64 (0) [e0] format 1 rle(0)\nbegin t6\nfinish t6\nws.begin "
     "t3\nws.end t3\nupdate t6, t3, add, f64" HALT,
     "places of t6 can't be found"},
    {".tensor t6 \"r\" output f64 (0) [e0] format 1 compressed(0) unordered\nbegin "
     "t6\nfinish t6\nws.begin t3\nws.end t3\nupdate t6, t3, add, f64" HALT,
     "places of t6 can't be found"},
    {UPDATE6("hashed(0..2)", "[e0 e1] format 2 compressed(0) compressed(1)"), NULL},
    {UPDATE6("hashed:9(0..2)", "[e0 e1] format 2 compressed(0) compressed(1)"), NULL},
    {UPDATE6("hashed:0(0..2)", "[e0 e1] format 2 compressed(0) compressed(1)"),
     "the number that it takes is less than 1 or more than 2^40"},
    {UPDATE6("hashed:-7(0..2)", "[e0 e1] format 2 compressed(0) compressed(1)"),
     "the number that it takes is less than 1 or more than 2^40"},
    {UPDATE6("hashed:1099511627777(0..2)", "[e0 e1] format 2 compressed(0) compressed(1)"),
     "the number that it takes is less than 1 or more than 2^40"},
    {UPDATE6("hashed(0..2)", "[e0] format 1 compressed(0)"),
     "t6 has other levels than t7 has modes"},
    {UPDATE6("dense(0/2) compressed(1/2) dense(0%2) dense(1%2)",
             "[e0 e1] format 2 compressed(0) compressed(1)"),
     "places of t6 can't be found"},
    {BLOCK6("dense(0) dense(1)", "temp", "[e0 e1] format 2 dense(1) dense(0)",
            "t6, t7, add, f64, i0"),
     NULL},
    {BLOCK6("dense(0) dense(1)", "temp", "[e0 e1] format 2 dense(0) dense(1)",
            "t6, t7, add, f64, i1"),
     "i4 is read before it is written"},
    {BLOCK6("dense(0) dense(1)", "temp", "[e0 e1] format 2 dense(0) dense(1)",
            "t6, t7, lt, f64, i0"),
     "values can't be combined by that"},
    {BLOCK6("dense(0) dense(1)", "temp", "[e0] format 1 dense(0)", "t6, t7, add, f64, i0"),
     "the tensors have different orders"},
    {BLOCK6("dense(0) dense(1)", "temp", "[e0 e1] format 2 dense(0) dense(1)",
            "t6, t6, add, f64, i0"),
     "both tensors are the same"},
    {BLOCK6("dense(0) dense(1)", "output", "[e0 e1] format 2 dense(0) dense(1)",
            "t6, t7, add, f64, i0"),
     "t7 isn't the program's own"},
    {BLOCK6("dense(0) compressed(1)", "temp", "[e0 e1] format 2 dense(0) dense(1)",
            "t6, t7, add, f64, i0"),
     "don't have a place for each coordinate"},
    {BLOCK6("dense(0) dense(1)", "temp", "[e0 e1] format 2 dense(0) compressed(1)",
            "t6, t7, add, f64, i0"),
     "don't have a place for each coordinate"},
    {"const v0, k0\nindex i0, v0" HALT, "v0"},
    {"const v0, k1\nindex i0, v0\nbounded i0, e0" HALT, NULL},
    {"bounded i0, e0" HALT, "i0 is read before"},
    {ROWS "present m0, 64, c0\nend" HALT, "no bit 64"},
    {ROWS "present m0, 63, c0\nopen c2, t0, 1, c0\nseek c2, i0\nfill.bit m0, 63, t0, "
          "c2\nend" HALT,
     NULL},
    {ROWS "open c2, t0, 1, c0\nseek c2, i0\nfill.bit m0, 64, t0, c2\nend" HALT,
     "no bit 64"},
    {ROWS "fill.bit m0, 1, t0, c0\nend" HALT, "isn't a cursor of the last level of t0"},
    /* user functions */
    {FN("0:1") "return v0\nconst v0, k0\nconst v1, k0\ncall v2, f0, v0, 2" HALT, NULL},
    {FN("1:2") "halt\nreturn v1\n", NULL},
    {FN("0:1") "return v0\nconst v0, k0\ncall v1, f0, v0, 1" HALT,
     "1 arguments, f0 has 2 parameters"},
    {FN("0:1") "return v0\nconst v5, k0\ncall v1, f0, v5, 2" HALT,
     "arguments beyond the registers"},
    {FN("0:1") "return v0\nconst v0, k0\ncall v2, f0, v0, 2" HALT, "v1 is read before"},
    {FN("0:1") "return v0\nconst v0, k0\nconst v1, k1\ncall v2, f0, v0, 2" HALT,
     "v1 is i64"},
    {FN("0:1") "return v0\ncall v2, f1, v0, 2" HALT, "there is no f1"},
    {FN("0:2") "iconst i0, k1\nreturn v0" HALT, "not allowed in a function"},
    {FN("0:2") "share\nreturn v0" HALT, "in front of a loop"},
    {FN("0:1") "mov v0, v1" HALT, "expected return as the last"},
    {FN("0:2") "while\nreturn v0" HALT, "outside blocks"},
    {FN("0:2") "const v1, k1\nreturn v1" HALT, "v1 is i64"},
    {FN("0:1") "return v2" HALT, "there is no v2"},
    {FN("0:1") "return v0\nconst v0, k0\nreturn v0\nhalt\n", "only functions return"},
    {FN("0:9") "return v0" HALT, "overlaps another's"},
    {FN("1:0") "return v0" HALT, "overlaps another's"},
    {FN("0:1") ".fn f1 \"g\" (f64) f64 registers 1 code 0:2\nreturn v0" HALT, "overlaps"},
    {FN("0:0") "halt\n", "overlaps"},
    {".fn f0 \"h\" (f64) f64 host registers 1 code 0:1\nreturn v0" HALT, "overlaps"},
    {".fn f0 \"f\" (f64 f64) f64 registers 1 code 0:1\nreturn v0" HALT, "make no sense"},
    {".fn f0 \"f\" (f64) f64 registers 9 code 0:1\nreturn v0" HALT, "nothing writes"},
    {FN("0:1") "return v0\n", "expected halt as the last"},
    /* blocks */
    {"share" HALT, "in front of a loop"},
    {ROWS "share\nloop i1, m1, g0\nend\nend" HALT, "in front of a loop"},
    {"share\n" ROWS "end" HALT, NULL},
    {"else" HALT, "no block is open"},
    {"while\nelse\nendwhile" HALT, "while is open"},
    {"while\nendif\nendwhile" HALT, "while is open"},
    {"const v0, k1\nif v0\ntest v0\nendif" HALT, "if is open"},
    {"endwhile" HALT, "no block is open"},
    {ROWS "skip m0, g9\nend" HALT, "there is no g9"},
    {"iconst i0, k1\nwithin i0, e0" HALT, "no loop around it"},
    {"const v0, k1\nwhile\nbreak v0, 0\nendwhile" HALT, "no loop around it"},
    {"const v0, k1\n" ROWS "while\nbreak v0, 2\nendwhile\nend" HALT, NULL},
    {ROWS "while\nskip m0, g0\nendwhile\nend" HALT, NULL},
    {"const v0, k1\nif v0\nif v0\niconst i0, k1\nelse\niconst i0, k2\nendif\nelse\n"
     "iconst i0, k1\nendif\nivalue v1, i0" HALT,
     NULL},
    {"const v0, k1\nif v0\nconst v1, k0\nif v0\nmov v2, v1\nendif\nelse\nconst v1, k0\n"
     "const v1, k1\nendif\nmov v2, v1" HALT,
     "v1 is read before"},
    {"iconst i0, k1\n" ROWS "ivalue v0, i1\niconst i1, k1\nend" HALT, "i1 is read before"},
    {"const v0, k0\n" ROWS "mov v1, v0\nconst v0, k1\nend" HALT, "v0 is read in this loop"},
    {"iconst i1, k1\n" ROWS "imuladd i1, i1, k1, i0\nend" HALT, "i1 is read in this loop"},
    {"iconst i1, k1\n" ROWS "iconst i1, k2\nend\nivalue v0, i1" HALT, "i1 is read before"},
    {MERGE("universe produce 0x3 { locate c5 t1 0 root i1 1 }") "iconst i1, k1\n"
                                                                "loop i0, m0, g2\niconst "
                                                                "i1, k2\nend" HALT,
     "i1 is read in this loop"},
    {"iconst i0, k1\n" ROWS "end\nivalue v0, i0" HALT, "i0 is read before"},
    {MERGE("universe produce 0x1 { }") ROWS
     "open c2, t0, 1, c0\nloop i1, m1, g1\npresent m0, 1, c2\nloop i2, m2, "
     "g2\nend\nend\nend" HALT,
     "m0 is read in this loop"},
    {"iconst i1, k1\nlocate c5, t1, 0, root, i1\n" ROWS
     "load v0, t1, c5\nlocate c5, t1, 0, root, i0\nend" HALT,
     "c5 is read in this loop"},
    {ROWS "end\n" ROWS "loop i1, m1, g0\nend\npresent m1, 1, c0\nend" HALT,
     "m1 is read before"},
    /* coordinates and masks are their loop's own, and have the bits of its merge */
    {ROWS "loop i0, m1, g0\nend\nend" HALT, "i0 belongs to a loop around it"},
    {ROWS "loop i1, m0, g0\nend\nend" HALT, "m0 belongs to a loop around it"},
    {ROWS "iconst i0, k1\nend" HALT, "i0 belongs to a loop around it"},
    {ROWS "open c2, t0, 1, c0\nloop i1, m1, g1\niconst i0, k1\nend\nend" HALT,
     "i0 belongs to a loop around it"},
    {ROWS "while\niconst i1, k1\nendwhile\nend" HALT, NULL},
    {ROWS "skip m0, g0\nend" HALT, NULL},
    {ROWS "present m0, 1, c0\nskip m0, g0\nend" HALT, "m0 doesn't have the bits of g0"},
    {TWO ROWS "present m0, 1, c0\nskip m0, g2\nend" HALT, NULL},
    {TWO ROWS "skip m0, g2\nend" HALT, "m0 doesn't have the bits of g2"},
    {TWO "const v0, k1\n" ROWS "if v0\npresent m0, 1, c0\nendif\nskip m0, g2\nend" HALT,
     "m0 is read before"},
    {MERGE("universe postfix (0) " MANY) "iconst i2, k1\nlocate c1, t1, 0, root, i2\nopen "
                                         "c2, t1, 0, root\n"
                                         "loop i1, m1, g2\nskip m1, g2\nend" HALT,
     NULL},
    {"const v0, k1\n" ROWS "if v0\nconst v1, k0\nbreak v0, 1\nendif\nend\nmov v2, v1" HALT,
     "v1 is read before"},
    {ROWS "fill.bit m0, 1, t1, root\nend" HALT, "t1 isn't a scalar"},
    {"begin t2\n" ROWS "iconst i1, k1\nat c1, t2, 0, root, i1\nfinish t2\nbegin t2\nend\n"
     "finish t2" HALT,
     "t2 is read in this loop"},
    /* cursors */
    {ROWS "open c0, t0, 1, c0\nend" HALT, "can't be its own parent"},
    {ROWS "open c2, t0, 1, c9\nend" HALT, "there is no c9"},
    {ROWS "open c2, t0, 0, c0\nend" HALT, "isn't a cursor of the level above"},
    {ROWS "open c2, t4, 1, c0\nend" HALT, "isn't a cursor of the level above"},
    {"open c0, t2, 0, root" HALT, "t2 isn't whole"},
    {TWICE6 "open c4, t6, 1, c3\nend" HALT,
     "level 1 of t6 can't be read below one that isn't"},
    {TWICE6 "iconst i0, k1\nlocate c4, t6, 1, c3, i0\nend" HALT,
     "level 1 of t6 can't be read"},
    {TWICE6 "iconst i0, k1\nsubsect c4, t6, 1, c3, i0, k1, e0\nend" HALT,
     "level 1 of t6 can't be read"},
    {"iconst i0, k1\nopen.at c0, t1, 0, root, i0, k0" HALT, "an i64, positive"},
    {"iconst i0, k1\nopen.at c0, t1, 0, root, i0, k2" HALT, "an i64, positive"},
    {"iconst i0, k1\nopen.at c0, t1, 0, root, i0, k1" HALT, NULL},
    {"iconst i0, k1\nlocate c0, t2, 0, root, i0" HALT, "t2 isn't whole"},
    {"load v0, t2, root" HALT, "t2 isn't whole"},
    {"iconst i0, k1\nlocate c0, t1, 0, root, i0\nseek c0, i0" HALT, "can't move"},
    {"begin t2\niconst i0, k1\nat c1, t2, 0, root, i0\nfinish t2\nload v0, t2, c1" HALT,
     "isn't open here"},
    {"begin t5\niconst i0, k1\nat c1, t5, 0, root, i0\nopen c2, t0, 1, c1" HALT,
     "isn't a cursor of the level above"},
    {"begin t5\n" ROWS "at c1, t5, 0, c0, i0\nend" HALT, "isn't a cursor of the level"},
    {".tensor t6 \"s\" input f64 (0) format 0\nload v0, t6, root" HALT, NULL},
    /* … which move once, and stand only then */
    {ROWS "open c2, t0, 1, c0\nload v0, t0, c2\nend" HALT, "hasn't moved to a coordinate"},
    {ROWS "open c2, t0, 1, c0\npresent m0, 1, c2\nend" HALT,
     "hasn't moved to a coordinate"},
    {ROWS "open c2, t0, 1, c0\nseek c2, i0\nload v0, t0, c2\nend" HALT, NULL},
    {ROWS "open c2, t0, 1, c0\nseek c2, i0\nseek c2, i0\nend" HALT,
     "c2 was placed already"},
    {ROWS "open c2, t0, 1, c0\nseek c2, i0\nloop i1, m1, g1\nend\nend" HALT,
     "c2 isn't open: it can't be walked"},
    {"open c2, t1, 0, root\n" ROWS "seek c2, i0\nend" HALT, "c2 is read in this loop"},
    {MERGE("universe postfix (0) " MANY) "open c1, t1, 0, root\nloop i1, m1, g2\nend" HALT,
     "hasn't moved to a coordinate"},
    {ROWS
     "subsect c1, t0, 0, root, i0, k1, e0\nsubsect c2, t0, 0, c1, i0, k1, e0\nend" HALT,
     "hasn't moved to a coordinate"},
    /* subsections, spans, positions */
    {"iconst i0, k1\nsubsect c0, t1, 0, root, i0, k0, e0" HALT, "not 0, and with a"},
    {".const k3 i64 0\niconst i0, k1\nsubsect c0, t1, 0, root, i0, k3, e0" HALT, "not 0"},
    {".const k3 i64 -9223372036854775808\niconst i0, k1\n"
     "subsect c0, t1, 0, root, i0, k3, e0" HALT,
     "not 0"},
    {"iconst i0, k1\nsubsect c0, t2, 0, root, i0, k1, e0" HALT, "t2 isn't whole"},
    {"iconst i0, k1\nlocate c1, t4, 0, root, i0\nsubsect c0, t4, 1, c1, i0, k1, "
     "e0" HALT,
     "no subsections in order"},
    {ROWS "subsect c1, t0, 1, c0, i0, k1, e0\nseek c1, i0\nopen c2, t0, 1, c1\nend" HALT,
     "of the level"},
    {ROWS "subsect c1, t0, 0, root, i0, k1, e0\nseek c1, i0\nopen c2, t0, 1, c1\nend" HALT,
     "of the level above level 1"},
    {ROWS
     "subsect c1, t0, 1, c0, i0, k1, e0\nseek c1, i0\nsubsect c2, t0, 1, c1, i0, k2, e0\n"
     "seek c2, i0\nload v0, t0, c2\nend" HALT,
     "last level of t0"},
    {ROWS "subsect c1, t0, 1, c0, i0, k1, e0\nseek c1, i0\nsubsect c2, t0, 0, c1, i0, k2, "
          "e0\nend" HALT,
     "isn't at subsections of level 0"},
    {ROWS "subsect c1, t0, 1, c0, i0, k1, e0\nseek c1, i0\nsubsect c2, t1, 0, c1, i0, k2, "
          "e0\nend" HALT,
     "isn't at subsections of level 0"},
    {ROWS
     "subsect c1, t0, 1, c0, i0, k1, e0\nsubsect c1, t0, 1, c0, i0, k1, e0\nseek c1, i0\n"
     "subsect c2, t0, 1, c1, i0, k1, e0\nseek c2, i0\nsubsect c1, t0, 1, c0, i0, k1, e0\n"
     "subsect c3, t0, 1, c2, i0, k1, e0\nend" HALT,
     "isn't open here"},
    {"iconst i0, k1\nsubsect c0, t0, 1, root, i0, k1, e0" HALT, "needs a cursor"},
    {"span i0, e0, t0, 0, root, 1, k1" HALT, "e0 isn't counted by a span"},
    {"const v0, k1\nbound e0, v0" HALT, "e0 isn't set on the way"},
    {".extent e2 span\nconst v0, k1\nbound e2, v0\nextent v1, e2" HALT, NULL},
    {".extent e2 span\nconst v0, k0\nbound e2, v0" HALT, "v0 is f64"},
    {".extent e2 span\nbound e2, v0" HALT, "v0 is read before"},
    {".extent e2 span\nconst v0, k0\nif v0\nbound e2, v0\nendif\nextent v1, e2" HALT, "v0"},
    {".extent e2 span\nspan i0, e2, t0, 0, root, 1, k0" HALT, "must be a positive i64"},
    {".extent e2 span\nspan i0, e2, t0, 0, root, 1, k2" HALT, "must be a positive i64"},
    {".extent e2 span\nspan i0, e2, t0, 0, root, 2, k1" HALT, "t0 has no level 2"},
    {".extent e2 span\n" ROWS "span i1, e2, t0, 1, c0, 0, k1\nend" HALT, "no level 0"},
    {".extent e2 span\nspan i0, e2, t2, 0, root, 0, k1" HALT, "t2 isn't whole"},
    {RUNS6 ".extent e2 span\nspan i0, e2, t6, 0, root, 1, k1" HALT, "have no coordinates"},
    {".extent e2 span\nspan i0, e2, t0, 0, root, 1, k1" HALT, NULL},
    {RUNS6 "iconst i0, k1\nposition i1, c0, t6, 0, root, i0, 1" HALT,
     "have no coordinates"},
    {"iconst i0, k1\nposition i1, c0, t0, 0, root, i0, 1" HALT, NULL},
    /* merges */
    {MERGE("produce 0x2 { walk c9 }") "loop i0, m0, g2\nend" HALT, "there is no c9"},
    {MERGE(
         "universe produce 0x2 { locate c1 t9 0 root root 1 }") "loop i0, m0, g2\nend" HALT,
     "there is no t9"},
    {MERGE(
         "universe produce 0x2 { locate c1 t1 4 root root 1 }") "loop i0, m0, g2\nend" HALT,
     "no level 4"},
    {MERGE("universe produce 0x2 { locate c1 t1 0 root i3 1 }") "loop i0, m0, g2\nend" HALT,
     "i3 is read before"},
    {MERGE("universe produce 0x2 { locate c1 t1 0 root i9 1 }") "loop i0, m0, g2\nend" HALT,
     "i9 is read before"},
    {MERGE("universe produce 0x2 { known c1 }") "loop i0, m0, g2\nend" HALT,
     "isn't open where"},
    {MERGE("produce 0x2 { walk c0 }") ROWS "loop i1, m1, g2\nend\nend" HALT,
     "it can't be walked or followed"},
    {MERGE("universe produce 0x2 { walk c1 }") "iconst i0, k1\nlocate c0, t4, 0, root, "
                                               "i0\nopen c1, t4, 1, c0\n"
                                               "loop i1, m1, g2\nend" HALT,
     "unordered"},
    {MERGE("universe produce 0x2 { follow c1 }") "iconst i0, k1\nlocate c0, t4, 0, root, "
                                                 "i0\nopen c1, t4, 1, c0\n"
                                                 "loop i1, m1, g2\nend" HALT,
     "unordered"},
    {MERGE("produce 0x8 { walk c1, known c0 }") "iconst i0, k1\nlocate c0, t4, 0, "
                                                "root, i0\nopen c1, t4, 1, c0\n"
                                                "loop i1, m1, g2\nend" HALT,
     NULL},
    {MERGE("produce 0x8 { walk c2, known c2 }") ROWS
     "open c2, t0, 1, c0\nloop i1, m1, g2\nend\nend" HALT,
     "c2 is moved by the loop that knows it"},
    {MERGE("produce 0x2 { walk c2 }") ROWS
     "open c2, t0, 1, c0\nloop i1, m1, g1\nloop i2, m2, g2\nend\nend\nend" HALT,
     "c2 is moved by a loop around it"},
    {MERGE("produce 0x8 { walk c2, follow c4 }") ROWS
     "open c2, t0, 1, c0\nopen c4, t0, 1, c0\nloop i1, m1, g2\nseek c4, i1\nend\nend" HALT,
     "c4 was placed already"},
    /* what a loop visits */
    {MERGE("produce 0x2 { follow c2 }") ROWS
     "open c2, t0, 1, c0\nloop i1, m1, g2\nend\nend" HALT,
     "coordinates that no operand leads to"},
    {MERGE("produce 0xe { walk c2, follow c4 }") ROWS
     "open c2, t0, 1, c0\nopen c4, t0, 1, c0\nloop i1, m1, g2\nend\nend" HALT,
     "coordinates that no operand leads to"},
    {MERGE("produce 0xa { walk c2, follow c4 }") ROWS
     "open c2, t0, 1, c0\nopen c4, t0, 1, c0\nloop i1, m1, g2\nend\nend" HALT,
     NULL},
    {POSTFIX_LOOP("walk", "0 1 and"), NULL},
    {POSTFIX_LOOP("walk", "0 1 or"), "coordinates that no operand leads to"},
    /* what has been walked */
    {"open c2, t1, 0, root\nloop i1, m1, g1\nend\nload v0, t1, c2" HALT,
     "c2 isn't open here"},
    {"open c2, t1, 0, root\n" ROWS "loop i1, m1, g1\nend\nend" HALT,
     "c2 is read in this loop"},
    {MERGE("universe produce 0x3 { locate c6 t3 0 root root 1 }") "ws.begin t3\nws.end "
                                                                  "t3\nloop i0, m0, "
                                                                  "g2\nws.begin "
                                                                  "t3\nws.end "
                                                                  "t3\nend" HALT,
     "t3 changes in a loop that locates in it"},
    {MERGE("universe produce 0x3 { locate c6 t3 0 root root 1 }") "ws.begin t3\nws.end "
                                                                  "t3\nloop i0, m0, "
                                                                  "g2\nws.begin "
                                                                  "t3\nend" HALT,
     "t3 changes in a loop that locates in it"},
    {MERGE("universe produce 0xf { locate c1 t4 0 root root 1, locate c2 t4 1 c1 root "
           "1 }") "loop i0, m0, g2\nend" HALT,
     NULL},
    {MERGE("universe produce 0x3 { locate c2 t0 1 c0 root 1 }") ROWS
     "loop i1, m1, g2\nlocate c0, t0, 0, root, i0\nend\nend" HALT,
     "c0"},
    {ROWS "open c2, t0, 1, c0\nloop i1, m1, g1\nlocate c0, t0, 0, root, i0\nend\nend" HALT,
     "changes in the loop that moves it"},
    /* results */
    {"at c1, t0, 0, root, i0" HALT, "i0 is read before"},
    {"iconst i0, k1\nat c1, t0, 0, root, i0" HALT, "t0 isn't a result"},
    {"const v0, k0\nstore t3, root, v0" HALT, "t3 isn't a result"},
    {"begin t5\niconst i0, k1\nat c1, t5, 0, root, i0\nkeep t5, 1, c1" HALT,
     "isn't a place"},
    {"begin t5\niconst i0, k1\nlocate c1, t0, 0, root, i0\nkeep t5, 0, c1" HALT,
     "isn't a place"},
    {"begin t5\niconst i0, k1\nlocate c1, t1, 0, root, i0\nkeep t5, 0, c1" HALT,
     "isn't a place"},
    {"begin t2\nbegin t5\niconst i0, k1\nat c1, t2, 0, root, i0\nkeep t5, 0, c1" HALT,
     "isn't a place"},
    /* a coordinate that is placed above others is kept before the next one is placed */
    {ROW5 STORE5 "keep t5, 0, c1\nfinish t5" HALT, NULL},
    {ROW5 STORE5 "keep t5, 0, c1\nkeep t5, 0, c1\nfinish t5" HALT, "c1 isn't open here"},
    {ROW5 STORE5 "finish t5" HALT, "level 0 of t5 is open on some path"},
    {ROW5 STORE5 "at c1, t5, 0, root, i1\nkeep t5, 0, c1\nfinish t5" HALT,
     "level 0 of t5 is open on some path"},
    {ROW5 STORE5 "at c3, t5, 0, root, i1\nkeep t5, 0, c3\nfinish t5" HALT,
     "level 0 of t5 is open on some path"},
    {ROW5 STORE5 "keep t5, 0, c1\n" STORE5 "finish t5" HALT, "c1 isn't open here"},
    {ROW5 "at c2, t5, 1, c1, i1\nkeep t5, 0, c1\nstore t5, c2, v0\nfinish t5" HALT,
     "c2 isn't open here"},
    {ROW5 STORE5 "begin t5\nkeep t5, 0, c1\nfinish t5" HALT, "c1 isn't open here"},
    {ROW5 STORE5 "const v1, k1\nif v1\nkeep t5, 0, c1\nendif\nfinish t5" HALT,
     "level 0 of t5 is open on some path"},
    {ROW5 STORE5 "const v1, k1\nif v1\nkeep t5, 0, c1\nelse\nkeep t5, 0, c1\nendif\n"
                 "finish t5" HALT,
     NULL},
    {ROW5 "const v1, k1\nwhile\ntest v1\n" STORE5 "keep t5, 0, c1\nendwhile\n"
          "finish t5" HALT,
     "places in level 0 of t5 isn't kept in it on every path"},
    {"begin t5\n" ROWS "at c1, t5, 0, root, i0\nend\nfinish t5" HALT,
     "places in level 0 of t5 isn't kept in it on every path"},
    {"begin t5\n" ROWS "at c1, t5, 0, root, i0\nwithin i0, e1\nkeep t5, 0, c1\nend\n"
     "finish t5" HALT,
     "places in level 0 of t5 isn't kept in it on every path"},
    {"begin t5\n" ROWS "at c1, t5, 0, root, i0\nkeep t5, 0, c1\nwithin i0, e1\nend\n"
     "finish t5" HALT,
     NULL},
    {"begin t5\nconst v1, k1\n" ROWS "at c1, t5, 0, root, i0\nbreak v1, 1\n"
     "keep t5, 0, c1\nend\nfinish t5" HALT,
     "places in level 0 of t5 isn't kept in it on every path"},
    /* where every coordinate has its place beforehand, there is nothing to keep */
    {".tensor t6 \"D\" output f64 (0) [e0 e1] format 2 dense(0) dense(1)\nbegin t6\n"
     "iconst i0, k1\nat c1, t6, 0, root, i0\nat c1, t6, 0, root, i0\nfinish t6" HALT,
     NULL},
    {DEEP6 "at c1, t6, 0, root, i0\nat c2, t6, 1, c1, i0\nat c3, t6, 2, c2, i0\n"
           "keep t6, 0, c1\nfinish t6" HALT,
     "level 1 of t6 is open on some path"},
    {DEEP6 "at c1, t6, 0, root, i0\nat c2, t6, 1, c1, i0\nat c3, t6, 2, c2, i0\n"
           "keep t6, 1, c2\nkeep t6, 0, c1\nfinish t6" HALT,
     NULL},
    {"keep t5, 0, root" HALT, "t5 isn't being assembled"},
    {"begin t5\nkeep t5, 0, root" HALT, "isn't a place"},
    {"const v0, k0\nstore t2, root, v0" HALT, "t2 isn't being assembled"},
    {"const v0, k0\nacc t2, root, add, i64, v0" HALT, "t2 has another class"},
    {"const v0, k1\nacc t2, root, add, f64, v0" HALT, "v0 is i64"},
    {".tensor t6 \"s\" output f64 (0) [] format 0\nbegin t6\nconst v0, k0\n"
     "iconst i0, k1\nlocate c1, t1, 0, root, i0\nstore t6, c1, v0" HALT,
     "t6 is a scalar"},
    {".tensor t6 \"s\" output f64 (0) [] format 0\nbegin t6\nconst v0, k0\n"
     "store t6, root, v0\nfinish t6" HALT,
     NULL},
    {".tensor t6 \"h\" output f64 (0) [e0 e1] format 2 rle(0) compressed(1)\nbegin t6" HALT,
     "can't be assembled in order"},
    {"convert t2, t2" HALT, "both tensors are the same"},
    {".tensor t6 \"f\" output f32 (0) [e1] format 1 dense(0)\npack t6, t1" HALT,
     "different types"},
    {".tensor t6 \"f\" output f32 (0) [e1] format 1 dense(0)\nconvert t6, t1" HALT, NULL},
    {".tensor t6 \"f\" temp f64 (0) [e1] format 1 compressed(0)\nmove t2, t6" HALT,
     "different formats"},
    {".tensor t6 \"f\" temp f64 (0) [e1] format 1 dense(0)\nmove t2, t6" HALT,
     "t6 isn't whole"},
    {".tensor t6 \"f\" output f64 (0) [e1] format 1 dense(0)\nbegin t2\nfinish t2\n"
     "move t6, t2\nmove t2, t6" HALT,
     NULL},
    /* … whose modes may be numbered otherwise */
    {TEMP6 "dense(1) compressed(0)\nconvert t6, t0\nmove t5, t6" HALT, NULL},
    {TEMP6 "dense(1) hashed(0)\nconvert t6, t0\nmove t5, t6" HALT, "different formats"},
    {TEMP6 "compressed(1) dense(0)\nconvert t6, t0\nmove t5, t6" HALT, "different formats"},
    {TEMP6 "dense(1) compressed(0)\nconvert t6, t0\nmove t5, t6\nconvert t5, t6" HALT,
     "isn't whole"},
    /* workspaces */
    {"iconst i0, k1\nconst v0, k0\nws.add t3, i0, add, f64, v0" HALT, "being collected"},
    {"ws.begin t3\niconst i0, k1\nconst v0, k0\nws.add t3, i0, add, i64, v0" HALT,
     "t3 has another class"},
    {"ws.begin t3\niconst i0, k1\nconst v0, k1\nws.add t3, i0, add, f64, v0" HALT,
     "v0 is i64"},
    {".tensor t6 \"\" work f64 (0) [e0 e1] format 2 compressed(0) compressed(1)\n"
     "ws.begin t6\niconst i0, k1\nconst v0, k0\nws.add t6, i0, add, f64, v0" HALT,
     "i1 is read before"},
    {".tensor t6 \"\" work f64 (0) [e0 e1] format 2 compressed(0) compressed(1)\n"
     "ws.begin t6\niconst i3, k1\nconst v0, k0\nws.add t6, i3, add, f64, v0" HALT,
     "i4 is read before"},
    {FN("0:1") "return v0\nws.begin t3\niconst i0, k1\nconst v0, k0\n"
               "ws.call t3, f0, i0, v0, 2" HALT,
     "expected 0 or 1, not 2"},
    {FN("0:1") "return v0\nws.begin t3\niconst i0, k1\nconst v0, k1\n"
               "ws.call t3, f0, i0, v0, 0" HALT,
     "v0 is i64"},
    {FN("0:1") "return v0\nws.begin t3\niconst i0, k1\nconst v0, k0\n"
               "ws.call t3, f0, i0, v0, 1\nws.end t3" HALT,
     NULL},
#define OTHER(classes)                                                                     \
    ".fn f0 \"f\" " classes " registers 3 code 0:3\nconst v2, k0\nmov v2, v2\nreturn v0\n" \
    "ws.begin t3\niconst i0, k1\nconst v0, k0\nws.call t3, f0, i0, v0, 0" HALT
    {OTHER("(f64) f64"), "f0 can't be accumulated"},
    {OTHER("(i64 f64) f64"), "f0 can't be accumulated"},
    {OTHER("(f64 i64) f64"), "f0 can't be accumulated"},
    {OTHER("(f64 f64) i64"), "f0 can't be accumulated"},
    /* tables */
    {EXTENT("dim t9 0"), "no such mode"},
    {EXTENT("dim t0 1"), "no such mode"},
    {EXTENT("add e0 e0"), "a later extent"},
    {EXTENT("const 1\n.extent e1 mul e1 e0"), "a later extent"},
    {EXTENT("const 1\n.extent e1 min e0 e1"), "a later extent"},
    {EXTENT("max0 e0"), "a later extent"},
    {EXTENT("const 1\n.extent e1 floordiv e0 0"), "divides by no size"},
    {EXTENT("const 4\n.extent e1 floordiv e0 2\n.extent e2 addc e1 3\n.extent e3 mulc "
            "e2 2\n"
            ".extent e4 max0 e3\n.extent e5 min e4 e3\n.extent e6 mul e5 e4\n"
            ".check e6 eq e0 @1:2 \"a %a b %b\"\n.check e6 le e6 \"\""),
     NULL},
    {EXTENT("const 1\n.check e0 eq e1 \"\""), "no such extent"},
    {EXTENT("const 1\n.check e1 le e0 \"\""), "no such extent"},
    {TENSOR("input f64 (0) format 2 dense(0)"), "t0"},
    {TENSOR("output f64 (0) [e0] format 1 dense(0)"), "no such extent"},
    {TENSOR("output f64 (0) [] while t5 format 0"), "its source isn't there"},
    {TENSOR("output f64 (0) [] while t0 format 0"), NULL},
    {TENSOR("work f64 (0) [e0] format 1 rle(0)\n.extent e0 const 3"), NULL},
    {TENSOR("work f64 (0) [e0 e0] format 2 dense(0) rle(1)\n.extent e0 const 3"),
     "a workspace can't"},
    {TENSOR("work f64 (0) [e0 e0] format 2 compressed(#0) singleton(0) "
            "compressed(1)\n.extent e0 const 3"),
     "a workspace can't"},
    {MERGE("produce 0 { }\nhalt\n.merge g3 lo e9 hi e0 produce 0 { }"), "no such extent"},
    {".merge g2 lo root hi e9 produce 0 { }" HALT, "no such extent"},
    {".merge g2 lo e0 hi e1 produce 0 { }" HALT, NULL},
    {MERGE("produce 0 { locate c0 t0 0 root root 0 }") "halt\n", "a coefficient of 0"},
    {MERGE("postfix (true) { }") "halt\n", "two tables"},
    {POSTFIX("0 1 and 2 not or true and false or"), NULL},
    {POSTFIX("0 and"), "lacks operands"},
    {POSTFIX("or"), "lacks operands"},
    {POSTFIX("not 1"), "lacks operands"},
    {POSTFIX("7"), "no such operand"},
    {POSTFIX("1 2"), "no result"},
    {POSTFIX(""), "no result"},
#define EIGHT "0 0 0 0 0 0 0 0 "
    {POSTFIX(EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT "0"), "nests too deep"},
};

static char *whole(const char *code)
{
    const bool alone = code[0] == ALONE[0];
    char *text = malloc(sizeof HEAD + strlen(code));
    ck_assert_ptr_nonnull(text);
    strcpy(text, alone ? "" : HEAD);
    strcat(text, code + alone);
    return text;
}

static void judge(stc_machine *m, const char *text, const char *code, const char *words)
{
    stc_program *p = NULL;
    const stc_status st = stc_program_assemble(m, text, "t", &p);
    const stc_error_info *e = stc_error(m);
    if (!words) {
        ck_assert_msg(st == STC_OK, "%s: %s", code, e->message);
    } else {
        ck_assert_msg(st == STC_ERR_CORRUPT, "%s: accepted, or %s", code, e->message);
        ck_assert_msg(has_words(e->message, words), "%s: %s", code, e->message);
    }
    stc_program_free(p);
}

START_TEST(refused)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    char *text = whole(unsafe[_i].code);
    judge(m, text, unsafe[_i].code, unsafe[_i].words);
    free(text);
    machine_shut(m, &h);
}
END_TEST

/* `open` n times, what is in between, `close` n times. */
static char *nested(const char *open, int n, const char *close)
{
    char *text = malloc(sizeof HEAD + (size_t)n * (strlen(open) + strlen(close)) + 40);
    ck_assert_ptr_nonnull(text);
    strcpy(text, HEAD "const v0, k1\n");
    for (int k = 0; k < n; k++)
        strcat(text, open);
    for (int k = 0; k < n; k++)
        strcat(text, close);
    strcat(text, "halt\n");
    return text;
}

/* Blocks nest at most so deep, and the work of proving them is bounded. */
START_TEST(deep)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    char *text = nested("while\n", 256, "endwhile\n");
    judge(m, text, "256 blocks", NULL);
    free(text);
    text = nested("while\n", 257, "endwhile\n");
    judge(m, text, "257 blocks", "blocks nest more than 256 deep");
    free(text);
    const char *const again = "const v1, k0\nconst v1, k1\n";
    char *many = malloc(40000 * strlen(again) + 1);
    ck_assert_ptr_nonnull(many);
    many[0] = 0;
    char *end = many;
    for (int k = 0; k < 4000; k++)
        end = stpcpy(end, again);
    text = malloc(sizeof HEAD + strlen(many) + 20000);
    strcpy(text, HEAD);
    strcat(text, "const v0, k1\n");
    for (int k = 0; k < 250; k++)
        strcat(text, "while\n");
    strcat(text, many);
    for (int k = 0; k < 250; k++)
        strcat(text, "test v0\nendwhile\n");
    strcat(text, "halt\n");
    judge(m, text, "changes in 250 loops", "too complex to be verified");
    free(text);
    free(many);
    /* cursors are looked for among what all loops around it walk */
    text = malloc(sizeof HEAD + 20000);
    strcpy(text, ".registers v 6 i 300 m 300 c 8\n");
    strcat(text, strchr(HEAD, '\n') + 1);
    strcat(text, ".merge g2 lo root hi e1 universe postfix (0) { ");
    for (int k = 0; k < 64; k++)
        strcat(text, k < 63
                         ? "known c7, "
                         : "known c7 }\n.merge g3 lo root hi e1 produce 0x2 { walk c6 }\n");
    strcat(text, "iconst i0, k1\nlocate c7, t1, 0, root, i0\n");
    for (int k = 0; k < 250; k++)
        sprintf(text + strlen(text), "loop i%d, m%d, g2\n", 1 + k, 1 + k);
    for (int k = 0; k < 100; k++)
        strcat(text, "open c6, t1, 0, root\nloop i299, m299, g3\nend\n");
    judge(m, text, "100 cursors in 250 loops", "too complex to be verified");
    free(text);
    machine_shut(m, &h);
}
END_TEST

/* Tables that neither text nor bytes can have: the verifier trusts nobody. */
START_TEST(tables)
{
    heap h;
    ctx *cx = ctx_open(&h);
    program *p;
    const char *const text = HEAD ".check e0 eq e1 \"\"\n" FN("0:1") "return v0" HALT;
    ck_ctx(cx, program_assemble(cx, text, "t", &p));
    ck_ctx(cx, program_verify(p));
#define WRONG(place, with, words)                                                          \
    do {                                                                                   \
        const typeof(place) was = place;                                                   \
        place = with;                                                                      \
        ck_assert_msg(program_verify(p) == STC_ERR_CORRUPT, #place " = " #with);           \
        ck_assert_msg(has_words(cx->diag.message, words), "%s", cx->diag.message);         \
        place = was;                                                                       \
    } while (0)
    WRONG(p->nv, -1, "more than operands can name");
    WRONG(p->ni, -1, "more than operands can name");
    WRONG(p->nm, -1, "more than operands can name");
    WRONG(p->nc, -1, "more than operands can name");
    WRONG(p->nv, ROOT + 1, "more than operands can name");
    WRONG(p->ni, ROOT + 1, "more than operands can name");
    WRONG(p->nm, ROOT + 1, "more than operands can name");
    WRONG(p->nc, ROOT + 1, "more than operands can name");
    WRONG(p->ext[1].op, 99, "no such operation");
    WRONG(p->ext[p->tensor[2].shape[0]].op, EXT_SPAN, "its shape is found out on the way");
    WRONG(p->tensor[1].role, 99, "no such role, type or policy");
    WRONG(p->tensor[1].type, (stc_type)99, "no such role, type or policy");
    WRONG(p->tensor[1].policy, 99, "no such role, type or policy");
    WRONG(p->tensor[1].order, -1, "its order isn't its format's");
    WRONG(p->tensor[1].order, STC_MAX_ORDER + 1, "its order isn't its format's");
    WRONG(p->tensor[1].order, 2, "its order isn't its format's");
    WRONG(p->merge[0].count, 65, "more than 64 operands");
    WRONG(p->merge[0].operand[0].role, 9, "no such role");
    WRONG(p->fn[0].params, 9, "make no sense");
    WRONG(p->fn[0].result, CLASS_COUNT, "make no sense");
    WRONG(p->fn[0].cls[1], CLASS_COUNT, "no such class");
    WRONG(p->konst[0].cls, CLASS_COUNT, "no such class");
    WRONG(p->check[0].rel, 9, "no such extent or relation");
    WRONG(p->check[0].text, NULL, "no such extent or relation");
    WRONG(p->code[1].op, OP_COUNT, "there is no opcode");
    WRONG(p->code[1].arg[6], 1, "an operand too many");
    program_free(p);
    ck_ctx(cx, program_assemble(cx, HEAD POSTFIX("0"), "t", &p));
    WRONG(p->merge[2].postfix[0], PF_FALSE + 1, "no such operand");
    program_free(p);
    ctx_close(cx, &h);
}
END_TEST

/* So many registers written below so many blocks, or jumps out of one, that looking at
 * all of it would take too long: that is said at each place where paths meet. */
START_TEST(too_complex)
{
    static const struct {
        int writes, blocks;
        const char *before, *open, *close;
    } cases[] = {{6000, 0, "while\ntest v0\n", "", ""},
                 {4400, 250, "", "if v0\n", "else\nendif\n"},
                 {4600, 250, "", "if v0\n", "else\nendif\n"},
                 {6000, 250, "", "if v0\n", "endif\n"},
                 {1000, 250, "", "if v0\n", "endif\n"}};
    const int writes = cases[_i].writes, blocks = cases[_i].blocks;
    char *text = malloc((size_t)writes * 24 + 30000);
    size_t n = (size_t)sprintf(text,
                               ".registers v %d i 0 m 0 c 0\n.const k0 i64 1\n.code\n"
                               "const v0, k0\n%s",
                               writes + 1, cases[_i].before);
    for (int k = 0; k < blocks; k++)
        n += (size_t)sprintf(text + n, "%s", cases[_i].open);
    for (int k = 1; k <= writes; k++)
        n += (size_t)sprintf(text + n, "const v%d, k0\n", k);
    for (int k = 0; k < blocks; k++)
        n += (size_t)sprintf(text + n, "%s", cases[_i].close);
    for (int k = 0; !blocks && k < 700; k++)
        n += (size_t)sprintf(text + n, "break v0, 1\n");
    sprintf(text + n, "%shalt\n", blocks ? "" : "endwhile\n");
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p = NULL;
    const stc_status st = stc_program_assemble(m, text, "complex", &p);
    if (_i == 4) { /* fewer of them are looked at */
        ck_ok(m, st);
    } else {
        ck_assert_int_eq(st, STC_ERR_CORRUPT);
        ck_assert_msg(has_words(stc_error(m)->message, "too complex"), "%s",
                      stc_error(m)->message);
    }
    stc_program_free(p);
    free(text);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_unsafe(void)
{
    Suite *s = suite_create("unsafe");
    TCase *c = tcase_create("unsafe");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, too_complex, 0, 5);
    tcase_add_loop_test(c, refused, 0, (int)(sizeof unsafe / sizeof *unsafe));
    tcase_add_test(c, deep);
    tcase_add_test(c, tables);
    suite_add_tcase(s, c);
    return s;
}
