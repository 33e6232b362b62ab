"""graphs.py NAME GRAPH.mtx RESULT [SOURCE]: checks what a graph sample computed.

The algorithms here share nothing with the samples': adjacency lists, a queue,
a heap, union-find, sets. Exit status 1 and a line if the result differs.
"""
import heapq
import math
import sys
from collections import deque


def read(path):
    with open(path) as f:
        head = f.readline().split()
        lines = [s.split() for s in f if s.strip() and not s.startswith("%")]
    n = int(lines[0][0])
    out = [dict() for _ in range(n)]
    for e in lines[1:]:
        i, j = int(e[0]) - 1, int(e[1]) - 1
        w = float(e[2]) if len(e) > 2 else 1.0
        out[i][j] = out[i].get(j, 0) + w
        if head[4] == "symmetric" and i != j:
            out[j][i] = out[j].get(i, 0) + w
    return out


def bfs(out):
    level = [-1] * len(out)
    level[0] = 0
    queue = deque([0])
    while queue:
        i = queue.popleft()
        for j, w in out[i].items():
            if w != 0 and level[j] < 0:
                level[j] = level[i] + 1
                queue.append(j)
    return level


def bellman_ford(out):
    """Dijkstra's algorithm: the graphs tested have no negative weights."""
    way = [math.inf] * len(out)
    way[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        d, i = heapq.heappop(heap)
        if d > way[i]:
            continue
        for j, w in out[i].items():
            if d + w < way[j]:
                way[j] = d + w
                heapq.heappush(heap, (d + w, j))
    return way


def pagerank(out):
    n = len(out)
    rank = [1.0 / n] * n
    links = [[j for j, w in row.items() if w != 0] for row in out]
    for _ in range(200):
        new = [0.0] * n
        lost = 0.0
        for to, own in zip(links, rank):
            if not to:
                lost += own
                continue
            share = own / len(to)
            for j in to:
                new[j] += share
        new = [0.85 * (x + lost / n) + 0.15 / n for x in new]
        change = sum(abs(a - b) for a, b in zip(new, rank))
        rank = new
        if change <= 1e-12:
            break
    return rank


def both_ways(out):
    near = [set() for _ in out]
    for i, row in enumerate(out):
        for j, w in row.items():
            if w != 0 and i != j:
                near[i].add(j)
                near[j].add(i)
    return near


def triangles(out):
    near = both_ways(out)
    return [sum(len(near[i] & near[j]) for i in range(len(near)) for j in near[i]) / 6]


def components(out):
    up = list(range(len(out)))

    def find(i):
        while up[i] != i:
            up[i] = up[up[i]]
            i = up[i]
        return i

    for i, row in enumerate(both_ways(out)):
        for j in row:
            a, b = find(i), find(j)
            up[max(a, b)] = min(a, b)
    return [find(i) for i in range(len(out))]


def main():
    name, graph, path = sys.argv[1:4]
    want = globals()[name](read(graph))
    with open(path) as f:
        got = [float(s) for s in f if not s.startswith("%") and len(s.split()) == 1]
    if len(got) != len(want):
        sys.exit(f"{name} {graph}: {len(got)} numbers instead of {len(want)}")
    for k, (a, b) in enumerate(zip(got, want)):
        if a != b and not abs(a - b) <= 1e-9 * max(abs(b), 1e-3):
            sys.exit(f"{name} {graph}: at {k}: {a} instead of {b}")


main()
