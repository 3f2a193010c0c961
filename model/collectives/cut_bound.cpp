#include "model/collectives/cut_bound.hpp"

#include <algorithm>
#include <limits>

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

    // Runs from s to t; afterwards reached() tells the sending side.
    double run(NodeId s, NodeId t) {
        for (std::size_t i = 0; i < arcs_.size(); ++i) arcs_[i].left = capacity_[i];
        double total = 0;
        while (search(s, t)) {
            double room = std::numeric_limits<double>::max();
            for (NodeId at = t; at != s; at = before(at)) room = std::min(room, arcs_[arrived_[at]].left);
            for (NodeId at = t; at != s; at = before(at)) {
                arcs_[arrived_[at]].left -= room;
                arcs_[arrived_[at] ^ 1].left += room;
            }
            total += room;
        }
        return total;
    }

    bool reached(NodeId node) const { return arrived_[node] != kNone; }

  private:
    struct Arc {
        NodeId to;
        double left;
    };
    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max(), kSource = kNone - 1;
    static constexpr double kNothing = 1;  // bytes per second

    NodeId before(NodeId node) const { return arcs_[arrived_[node] ^ 1].to; }

    bool search(NodeId s, NodeId t) {
        arrived_.assign(out_.size(), kNone);
        arrived_[s] = kSource;
        queue_.assign(1, s);
        for (std::size_t i = 0; i < queue_.size(); ++i)
            for (const std::size_t arc : out_[queue_[i]]) {
                const NodeId to = arcs_[arc].to;
                if (arcs_[arc].left < kNothing || arrived_[to] != kNone) continue;
                arrived_[to] = arc;
                if (to == t) return true;
                queue_.push_back(to);
            }
        return false;
    }

    std::vector<Arc> arcs_;
    std::vector<double> capacity_;
    std::vector<std::vector<std::size_t>> out_;
    std::vector<std::size_t> arrived_;
    std::vector<NodeId> queue_;
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

}  // namespace

std::vector<Cut> cuts_between(const Machine& machine, const std::vector<int>& local_gpus, bool alike) {
    const int ranks = static_cast<int>(local_gpus.size());
    std::vector<Cut> cuts;
    if (ranks < 2) return cuts;
    std::vector<NodeId> nodes;
    for (const int gpu : local_gpus) nodes.push_back(machine.gpu(gpu).node);
    for (const NodeId node : nodes) {
        const bool root = node == nodes.front();
        cuts.push_back({1, root, rate_out(machine.graph, node)});
        cuts.push_back({ranks - 1, !root, rate_in(machine.graph, node)});
    }
    Flow flow(machine.graph);
    const auto add_cut = [&](NodeId from, NodeId to) {
        const double capacity = flow.run(from, to);
        const auto inside =
            std::count_if(nodes.begin(), nodes.end(), [&](NodeId node) { return flow.reached(node); });
        cuts.push_back({static_cast<int>(inside), from == nodes.front(), capacity});
    };
    for (std::size_t other = 1; other < (alike ? 2 : nodes.size()); ++other) {
        add_cut(nodes[0], nodes[other]);
        add_cut(nodes[other], nodes[0]);
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
