#include "model/topology/smi/affinity.hpp"

#include <algorithm>

namespace wirewise::smi {
namespace {

struct Cell {
    std::string text;
    std::size_t at;  // on the line
};

std::vector<Cell> words_of(const std::string& rest, std::size_t offset) {
    std::vector<Cell> cells;
    for (std::size_t at = rest.find_first_not_of(" \t"); at != std::string::npos;) {
        const std::size_t end = std::min(rest.find_first_of(" \t", at), rest.size());
        cells.push_back({rest.substr(at, end - at), offset + at});
        at = rest.find_first_not_of(" \t", end);
    }
    return cells;
}

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Tab-separated cells, blanks kept. nvidia-smi writes one tab too many before an "N/A" and before the last
// column.
std::vector<std::string> tab_cells(const std::string& rest, std::size_t columns) {
    std::vector<std::string> cells;
    const std::size_t start = rest.find('\t');
    for (std::size_t at = start; at != std::string::npos;) {
        const std::size_t next = rest.find('\t', at + 1);
        const std::size_t length = next == std::string::npos ? next : next - at - 1;
        cells.push_back(trimmed(rest.substr(at + 1, length)));
        at = next;
    }
    for (std::size_t i = 0; i + 1 < cells.size();)
        if (cells[i].empty() && cells[i + 1] == "N/A")
            cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(i));
        else
            ++i;
    if (cells.size() == columns + 1 && columns > 1 && cells[columns - 1].empty())
        cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(columns - 1));
    return cells;
}

// Fewer words than headings: each goes under the heading that begins nearest, in order.
std::vector<std::string> placed(const std::vector<Cell>& words, const Header& header) {
    std::vector<std::string> cells(header.affinity.size());
    std::size_t first = 0;
    for (std::size_t i = 0; i < words.size() && first < cells.size(); ++i) {
        const std::size_t last = cells.size() - (words.size() - i);  // leaves room for the words after it
        std::size_t best = first;
        const auto distance = [&](std::size_t column) {
            if (column >= header.affinity_at.size()) return column;
            const std::size_t at = header.affinity_at[column];
            return at > words[i].at ? at - words[i].at : words[i].at - at;
        };
        for (std::size_t column = first; column <= last && column < cells.size(); ++column)
            if (distance(column) < distance(best)) best = column;
        cells[best] = words[i].text;
        first = best + 1;
    }
    return cells;
}

}  // namespace

Affinity affinity_of(const Row& row, const Header& header) {
    const std::size_t columns = header.affinity.size();
    const std::vector<Cell> words = words_of(row.rest, row.rest_at);
    std::vector<std::string> cells;
    if (row.rest.find('\t') != std::string::npos) {
        cells = tab_cells(row.rest, columns);
    } else if (words.size() < columns) {
        cells = placed(words, header);
    } else {
        for (const Cell& word : words) cells.push_back(word.text);
    }
    Affinity affinity;
    for (std::size_t i = 0; i < columns; ++i) {
        const bool blank = i >= cells.size() || cells[i].empty();
        affinity.emplace_back(header.affinity[i], blank ? std::nullopt : std::optional(cells[i]));
    }
    return affinity;
}

}  // namespace wirewise::smi
