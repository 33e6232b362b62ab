#!/bin/sh
# check_library.sh: what samples/graph.stc and samples/linalg.stc define, against the same
# by brute force, in scripts that assert it. `make check` sets STCVM.
set -u
tool=${STCVM:-./build/stcvm}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0

script() { # name; the script is standard input
    { echo "include \"$PWD/samples/graph.stc\""
      echo "include \"$PWD/samples/linalg.stc\""
      cat
    } >"$dir/$1.stc"
    "$tool" --quiet "$dir/$1.stc" >"$dir/log" 2>&1 && return
    failures=$((failures + 1))
    echo "FAILED $1"
    head -5 "$dir/log"
}

# Walks of k edges are counted by the k-th power: its first k is the distance, and how many
# there are then, the number of shortest ways. The others are checked by what defines them.
script graphs <<'END'
n = 400
tensor R csr f64 [n, n] = random(density=0.01, seed=5)
tensor G csr bool [n, n]
G(i,j) = i != j && R(i,j) > 0
tensor A dense f64
A(i,j) = G(i,j)
tensor walks dense f64
walks(i,j) = A(i,j)
tensor d dense f64 [n, n]
d(i,j) = select(i == j, 0, inf)
tensor ways dense f64 [n, n]
ways(i,j) = i == j
for step in 1:n {
  new = sum(i,j: walks(i,j) > 0 && d(i,j) == inf)
  ways(i,j) = select(walks(i,j) > 0 && d(i,j) == inf, walks(i,j), ways(i,j))
  d(i,j) = select(walks(i,j) > 0 && d(i,j) == inf, step, d(i,j))
  if (new == 0) { break }
  walks(i,j) = min(sum(l: walks(i,l) * A(l,j)), 1e100)
}
assert step > 4, "the graph has some depth"
level = bfs(G, 7)
assert all(j: level(j) == select(d(7,j) == inf, -1, d(7,j))), "bfs"
tensor W csr f64 fill inf
W(i,j) = select(G(i,j), 1.0, inf)
way = sssp(W, 7)
assert all(j: way(j) == d(7,j)), "sssp"
tensor L csr f64 fill inf
L(i,j) = select(G(i,j), R(i,j), inf)
far = sssp(L, 7)
for delta in 1:4 {
  near = delta_stepping(L, 7, 0.2 * delta)
  assert all(j: near(j) == far(j)), "delta_stepping"
}
assert sum(j: far(j) < inf) > n / 2 && max(j: select(far(j) < inf, far(j), 0.0)) > 1, "some are far"
score = betweenness(G)
brute(v) = sum(s,t: select(s != v && t != v && s != t && d(s,t) < inf && d(s,v) + d(v,t) == d(s,t), ways(s,v) * ways(v,t) / ways(s,t), 0.0))
assert max(v: brute(v)) > 100, "there is something to compare"
assert max(v: abs(score(v) - brute(v))) < 1e-6, "betweenness"
group = components(G)
both(i,j) = G(i,j) || G(j,i)
assert all(i,j: !both(i,j) || group(i) == group(j)), "components hang together"
assert all(i: group(i) <= i), "components are named by their least"
B(i,j) = 1 * both(i,j)
three = B(a,b) * B(b,c) * B(c,a)
count = triangles(G)
assert 6 * count == three, "triangles"
some = independent(G)
assert !any(i,j: both(i,j) && some(i) && some(j)), "independent: no two are joined"
assert all(i: some(i) || any(j: both(i,j) && some(j))), "independent: none can be added"
core = k_core(both, 5)
inside(i) = sum(j: both(i,j) && core(j))
assert all(i: !core(i) || inside(i) >= 5), "k_core: who is left has neighbours"
assert sum(i: core(i)) > 0 && sum(i: core(i)) < n, "k_core: some are left"
label = communities(G, 3)
own(i in 0:n) = i
repeat 3 {
  tensor count dense i64 [n, n]
  count(i,l) = sum(j: B(i,j) * (own(j) == l))
  top(i) = max(l: count(i,l))
  chosen(i) = argmax(l: count(i,l))
  own(i) = select(top(i) > 0, chosen(i), own(i))
}
assert all(i: label(i) == own(i)), "communities"
assert any(i: label(i) != i), "communities: some change"
(rank, rounds) = pagerank(G, 1e-13)
out(i) = sum(j: 1 * G(i,j))
lost = sum(i: select(out(i) == 0, rank(i), 0.0))
again(j) = 0.85 * (sum(i: select(G(i,j), rank(i) / out(i), 0.0)) + lost / n) + 0.15 / n
assert abs(sum(i: rank(i)) - 1) < 1e-9, "ranks sum to 1"
assert max(j: abs(again(j) - rank(j))) < 1e-12, "ranks stay"
END

