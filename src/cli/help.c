/* help.c: the topics of `:help`, each with an example that can be typed in. What
 * is neither a topic nor a command is looked for in the topics' texts.
 */
#include "repl.h"

#include <ctype.h>
#include <string.h>

typedef struct topic {
    const char *name, *summary, *text;
} topic;

static const topic topics[] = {
    {"start", "the first five minutes",
     "A statement is an assignment in index notation. Type the lines after the arrows:\n"
     "\n"
     "  > tensor A csr f64 [3,3] = { (0,0): 2, (1,2): 3, (2,1): -1 }\n"
     "  > tensor x dense f64 [3] = 1.0\n"
     "  > y(i) = A(i,j) * x(j)\n"
     "  > y\n"
     "  > A(1,2) + sum(i: y(i))\n"
     "  > :spy A\n"
     "\n"
     "j is not on the left, so it is summed over. A matrix of your own:\n"
     "\n"
     "  > :load A matrix.mtx csr\n"
     "  > C(i,j) = A(i,k) * A(j,k)\n"
     "  > save C \"c.mtx\"\n"},
    {"commands", "what begins with a colon", NULL},
    {"keys", "editing a line",
     "  arrows, Home, End, Delete        as everywhere; up and down: earlier lines\n"
     "  Ctrl-A, Ctrl-E, Alt-B, Alt-F     start and end of the line, words\n"
     "  Ctrl-K, Ctrl-U, Ctrl-W, Ctrl-Y   cut to the end, to the start, a word; paste\n"
     "  Ctrl-R                           search earlier lines\n"
     "  Tab                              complete a name, a command, a file\n"
     "  Ctrl-C                           drop the line; stop a running statement\n"
     "  Ctrl-D                           leave, on an empty line\n"
     "\n"
     "A line goes on in the next one after an open bracket, an operator or a `\\`:\n"
     "\n"
     "  > C(i,j) = A(i,k) * B(k,j) \\\n"
     "  ...> with reorder(i,k,j)\n"
     "\n"
     "Earlier lines are kept in ~/.stcvm_history.\n"},
    {"statements", "what a line can be",
     "  NAME(indices) = EXPRESSION    an assignment; also += -= *= /= //= %= min= max= |= "
     "&=\n"
     "                                ^= or= and=\n"
     "  NAME(indices) = e where m     only where m is true; the rest stays\n"
     "  NAME = EXPRESSION             a scalar, a tensor of order 0\n"
     "  B = A                         whole tensors\n"
     "  EXPRESSION                    prints its value; `_` is the last one\n"
     "  tensor, format, fn, def       definitions (:help tensors, formats, functions, "
     "defs)\n"
     "  print \"text\", e, …    assert e, \"why\"    save A \"file\"    compact A    drop "
     "A\n"
     "  include \"file.stc\"\n"
     "  for k in lo:hi:step { … }    repeat N { … }    while (e) { … }    break    "
     "continue\n"
     "  if (e) { … } else { … }\n"
     "\n"
     "A statement ends at the end of the line or at `;`, not after an operator. `#` "
     "starts\n"
     "a comment.\n"
     "\n"
     "  > for k in 0:3 { print \"round\", k }\n"
     "  > s = 0; repeat 3 { s += 2 }; print s\n"},
    {"defs", "statements with names of their own",
     "  > def gram(A) -> G, n { G(i,j) = A(i,k) * A(j,k); n = stored(G) }\n"
     "  > (H, n) = gram(A)\n"
     "\n"
     "Parameters are lent, and the caller's tensors don't change. With one result it is\n"
     "`G = f(A)`, without any `f(A)`; `return` ends the call. A file of defs is a library\n"
     "(`include \"file.stc\"`). In any statement, clock() is the time in seconds, "
     "size(A,k)\n"
     "the size of mode k, and stored(A) how many entries there are.\n"},
    {"indices", "subscripts and implied sums",
     "An index that isn't on the left is summed, over the top-level term it stands in:\n"
     "\n"
     "  > y(i) = A(i,j) * x(j) + b(i)       # the sum covers the product only\n"
     "  > t(i) = A(i,i)                     # a repeated index: the diagonal\n"
     "  > D(i,j) = A(i,j) + B(j,i)          # any order, any formats\n"
     "  > n = A(i,j) > 0                    # counts\n"
     "\n"
     "A note tells where all of an index stands inside of a denominator, an exponent, a\n"
     "comparison or a function that isn't linear: `sqrt(sum(i: x(i) * x(i)))` sums there.\n"
     "\n"
     "A bare index in an expression is its value: `R(i,j) = i + 10 * j`, where the\n"
     "left side is declared.\n"},
    {"reductions", "explicit ones: f(i,j: e)",
     "Any function of two arguments reduces: sum, prod, min, max, any, all, xor, …\n"
     "\n"
     "  > m = max(i,j: A(i,j))\n"
     "  > d(i) = min(j: A(i,j) + x(j))\n"
     "  > P(i) = max(p in 0:2: v(2*i + p))\n"
     "\n"
     "mean, norm, argmin and argmax (the first) are made of these; max(a,b,c) takes more\n"
     "than two. order, alone on the right side, is the permutation that sorts.\n"
     "A range may depend on other indices, `k in 0:i+1`, and `e where m` takes only\n"
     "that for which m is true.\n"
     "\n"
     "  > b(i) = argmax(j: A(i,j))\n"
     "  > p(i) = order(b(i))\n"},
    {"expressions", "operators and functions",
     "Operators, strongest first: **   - ! ~   * / // %   + -   << >>   &   ^   |\n"
     "comparisons and `e in lo:hi`   &&   ||. `/` of integers is an f64, `//` floors,\n"
     "and % has the sign of the divisor. Functions: abs sqrt exp log sin cos tan tanh\n"
     "floor ceil round min max last sampled pow ldexp hypot atan2 sign conj real imag\n"
     "select xor gcd\n"
     "isnan and the rest of C's math library.\n"
     "\n"
     "  > B(i,j) = select(A(i,j) > 2, sqrt(A(i,j)), 0)\n"},
    {"types", "bool, i8 … i64, u8 … u64, f32, f64, c64, c128",
     "A type's name casts: i32(e), f64(e), bool(e). A declared name takes no value of a\n"
     "higher kind (real into integer, integer into bool) without a cast.\n"
     "Types promote as in NumPy 2, and literals are weak. Comparisons give bool; sums\n"
     "of bool and integers are i64 (u64 if unsigned). `2j` is imaginary; inf, nan, true\n"
     "and false are literals.\n"
     "\n"
     "  > tensor k dense i32 [3] = 2\n"
     "  > h(i) = k(i) * 0.5                 # f64\n"
     "  > k(i) = i32(h(i))\n"},
    {"tensors", "declaring and filling them",
     "  > tensor A csr = \"bcsstk13.mtx\"               # shape and type from the file\n"
     "  > tensor x dense f64 [1138] = 1.0             # everywhere; also ones, zeros\n"
     "  > tensor d csr f64 [4,4] fill inf = { (0,1): 3, (2,0): 1 }\n"
     "  > tensor M dense i32 = [[1,2,3],[4,5,6]]\n"
     "  > tensor R csr f64 [1000,1000] = random(density=0.01, seed=7)\n"
     "  > tensor S csr f64 [90,90] = random(0.01)     # the density alone\n"
     "  > tensor C csc                                # shape from its first assignment\n"
     "  > n = 9; tensor Z csr [n, 2*n]; tensor I csr = eye(n)     # scalars; also arange\n"
     "\n"
     "A declared tensor keeps its format, type and fill; an undeclared one takes those\n"
     "of what is assigned to it.\n"},
    {"formats", "how tensors are stored",
     "Built in: dense svec csr csc dcsr dcsc coo csf bcsr(r,c) csb(r,c) dia ell hash rle\n"
     "lz77 bytemap, and short strings such as ds, ss, ds:1,0 (d dense, s compressed,\n"
     "q singleton, u compressed nonunique). Any other is a map from coordinates to\n"
     "levels:\n"
     "\n"
     "  > format mine = (i,j) -> (j : dense, i : compressed)\n"
     "  > tensor B mine f64 [4,4] = { (0,1): 3 }\n"
     "  > format table(w) = (i,j) -> (i : dense, j : hashed(w))  # w slots a row\n"
     "\n"
     "A format changes speed, never values: `B(i,j) = A(i,j)` converts.\n"},
    {"fill", "the value of what isn't stored",
     "Places that aren't stored have the tensor's fill, 0 unless `fill` gives another.\n"
     "A result's fill is what the expression makes of its operands' fills. In a graph of\n"
     "distances the fill is inf:\n"
     "\n"
     "  > tensor W csr f64 [3,3] fill inf = { (0,1): 3, (1,2): 1 }\n"
     "  > tensor d dense f64 [3] = [0, inf, inf]\n"
     "  > d(j) min= d(i) + W(i,j)\n"},
    {"slices", "parts of a mode, subscripts of all kinds, pad",
     "  > B(i,j) = A(i(1:5:2), j(2:6:2))      # lo:hi:stride, each may be left out\n"
     "  > x(i in 0:9) = i * i                 # the range of an undeclared left side\n"
     "  > k = 2; r(j) = A(k, j)               # a scalar in a subscript, slice or range\n"
     "  > y(i) = x(p(i)); B(i,j) = A(p(i),j)  # any integer expression: a gather\n"
     "  > y(p(i)) = x(i); y(p(i)) += x(i)     # and on the left, where y is there\n"
     "  > S(i) = v(i+1)                       # i runs as far as v allows\n"
     "  > T(i) = pad v(i-1)                   # T declared; outside, v reads as its "
     "fill\n"},
    {"functions", "functions of your own",
     "  > fn relu(x) = max(x, 0)\n"
     "  > fn band(x, y) = x & y with commutative, annihilator(0)\n"
     "  > B(i,j) = relu(A(i,j))\n"
     "\n"
     "Properties (commutative, associative, idempotent, annihilator(v), identity(v),\n"
     "distributes(f)) are taken at their word: what they decide isn't computed.\n"
     "derivative(e) is for `grad`.\n"
     "\n"
     "Sums over products are taken early, in steps (:explain shows them), and so are "
     "other\n"
     "reductions over what distributes: * over +, + of floats over min and max, min and\n"
     "max over each other, && and || too, & over | and ^. `:set as_written on` stops "
     "that,\n"
     "`with as_written` for one statement.\n"},
    {"derivatives", "grad(e, A): of a scalar, by tensors",
     "G = grad(e, A) is the derivative of the scalar e by A's elements, of A's format, at\n"
     "A's stored places; (P, Q) = grad(e, A, B) gives several. e is a variable that\n"
     "assignments have made, an expression, or the call of a def.\n"
     "\n"
     "  > loss = (A(i,j) * b(j) - 1)**2\n"
     "  > g = grad(loss, b)\n"
     "  > b(j) -= 0.01 * g(j)\n"},
    {"schedules", "with …: how a statement runs",
     "  reorder(i,k,j)  split(i,i0,i1,32)  fuse(i,j,f)  pos(i,p,A)  parallelize(i)  "
     "as_written\n"
     "  precompute(e, W, {i,j})  workspace(dense|coord|bucket|hash [, capacity])\n"
     "\n"
     "  > C(i,j) = A(i,k) * B(k,j) with reorder(i,k,j)\n"
     "\n"
     "A schedule changes speed, never values. `:explain` shows the loops that come of "
     "it.\n"},
    {"files", ".stt .mtx .tns .csv .npy .npz .pgm .ppm .gz .stc",
     "  > :load A matrix.mtx csr              # or: tensor A csr = \"matrix.mtx\"\n"
     "  > :save y y.npy                       # or: save y \"y.npy\"\n"
     "\n"
     "Matrix Market and FROSTT files hold entries, NumPy files and images are dense.\n"
     "They have no place for a fill: a tensor whose fill isn't zero is written in full.\n"
     "A .stt file holds any tensor as it is, and opens at once, whatever its size. What\n"
     "is read may be compressed: A.mtx.gz. A .npz is SciPy's, a .bsp.npz Binsparse's.\n"
     "A .csv is a table, or entries if its heading ends in `value`: i,j,value.\n"
     "\n"
     "A script (`stcvm script.stc`, `include \"script.stc\"`) holds what could be typed "
     "here.\n"},
    {"errors", "what they say, and what they leave",
     "An error names the place, what was found and what was expected. The statement that\n"
     "fails leaves everything as it was:\n"
     "\n"
     "  > y(i) = A(i,j * x(j)\n"
     "  > z(i) = A(i,j) * q(j)\n"
     "\n"
     "Ctrl-C stops a running statement in the same way. When statements come from a pipe\n"
     "(`stcvm < file`), what follows an error still runs, errors tell the line of the\n"
     "input, and the exit status is 1 if anything failed.\n"},
};
enum { TOPIC_COUNT = sizeof topics / sizeof *topics };

