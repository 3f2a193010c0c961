#include "model/topology/smi/spreadsheet.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "model/topology/smi/tokens.hpp"

namespace wirewise::smi {
namespace {

std::string upper(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::toupper(c); });
    return out;
}

// A separator within quotes belongs to the cell ("0-15,32-47").
std::vector<std::string> cells_of(const std::string& line, char separator) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"')
            quoted = !quoted;
        else if (c == separator && !quoted)
            cells.emplace_back();
        else
            cells.back() += c;
    }
    for (std::string& cell : cells) {
        cell.erase(0, std::min(cell.size(), cell.find_first_not_of(" \t")));
        cell.erase(cell.find_last_not_of(" \t") + 1);
    }
    return cells;
}

bool is_name(const std::string& cell) { return is_device_name(cell) || is_gpu_name(upper(cell)); }

// Names of devices, one of them a GPU, before any heading of affinity.
bool is_header(const std::vector<std::string>& cells) {
    bool gpu = false;
    std::size_t names = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (cells[i].empty() && i == 0) continue;
        if (!is_name(cells[i]))
            return gpu && names > 0 && upper(cells[i]).find("AFFINITY") != std::string::npos;
        gpu |= is_gpu_name(upper(cells[i]));
        ++names;
    }
    return gpu && names > 0 && cells.size() > 1;
}

std::optional<char> separator_of(const std::string& line) {
    for (const char separator : {',', ';'})
        if (line.find(separator) != std::string::npos && is_header(cells_of(line, separator)))
            return separator;
    return std::nullopt;
}

std::string joined(const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) line += (i > 0 ? "\t" : "") + cells[i];
    return line;
}

bool is_class(const std::string& word) {
    static constexpr std::string_view words[] = {"X", "SYS", "SOC", "NODE", "PHB", "PXB", "PIX"};
    if (std::find(std::begin(words), std::end(words), word) != std::end(words)) return true;
    return word.size() > 2 && word.starts_with("NV") &&
           std::all_of(word.begin() + 2, word.end(), [](unsigned char c) { return std::isdigit(c); });
}

// The words of a line between gaps, each as `change` would have it.
template <class Change>
std::string by_word(const std::string& line, Change&& change) {
    std::string out;
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t word = std::min(line.size(), line.find_first_not_of(" \t", at));
        const std::size_t end = std::min(line.size(), line.find_first_of(" \t", word));
        out.append(line, at, word - at).append(change(line.substr(word, end - word)));
        at = end;
    }
    return out;
}

// Rows and headers only: a line whose first word names a device.
std::string with_capitals(const std::string& line) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos) return line;
    const std::string name = line.substr(first, line.find_first_of(" \t", first) - first);
    if (!is_name(name)) return line;
    return by_word(line, [](const std::string& word) {
        const std::string raised = upper(word);
        if (raised == "AFFINITY") return std::string("Affinity");
        const bool known = is_class(raised) || is_gpu_name(raised) || raised == "CPU" || raised == "NUMA" ||
                           (raised.starts_with("NIC") && is_device_name(raised));
        return known ? raised : word;
    });
}

}  // namespace

void undo_spreadsheet(std::vector<std::string>& lines, Repairs& repairs) {
    std::optional<char> separator;
    for (std::string& line : lines) {
        if (const auto found = separator_of(line)) {
            separator = found;
            repairs.note(*separator == ',' ? "commas between cells taken as gaps"
                                           : "semicolons between cells taken as gaps");
            line = joined(cells_of(line, *separator));
        } else if (separator && line.find(*separator) != std::string::npos) {
            const std::vector<std::string> cells = cells_of(line, *separator);
            if (is_name(cells.front())) line = joined(cells);
        }
        const std::string raised = with_capitals(line);
        if (raised != line) repairs.note("small letters of names and cells raised");
        line = raised;
    }
}

}  // namespace wirewise::smi
