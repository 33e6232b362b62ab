#!/bin/sh
# check_graphs.sh: the graph algorithms in samples/ on graphs, against other
# algorithms for the same (graphs.py). The small graphs in samples/ always run;
# those of ../shared/data where they are there. `make check` sets STCVM.
set -u
tool=${STCVM:-./build/stcvm}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
data=${STC_DATA:-../shared/data}/matrices
if ! command -v python3 >/dev/null; then
    echo "check_graphs: skipped, there is no python3 to check with"
    exit 0
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0
runs=0

run() { # sample result graph
    # sed: another graph, and the result to a file, in full
    case $3 in /*) path=$3 ;; *) path=$PWD/$3 ;; esac
    { sed "s#^\(tensor [GW] .* = \)\".*\"#\1\"$path\"#; /^print/d" "samples/$1.stc"
      [ "$2" = triangles ] && echo 'out = triangles' || {
        echo 'tensor out dense f64'; echo "out(i) = $2(i)"; }
      echo "save out \"$dir/out.mtx\""
    } >"$dir/run.stc"
    runs=$((runs + 1))
    rm -f "$dir/out.mtx"
    "$tool" "$dir/run.stc" >"$dir/log" 2>&1 &&
        python3 tests/graphs.py "$1" "$3" "$dir/out.mtx" >>"$dir/log" 2>&1 && return
    failures=$((failures + 1))
    echo "FAILED $1 on $3"
    head -5 "$dir/log"
}

all() { # graph
    run bfs level "$1"
    run bellman_ford way "$1"
    run pagerank r "$1"
    run triangles triangles "$1"
    run components group "$1"
}

# A round of a search visits its frontier and the edges that leave it, however large the
# mesh is: loops' rounds, as they are counted, and one that ends them.
cost() { # depth
    cat >"$dir/mesh.stc" <<END
include "$PWD/samples/graph.stc"
g = 40
n = g * g
tensor G csr bool [n, n]
G(i,j) = j == i + g || i == j + g || (j == i + 1 && j % g) || (i == j + 1 && i % g)
compact G
tensor level dense i64 [n]
level(i) = select(i == 0, 0, -1)
tensor frontier svec bool [n]
frontier(i) = i == 0
compact frontier
depth = 0
while (depth < $1) {
  depth += 1
  most = stored(frontier) + sum(i,j: i64(frontier(i) && G(i,j))) + 1
  frontier(j) = any(i: frontier(i) && G(i,j)) && level(j) < 0
  compact frontier
  level(j) = depth where frontier(j)
}
print "most", most, "of", n
END
    runs=$((runs + 1))
    "$tool" --profile "$dir/mesh.stc" >"$dir/log" 2>&1
    awk '/^most/ { most = $2 } /^# frontier\(j\) = any/, 0 {
             for (k = 2; k <= NF; k++) if ($k ~ /^rounds/ && $(k - 1) > rounds) rounds = $(k - 1)
         }
         END { exit !(rounds > 0 && rounds <= most) }' "$dir/log" && return
    failures=$((failures + 1))
    echo "FAILED: round $1 of a search visits more than its edges"
    grep -E "^most|rounds" "$dir/log"
}
for depth in 1 5 20 38; do cost $depth; done

all samples/links.mtx
all samples/roads.mtx
if [ -d "$data" ]; then
    for g in karate dolphins polbooks jazz polblogs power wiki-Vote airfoil1 delaunay_n15; do
        all "$data/$g.mtx"
    done
    run bellman_ford way "$data/petsc_cochange.mtx" # weights other than 1
else
    echo "check_graphs: $data isn't there: only the graphs in samples/"
fi
[ "$failures" -eq 0 ] || { echo "check_graphs: $failures of $runs failed"; exit 1; }
echo "check_graphs: $runs runs are right"