const char *help_topic(int i)
{
    return i >= 0 && i < TOPIC_COUNT ? topics[i].name : NULL;
}

static const struct {
    const char *name, *operands, *summary;
} commands[] = {
#define C(name, operands, summary, kind) {#name, operands, summary},
    REPL_COMMANDS(C)
#undef C
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_command(int i, FILE *out)
{
    const int n = fprintf(out, "  :%s %s", commands[i].name, commands[i].operands);
    fprintf(out, "%*s  %s\n", n < 26 ? 26 - n : 0, "", commands[i].summary);
}

static void print_commands(FILE *out)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        print_command(i, out);
    fputs(
        "\nA command may be shortened: `:lo A m.mtx`. Everything else is a statement, or\n"
        "an expression, which prints its value.\n"
        "\n"
        "  > :time y(i) = A(i,j) * x(j)\n",
        out);
}

static void print_topics(FILE *out)
{
    fputs("A line is a statement, an expression (prints its value), or a command:\n\n",
          out);
    print_commands(out);
    fputs("\ntopics, `:help TOPIC`:\n", out);
    for (int i = 0; i < TOPIC_COUNT; i++)
        fprintf(out, "  %-12s  %s\n", topics[i].name, topics[i].summary);
}

/* The topic that the name begins, NULL if there is none or several. */
static const topic *find_topic(const char *name)
{
    const topic *found = NULL;
    int matches = 0;
    for (int i = 0; i < TOPIC_COUNT && *name; i++) {
        if (strncmp(topics[i].name, name, strlen(name))) continue;
        if (!strcmp(topics[i].name, name)) return &topics[i];
        found = &topics[i];
        matches++;
    }
    return matches == 1 ? found : NULL;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether the line [p, end) has the word by itself. */
static bool line_mentions(const char *p, const char *end, const char *word)
{
    const size_t n = strlen(word);
    for (const char *q = p; q + n <= end; q++)
        if (!strncmp(q, word, n) && (q == p || !is_word(q[-1])) && !is_word(q[n]))
            return true;
    return false;
}

/* The lines of all topics that mention a word: a function's, an operator's. */
static bool print_mentions(const char *word, FILE *out)
{
    bool any = false;
    for (int i = 0; i < TOPIC_COUNT && *word; i++) {
        bool here = false;
        for (const char *p = topics[i].text, *end; p && *p; p = *end ? end + 1 : end) {
            end = p + strcspn(p, "\n");
            if (!line_mentions(p, end, word)) continue;
            if (!here) fprintf(out, "in `:help %s`:\n", topics[i].name);
            fprintf(out, "  %.*s\n", (int)(end - p), p);
            any = here = true;
        }
    }
    return any;
}

bool help_print(const char *name, FILE *out)
{
    if (!name) {
        print_topics(out);
        return true;
    }
    const topic *found = find_topic(name);
    if (found && found->text) {
        fputs(found->text, out);
        return true;
    }
    if (found) {
        print_commands(out);
        return true;
    }
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(commands[i].name, name)) {
            print_command(i, out);
            return true;
        }
    return print_mentions(name, out);
}
