#include "model/topology/smi/blocks.hpp"

#include <algorithm>

namespace wirewise::smi {
namespace {

bool names_column(const Header& header, const std::string& device) {
    return std::find(header.devices.begin(), header.devices.end(), device) != header.devices.end();
}

// Far beyond any real paste: what exceeds them is no matrix, and is passed over.
constexpr std::size_t kLongestLine = 8192, kMostRows = 512, kMostBlocks = 1024;

class Cutter {
  public:
    explicit Cutter(Repairs& repairs) : repairs_(repairs) {}

    void take(const std::string& line) {
        ++line_;
        if (line.size() > kLongestLine) return;
        if (auto row = row_in(line)) {
            row->line = line_;
            return take_row(*row);
        }
        if (widens_header(line) || lengthens_row(line)) return repairs_.note("wrapped lines joined");
        if (auto header = header_in(line)) {
            if (header->fused) repairs_.note("column names that ran together told apart");
            if (blocks_.size() < kMostBlocks) blocks_.push_back({std::move(*header), {}});
        }
    }

    std::vector<Block> blocks() && {
        const bool rows =
            std::any_of(blocks_.begin(), blocks_.end(), [](const Block& b) { return !b.rows.empty(); });
        std::erase_if(blocks_, [&](const Block& block) {
            return block.rows.empty() && (rows || block.header->affinity.empty());
        });
        return std::move(blocks_);
    }

  private:
    void take_row(const Row& row) {
        if (!blocks_.empty() && blocks_.back().rows.size() >= kMostRows) return;
        if (row.fused) repairs_.note("cells that ran together told apart");
        if (row.prefixed) repairs_.note("words in front of the rows taken off");
        if (blocks_.empty() || (starts_another(row) && blocks_.size() < kMostBlocks)) blocks_.emplace_back();
        blocks_.back().rows.push_back(row);
    }

    // A row of another kind, or the same device again: a second matrix whose header was lost.
    bool starts_another(const Row& row) const {
        const Block& block = blocks_.back();
        if (block.rows.empty()) return false;
        if (row.kind != block.kind()) return true;
        return std::any_of(block.rows.begin(), block.rows.end(),
                           [&](const Row& before) {
                               return before.device == row.device && before.cells != row.cells;
                           }) &&
               block.whole();
    }

    // NIC columns that went to the next line.
    bool widens_header(const std::string& line) {
        if (blocks_.empty() || !blocks_.back().header || !blocks_.back().rows.empty()) return false;
        Header& header = *blocks_.back().header;
        if (!header.affinity.empty()) return false;
        const auto more = header_in(line, true);
        if (!more || names_column(header, more->devices.front())) return false;
        header.devices.insert(header.devices.end(), more->devices.begin(), more->devices.end());
        header.affinity = more->affinity;
        header.affinity_at.clear();  // columns of another line
        return true;
    }

    bool lengthens_row(const std::string& line) {
        if (blocks_.empty() || blocks_.back().rows.empty() || !blocks_.back().header) return false;
        Row& row = blocks_.back().rows.back();
        const std::size_t width = blocks_.back().header->devices.size();
        if (row.kind != CellKind::connection || row.cells.size() >= width) return false;
        const auto more = row_continuation_in(line);
        if (!more || row.cells.size() + more->cells.size() > width) return false;
        row.cells.insert(row.cells.end(), more->cells.begin(), more->cells.end());
        row.rest = more->rest;
        return true;
    }

    Repairs& repairs_;
    std::vector<Block> blocks_;
    std::size_t line_ = 0;
};

}  // namespace

bool Block::whole() const {
    if (!header) return false;
    return std::all_of(header->devices.begin(), header->devices.end(), [&](const std::string& device) {
        return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
            return row.device == device && row.cells.size() == header->devices.size();
        });
    });
}

std::vector<Block> blocks_in(const std::vector<std::string>& lines, Repairs& repairs) {
    Cutter cutter(repairs);
    for (const std::string& line : lines) cutter.take(line);
    return std::move(cutter).blocks();
}

}  // namespace wirewise::smi
