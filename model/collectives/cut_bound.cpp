#include "model/collectives/cut_bound.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "model/topology/disjoint_sets.hpp"
#include "model/topology/routes.hpp"

namespace wirewise {
namespace {

// Augmenting paths, shortest first, on a plain arc list; machines have tens of nodes.
class Flow {
  public:
    explicit Flow(const MachineGraph& graph) : out_(boost::num_vertices(graph)) {
        for (auto [link, end] = boost::edges(graph); link != end; ++link) {
            const NodeId from = boost::source(*link, graph), to = boost::target(*link, graph);
            arcs_.push_back({to, graph[*link].wire_rate.value()});
            arcs_.push_back({from, 0});
            out_[from].push_back(arcs_.size() - 2);
            out_[to].push_back(arcs_.size() - 1);
        }
        for (const Arc& arc : arcs_) capacity_.push_back(arc.left);
    }

    // The most that `from` can send to `to`: the min-cut between the two sets.
    double run(const std::vector<NodeId>& from, const std::vector<NodeId>& to) {
        for (std::size_t i = 0; i < arcs_.size(); ++i) arcs_[i].left = capacity_[i];
        sink_.assign(out_.size(), false);
        for (const NodeId node : to) sink_[node] = true;
        double total = 0;
        while (const std::optional<NodeId> end = search(from)) {
            double room = std::numeric_limits<double>::max();
            for (NodeId at = *end; arrived_[at] != kSource; at = before(at))
                room = std::min(room, arcs_[arrived_[at]].left);
            for (NodeId at = *end; arrived_[at] != kSource; at = before(at)) {
                arcs_[arrived_[at]].left -= room;
                arcs_[arrived_[at] ^ 1].left += room;
            }
            total += room;
        }
        return total;
    }

  private:
    struct Arc {
        NodeId to;
        double left;
    };
    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max(), kSource = kNone - 1;
    static constexpr double kNothing = 1;  // bytes per second

    NodeId before(NodeId node) const { return arcs_[arrived_[node] ^ 1].to; }

    std::optional<NodeId> search(const std::vector<NodeId>& from) {
        arrived_.assign(out_.size(), kNone);
        queue_ = from;
        for (const NodeId node : from) arrived_[node] = kSource;
        for (std::size_t i = 0; i < queue_.size(); ++i)
            for (const std::size_t arc : out_[queue_[i]]) {
                const NodeId to = arcs_[arc].to;
                if (arcs_[arc].left < kNothing || arrived_[to] != kNone) continue;
                arrived_[to] = arc;
                if (sink_[to]) return to;
                queue_.push_back(to);
            }
        return std::nullopt;
    }

    std::vector<Arc> arcs_;
    std::vector<double> capacity_;
    std::vector<std::vector<std::size_t>> out_;
    std::vector<std::size_t> arrived_;
    std::vector<NodeId> queue_;
    std::vector<bool> sink_;
};

double rate_out(const MachineGraph& graph, NodeId node) {
    double sum = 0;
    for (auto [link, end] = boost::out_edges(node, graph); link != end; ++link)
        sum += graph[*link].wire_rate.value();
    return sum;
}

double rate_in(const MachineGraph& graph, NodeId node) {
    double sum = 0;
    for (auto [link, end] = boost::in_edges(node, graph); link != end; ++link)
        sum += graph[*link].wire_rate.value();
    return sum;
}

using Members = std::vector<bool>;  // by rank

// Path class of every pair of ranks, a row each.
std::vector<std::vector<PathClass>> classes_of(const Machine& machine, const std::vector<int>& gpus) {
    std::vector<std::vector<PathClass>> classes(gpus.size());
    for (std::size_t a = 0; a < gpus.size(); ++a) {
        const HostRoutes routes(machine, machine.gpu(gpus[a]).node);
        for (const int to : gpus)
            classes[a].push_back(nvlink_count(machine, gpus[a], to) > 0
                                     ? PathClass::nvlink
                                     : class_of_route(machine.graph, routes.to(machine.gpu(to).node)));
    }
    return classes;
}

// Single ranks, NVLink islands, ranks of a PCIe switch, host bridge, NUMA node: what the wiring sets apart.
// It does not depend on rates, so that more of them never lowers the bound.
std::set<Members> parts_of(const Machine& machine, const std::vector<int>& gpus) {
    const auto classes = classes_of(machine, gpus);
    std::set<Members> parts;
    for (const PathClass path : {PathClass::self, PathClass::nvlink, PathClass::pix, PathClass::pxb,
                                 PathClass::phb, PathClass::node}) {
        DisjointSets sets(gpus.size());
        for (std::size_t a = 0; a < gpus.size(); ++a)
            for (std::size_t b = a + 1; b < gpus.size(); ++b)
                if (classes[a][b] <= path) sets.join(a, b);
        std::map<std::size_t, Members> joined;
        for (std::size_t rank = 0; rank < gpus.size(); ++rank)
            joined.try_emplace(sets.root(rank), gpus.size(), false).first->second[rank] = true;
        for (auto& [root, members] : joined) parts.insert(std::move(members));
    }
    parts.erase(Members(gpus.size(), true));
    return parts;
}

// Max-flows of more single ranks than this would cost more than they tell.
constexpr std::size_t kMostFlows = 32;

}  // namespace

std::vector<Cut> cuts_between(const Machine& machine, const std::vector<int>& local_gpus) {
    std::vector<Cut> cuts;
    if (local_gpus.size() < 2) return cuts;
    const int ranks = static_cast<int>(local_gpus.size());
    Flow flow(machine.graph);
    for (const Members& members : parts_of(machine, local_gpus)) {
        std::vector<NodeId> inside, outside;
        for (std::size_t rank = 0; rank < local_gpus.size(); ++rank)
            (members[rank] ? inside : outside).push_back(machine.gpu(local_gpus[rank]).node);
        const int count = static_cast<int>(inside.size());
        const bool quick = count == 1 && local_gpus.size() > kMostFlows;
        cuts.push_back({count, members.front(),
                        quick ? rate_out(machine.graph, inside.front()) : flow.run(inside, outside)});
        cuts.push_back({ranks - count, !members.front(),
                        quick ? rate_in(machine.graph, inside.front()) : flow.run(outside, inside)});
    }
    return cuts;
}

double seconds_per_byte_over(const Cut& cut, CollectiveKind kind, int ranks) {
    const double n = ranks, inside = cut.inside, outside = n - inside;
    if (cut.capacity <= 0 && (kind != CollectiveKind::broadcast || cut.sends_root))
        return std::numeric_limits<double>::infinity();
    switch (kind) {
        case CollectiveKind::all_reduce:
        case CollectiveKind::send_recv:
            return 1 / cut.capacity;
        case CollectiveKind::broadcast:
            return cut.sends_root ? 1 / cut.capacity : 0;  // nothing need come back to the root
        case CollectiveKind::all_gather:
            return inside / n / cut.capacity;  // what the sending side owns
        case CollectiveKind::reduce_scatter:
            return outside / n / cut.capacity;  // what the other side will own
        case CollectiveKind::all_to_all:
            return inside * outside / n / cut.capacity;
    }
    return 0;
}

}  // namespace wirewise
