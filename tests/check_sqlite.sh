#!/bin/sh
# check_sqlite.sh: the SQLite extension: identifiers of all kinds, queries, fills, numbers,
# orders, errors; and beside a join on 200,000 edges. Skipped without SQLite.
# usage: BUILD=build sh tests/check_sqlite.sh
set -eu
build=${BUILD:-build}
if ! command -v sqlite3 >/dev/null ||
    ! echo '#include <sqlite3ext.h>' | ${CC:-cc} -E - >/dev/null 2>&1; then
    echo "check_sqlite: skipped, there is no sqlite3 with libsqlite3-dev"
    exit 0
fi
case $build in *-san* | *-tsan* | *-m32* | *-cov*)
    echo "check_sqlite: skipped in $build" && exit 0 ;;
esac
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
${CC:-cc} -std=gnu17 -O2 -Wall -Wextra -Werror -shared -fPIC -Iinclude -o "$tmp/stcvm_sqlite.so" \
    samples/sqlite/stcvm_sqlite.c "$build/libstcvm.a" -lm -pthread
sql() {
    printf '%s\n' "$1" |
        sqlite3 -batch -init /dev/null -cmd ".load $tmp/stcvm_sqlite" "${2:-:memory:}" 2>&1
}
status=0
# expect WHAT GIVES: of SQL behind the tables
expect() {
    got=$(sql "$tables$1;") || :
    case $got in
    $2) ;;
    *)
        printf 'check_sqlite: %s\n  gave %s\n  not  %s\n' "$1" "$got" "$2"; status=1 ;;
    esac
}
tables="
CREATE TABLE e(a, b, w); INSERT INTO e VALUES (0,1,2), (1,2,3), (0,2,10);
CREATE TABLE people(a, b, w);
INSERT INTO people VALUES ('ann','bob',2), ('bob',NULL,3), (NULL,'ann',4), ('bob','eve',NULL);
CREATE TABLE far(a, b, w); INSERT INTO far VALUES (1000000000000, 5, 2), (5, 7, 3);
CREATE TABLE cube(a, b, c, w); INSERT INTO cube VALUES (0,1,2,5), (2,1,0,7);
CREATE TABLE odd(a, b, w); INSERT INTO odd VALUES (-1, 1.5, 2), (1.5, x'00ff', 3);
CREATE TABLE one(w); CREATE TABLE words(a, w); INSERT INTO words VALUES (0, 'x');
CREATE TABLE none(a, b, w);
"
nl='
'
square="stc('C(i,j) = A(i,k) * A(k,j)', 'A'"
expect "SELECT row, col, value, typeof(value) FROM $square, 'e')" "0|2|6|integer"
expect "SELECT row, col, value FROM $square, 'people') ORDER BY value" \
    "ann||6${nl}|bob|8${nl}bob|ann|12"
expect "SELECT typeof(col) FROM $square, 'people') WHERE row = 'ann'" "null"
expect "SELECT row, col, value FROM $square, 'far')" "1000000000000|7|6"
expect "SELECT row, typeof(col), value FROM $square, 'odd')" "-1|blob|6"
expect "SELECT row, col, value FROM $square, 'SELECT a, b, 10*w FROM e WHERE w < 5')" "0|2|600"
expect "SELECT row, value FROM stc('y(i) = A(i,j)', 'A', ' with t AS (SELECT * FROM e) SELECT * FROM t') ORDER BY row" "0|12${nl}1|3${nl}2|0"
expect "SELECT row, col, value FROM stc('D(i,j) = min(k: A(i,k) + A(k,j))', 'A fill inf', 'e')" "0|2|5.0"
expect "SELECT row, col, m2, value FROM stc('T(i,j,k) = 2 * A(i,j,k)', 'A', 'cube') ORDER BY row" \
    "0|1|2|10${nl}2|1|0|14"
expect "SELECT value FROM stc('s = a * A(i,j)', 'A', 'e', 'a', 0.5)" "7.5"
expect "
.parameter set ?1 3
SELECT value FROM stc('s = a * A(i,j)', 'A', 'e', 'a', ?1)" "45"
expect "SELECT count(*) FROM $square, 'none')" "0"
expect "SELECT value FROM stc('s = 9007199254740993 + 0 * A(0,1)', 'A', 'e')" "9007199254740993"
expect "SELECT * FROM $square, 'missing')" "*A: no such table: missing*"
expect "SELECT * FROM $square, 'one')" "*A: one to 6 columns*there are 1*"
expect "SELECT * FROM stc('y(i) = A(i)', 'A', 'words')" "*A: the value 'x' is no number*"
expect "SELECT * FROM $square, 'SELECT nosuch FROM e')" "*A: no such column: nosuch*"
expect "SELECT * FROM $square, NULL)" "*A: a NULL was given*"
expect "SELECT * FROM stc('y(i) = B(i,j)', 'A', 'e')" "*stc:1:8: there is no tensor or function*"
expect "SELECT * FROM stc('print \"x\"')" "*rror*"

# Ways of two steps, and what they weigh together: the same sums as a join's, and how long each
# takes (sqlite3 tells the processor's time).
sql "CREATE TABLE edges(a INTEGER, b INTEGER, w REAL);
WITH RECURSIVE n(k, x) AS (SELECT 0, 1 UNION ALL
  SELECT k + 1, (x * 1103515245 + 12345) & 2147483647 FROM n WHERE k < 199999)
INSERT INTO edges SELECT DISTINCT (x >> 8) % 20000, (x >> 3) * 7 % 20000, 1 + k % 5 FROM n;
CREATE INDEX by_a ON edges(a);" "$tmp/edges.db"
two="SELECT row AS a, col AS b, value AS w FROM stc('C(i,j) = A(i,k) * A(k,j)', 'A', 'edges')"
join="SELECT x.a, y.b, sum(x.w * y.w) AS w FROM edges x JOIN edges y ON x.b = y.a GROUP BY x.a, y.b"
# user's seconds of: PREFIX SQL SUFFIX
spent() {
    sql ".timer on
SELECT count(*), total(w) FROM ($1);" "$tmp/edges.db" >"$tmp/out" || status=1
    sed -n 's/.* user \([0-9.]*\) .*/\1/p' "$tmp/out"
}
ours=$(spent "$two") && sed 1q "$tmp/out" >"$tmp/a"
theirs=$(spent "$join") && sed 1q "$tmp/out" >"$tmp/b"
cmp "$tmp/a" "$tmp/b" || status=1
awk -v a="$ours" -v b="$theirs" -v n="$(cat "$tmp/a")" 'BEGIN {
    printf "check_sqlite: two steps on 200,000 edges (entries|sum: %s): %.2f s, a join %.2f s\n", n, a, b
    exit !(b > 3 * a) }' || { echo "check_sqlite: less than three times a join"; status=1; }
[ $status = 0 ] && echo "check_sqlite: passed" || echo "check_sqlite: FAILED"
exit $status
