#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "model/collectives/pricer.hpp"
#include "tests/collectives/boxes.hpp"
using namespace wirewise;
using namespace wirewise::test;
static void show(const char* name, const Machine& m, std::vector<int> g,
                 CollectiveKind k = CollectiveKind::all_reduce, NcclEnvironment e = {}, double bytes = 8e9) {
    auto t0 = std::chrono::steady_clock::now();
    CollectivePricer p(m, e, {g});
    auto t1 = std::chrono::steady_clock::now();
    auto r = p.price(k, Bytes((long)bytes));
    fmt::print("{:28} n={} {:12} {:7.1f} GB/s bound {:6.1f} {} {} {} | {} | ch {} | build {:.0f} us\n", name,
               g.size(), name_of(k), r.busbw.value() / 1e9, r.bound_busbw.value() / 1e9, r.algorithm,
               r.protocol, r.transport, r.bottleneck, r.channels,
               std::chrono::duration<double>(t1 - t0).count() * 1e6);
}
TEST(Scratch, show) {
    NcclEnvironment no;
    no.nvls = false;
    using K = CollectiveKind;
    Machine h = switch_box(h200(), 8), a = switch_box(a100(), 8), b = switch_box(b200(), 8);
    for (int n = 2; n <= 8; ++n) {
        show("h200 ring", h, first(n), K::all_reduce, no);
        show("h200", h, first(n));
    }
    for (auto k : {K::all_gather, K::reduce_scatter, K::broadcast, K::all_to_all, K::send_recv})
        show("h200 pair", h, first(2), k, no);
    for (int n : {2, 4, 8}) show("a100", a, first(n));
    for (int n : {4, 5, 6, 7, 8}) show("b200", b, first(n));
    for (int n : {4, 8}) show("b200 ring", b, first(n), K::all_reduce, no);
    Machine v = cube_mesh();
    show("v100", v, {0, 1});
    show("v100", v, {0, 1, 2});
    show("v100", v, {0, 1, 2, 3});
    show("v100", v, {0, 1, 2, 3, 4});
    show("v100", v, {0, 1, 2, 3, 4, 5});
    show("v100", v, {0, 1, 2, 3, 4, 5, 6});
    show("v100", v, first(8));
    Machine g = bridge_groups(h200(), 2, 4, 6, CpuKind::intel_emerald_rapids);
    show("nvl group", g, {0, 1, 2, 3});
    show("nvl 3", g, {0, 1, 2});
    show("nvl pair", g, {0, 1});
    show("1+1", g, {0, 4});
    show("2+2", g, {2, 3, 4, 5});
    show("4+4", g, first(8));
    Machine t = pcie_box(geforce(), 1, 1, 2, CpuKind::intel_skylake);
    for (auto k : {K::all_reduce, K::all_gather, K::broadcast, K::all_to_all})
        show("geforce PIX", t, {0, 1}, k);
    Machine f = pcie_box(geforce(), 2, 4, 1, CpuKind::amd_epyc);
    show("4090 8", f, first(8));
    show("4090 4", f, first(4));
    Machine pp = pcie_box(a100(), 2, 2, 2, CpuKind::amd_epyc);
    show("a100 pcie 8 PIX", pp, first(8));
    show("a100 pcie 2", pp, first(2));
    show("a100 pcie 4", pp, first(4));
}
