// demo.cpp: page ranks with stcvm.hpp, on arrays of this program's own; and its test: it ends
// with 1 if anything isn't as it should be.
#include "stcvm.hpp"
#include <cmath>
#include <cstdio>

static int failed;

static void expect(bool holds, const char *what)
{
    if (holds) return;
    std::printf("not so: %s\n", what);
    failed = 1;
}

static void ranks(stcvm::machine &m)
{
    // 0 -> 1, 2; 1 -> 2; 2 -> 0: by columns the share of each link, in arrays lent as csr.
    std::vector<std::int32_t> pos{0, 1, 2, 4}, crd{2, 0, 0, 1};
    std::vector<double> share{1, 0.5, 0.5, 1}, rank(3, 1.0 / 3);
    auto P = m.make("csr", STC_F64, {3, 3});
    P.lend<std::int32_t>(1, STC_POS, pos).lend<std::int32_t>(1, STC_CRD, crd);
    P.lend_values<double>(share);
    auto r = m.lend<double>(rank, {3});
    auto p = m.compile("n(i) = 0.85 * P(i,j) * r(j) + 0.05", {{"P", "csr"}, {"r"}});
    p.bind("P", P).bind("r", r);
    for (int k = 0; k < 100; k++) {
        p.run();
        const auto n = p.result<double>("n");
        rank.assign(n.begin(), n.end());
        r.touch_values();
    }
    std::printf("ranks: %.4f %.4f %.4f\n", rank[0], rank[1], rank[2]);
    expect(std::fabs(rank[0] + rank[1] + rank[2] - 1) < 1e-12, "ranks are 1 together");
    expect(rank[2] > rank[0] && rank[0] > rank[1], "page 2 is first, page 1 last");
}

static void entries(stcvm::machine &m)
{
    auto A = m.coords<std::int64_t>("dcsr", {4, 4}, {{0, 3, 3}, {1, 0, 0}}, {5, 6, 7});
    expect(A.stored() == 2 && A.format() == "dcsr", "entries at one place are summed");
    auto p = m.compile("C(i,j) = A(i,k) * A(k,j)", {{"A", "dcsr", STC_I64}});
    auto C = p.bind("A", A).run().take("C");
    const auto c = C.dense<std::int64_t>();
    expect(c.size() == 16 && c[13] == 65 && C.stored() == 1, "C(3,1) is 13 * 5");
    try {
        C.values<double>();
        expect(false, "a wrong type is refused");
    } catch (const std::invalid_argument &) {
    }
}

int main()
{
    stcvm::machine m;
    ranks(m);
    entries(m);
    try {
        m.compile("y(i) = A(i,j) *", {{"A", "csr"}});
        expect(false, "a wrong text is refused");
    } catch (const stcvm::error &e) {
        expect(e.status == STC_ERR_SYNTAX && e.line == 1, "an error has its place");
    }
    std::printf("%s\n", failed ? "failed" : "all as it should be");
    return failed;
}
