// A text cut into its matrices: each a header (unless lost) and the rows below it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/topology/smi/clean.hpp"
#include "model/topology/smi/tokens.hpp"

namespace wirewise::smi {

struct Block {
    std::optional<Header> header;
    std::vector<Row> rows;

    CellKind kind() const { return rows.empty() ? CellKind::connection : rows.front().kind; }
    bool whole() const;  // a row for every column, and each as long as the header
};

// Blocks without rows are left out, unless the text holds nothing but the header of a topo -m matrix.
std::vector<Block> blocks_in(const std::vector<std::string>& lines, Repairs& repairs);

}  // namespace wirewise::smi