script linear <<'END'
n = 60
tensor R dense f64 [n, n] = random(seed=3)
S(i,j) = sum(k: R(i,k) * R(j,k)) + (i == j)
b(i) = R(i, 0) + 1
(x, steps) = cg(S, b, 1e-13)
assert norm(i: b(i) - sum(j: S(i,j) * x(j))) < 1e-8, "cg"
N(i,j) = R(i,j) + 8.0 * (i == j)
(y, k) = gmres(N, b, 1e-12, n)
assert norm(i: b(i) - sum(j: N(i,j) * y(j))) < 1e-9, "gmres"
assert k < n, "gmres converges"
(value, v) = power_method(S, 300)
assert norm(i: sum(j: S(i,j) * v(j)) - value * v(i)) < 1e-6 * value, "power_method"
tensor A dense f64 = [[1,-2,0],[3,4,5]]
tensor B dense f64 = [[0,5],[6,7]]
one = norm_one(A)
rows = norm_inf(A)
all_of_it = norm_frobenius(A)
assert one == 6 && rows == 12 && abs(all_of_it - sqrt(55)) < 1e-12, "norms"
K = kron(A, B)
assert size(K,0) == 4 && size(K,1) == 6, "kron: its shape"
wrong = 0
for i in 0:2 { for j in 0:3 { for p in 0:2 { for q in 0:2 {
  wrong += K(2*i + p, 2*j + q) != A(i,j) * B(p,q)
} } } }
assert wrong == 0, "kron"
tensor C dense f64 = [[9,8,7]]
tensor D dense f64 = [[-1,-2]]
M = blocks(A, B, C, D)
assert size(M,0) == 3 && size(M,1) == 5, "blocks: the shape"
tensor want dense f64 = [[1,-2,0,0,5],[3,4,5,6,7],[9,8,7,-1,-2]]
assert all(i,j: M(i,j) == want(i,j)), "blocks"
END

# A textbook's conjugate gradients, pasted as it is: without sum(…) in the denominator it is
# noted what that means; with it, it converges.
cat >"$dir/cg.stc" <<'END'
tensor A csr = "plate.mtx"
tensor r dense f64 [36] = 1
p(i) = r(i)
alpha = r(i) * r(i) / (p(i) * A(i,j) * p(j))
END
cp samples/plate.mtx "$dir"
"$tool" "$dir/cg.stc" 2>&1 | grep -q "cg.stc:4:9: note: j is summed over the whole term, outside /" || {
    failures=$((failures + 1))
    echo "FAILED: a textbook's alpha isn't noted"
    "$tool" "$dir/cg.stc" 2>&1 | head -3
}

# All of it: with sum(…) it converges in as many steps as there are unknowns at most; without,
# it ends in what is no number, and was noted.
textbook() { # the denominator
    cat <<END
tensor A csr = "plate.mtx"
n = size(A, 0)
tensor b dense f64 [n] = 1
x(i in 0:n) = 0.0
r(i) = b(i)
p(i) = r(i)
rho = r(i) * r(i)
for k in 0:n {
  if (sqrt(rho) < 1e-10) { break }
  w(i) = A(i,j) * p(j)
  alpha = rho / $1
  x(i) = x(i) + alpha * p(i)
  r(i) = r(i) - alpha * w(i)
  new = r(i) * r(i)
  p(i) = r(i) + new / rho * p(i)
  rho = new
}
assert norm(i: b(i) - sum(j: A(i,j) * x(j))) < 1e-9, "converged"
END
}
textbook 'sum(i: p(i) * w(i))' >"$dir/cg.stc"
"$tool" "$dir/cg.stc" >"$dir/log" 2>&1 && [ ! -s "$dir/log" ] || {
    failures=$((failures + 1))
    echo "FAILED: a textbook's gradients don't converge, or are noted"
    head -3 "$dir/log"
}
textbook '(p(i) * w(i))' >"$dir/cg.stc"
"$tool" "$dir/cg.stc" >"$dir/log" 2>&1
grep -q "cg.stc:11:11: note: i is summed over the whole term, outside /" "$dir/log" || {
    failures=$((failures + 1))
    echo "FAILED: gradients that don't converge aren't noted"
    head -3 "$dir/log"
}

[ "$failures" -eq 0 ] || { echo "check_library: $failures failed"; exit 1; }
echo "check_library: graphs and linear algebra are right"
