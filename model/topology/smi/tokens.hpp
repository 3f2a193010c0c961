// The words of a topo -m matrix: device names, connection classes, affinity headings. Words that lost the gap
// between them are told apart here, because every word's beginning is known.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/topology/machine.hpp"

namespace wirewise::smi {

constexpr std::size_t kMostDevices = 128;  // of one server; real ones have 16 GPUs and some 40 NICs

struct PrintedClass {
    PathClass path = PathClass::self;
    int nvlinks = 0;  // the # of NV#

    bool operator==(const PrintedClass&) const = default;
};
std::string to_text(const PrintedClass& printed);  // "NV12", "SYS"

// What kind of matrix a row belongs to.
enum class CellKind : std::uint8_t { connection, peer_access, number };

struct Header {
    std::vector<std::string> devices;      // column names: GPU0 ... mlx5_0 ... NIC0 ...
    std::vector<std::string> affinity;     // "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"
    std::vector<std::size_t> affinity_at;  // where each heading begins on the line
    bool fused = false;                    // names had no gap between them
    bool cut = false;                      // the line ends within a name
};

struct Row {
    std::string device;
    CellKind kind = CellKind::connection;
    std::vector<PrintedClass> cells;  // of a connection row
    std::vector<bool> peers;          // of a peer-access row: OK or refused (self is OK)
    std::string rest;                 // what follows the cells, its leading gap included
    std::size_t rest_at = 0;          // where that stood on the line
    std::size_t line = 0;             // of the text, from 1
    bool fused = false, prefixed = false;
};

bool is_device_name(std::string_view word);
bool is_gpu_name(std::string_view word);

// Nothing: the line is not one. A line of column names without any GPU is a header only as a `continuation`.
std::optional<Header> header_in(std::string_view line, bool continuation = false);
std::optional<Row> row_in(std::string_view line);

// The cells a line holds when it is the wrapped-over end of the row before it.
std::optional<Row> row_continuation_in(std::string_view line);

}  // namespace wirewise::smi
