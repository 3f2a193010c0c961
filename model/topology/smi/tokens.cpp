#include "model/topology/smi/tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace wirewise::smi {
namespace {

constexpr std::size_t kMostWordsAhead = 16;  // of a prompt, a time stamp or a rank in front of a line
constexpr int kMostNvlinks = 36;             // of one GPU: NVLink 6

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_gap(char c) { return c == ' ' || c == '\t'; }

std::size_t digits_at(std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && is_digit(text[end])) ++end;
    return end - at;
}

std::size_t skip_gap(std::string_view line, std::size_t at) {
    while (at < line.size() && is_gap(line[at])) ++at;
    return at;
}

std::size_t word_end(std::string_view line, std::size_t at) {
    while (at < line.size() && !is_gap(line[at])) ++at;
    return at;
}

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    for (std::size_t at = skip_gap(line, 0); at < line.size();) {
        const std::size_t end = word_end(line, at);
        words.push_back(line.substr(at, end - at));
        at = skip_gap(line, end);
    }
    return words;
}

// "GPU12" or "NIC3" at the front: its length, else 0.
std::size_t numbered(std::string_view text, std::string_view stem) {
    if (!text.starts_with(stem)) return 0;
    const std::size_t digits = digits_at(text, stem.size());
    return digits == 0 || digits > 4 ? 0 : stem.size() + digits;
}

std::optional<PrintedClass> take_class(std::string_view& text);

bool begins_class(std::string_view text) { return take_class(text).has_value(); }

// A NIC under its own name (mlx5_0, rocep25s0f0, hfi1_0): a small letter first ("A100-SXM4" is none), a digit
// in it, up to where another name or a connection class (capitals, which NIC names do not have) begins.
std::size_t nic_name(std::string_view text) {
    if (text.empty() || !std::islower(static_cast<unsigned char>(text.front()))) return 0;
    std::size_t end = 1;
    bool digit = false;
    for (; end < text.size(); ++end) {
        const std::string_view rest = text.substr(end);
        if (rest.starts_with("mlx") || numbered(rest, "GPU") || numbered(rest, "NIC") ||
            rest.starts_with("CPU"))
            break;
        if (digit && begins_class(rest)) break;
        const auto c = static_cast<unsigned char>(text[end]);
        if (!std::isalnum(c) && c != '_' && c != '-' && c != '.') return 0;
        digit = digit || std::isdigit(c);
    }
    return digit ? end : 0;
}

std::size_t device_name(std::string_view text) {
    if (const std::size_t gpu = numbered(text, "GPU")) return gpu;
    if (const std::size_t nic = numbered(text, "NIC")) return nic;
    return nic_name(text);
}

struct ClassWord {
    std::string_view word;
    PathClass path;
};
// SOC is the old drivers' SYS.
constexpr ClassWord kClasses[] = {{"NODE", PathClass::node}, {"SYS", PathClass::sys}, {"SOC", PathClass::sys},
                                  {"PXB", PathClass::pxb},   {"PIX", PathClass::pix}, {"PHB", PathClass::phb},
                                  {"X", PathClass::self}};
// Status words of `topo -p2p`: OK, chipset / GPU / topology not supported, not supported, disabled, unknown.
constexpr std::string_view kPeerWords[] = {"OK", "CNS", "GNS", "TNS", "NS", "DR", "U", "X"};

// What follows a class: nothing, a gap, an affinity, or the beginning of another class or of "N/A". "SYSTEM"
// and the "XM4" of a product name only begin like one.
bool ends_class(std::string_view rest) {
    return rest.empty() || !std::isalpha(static_cast<unsigned char>(rest.front())) ||
           std::string_view("NSPX").find(rest.front()) != std::string_view::npos;
}

// The # of NV#: one or two digits. More digits belong to an affinity that lost its gap ("NV120-31").
std::optional<PrintedClass> take_nvlink(std::string_view& text) {
    for (const std::size_t digits : {2U, 1U}) {
        if (digits_at(text, 2) < digits) continue;
        const int count = digits == 2 ? (text[2] - '0') * 10 + (text[3] - '0') : text[2] - '0';
        if (count < 1 || count > kMostNvlinks) continue;
        const std::string_view rest = text.substr(2 + digits);
        const std::string_view word = rest.substr(0, word_end(rest, 0));
        if (digits_at(word, 0) > 0 && word.find_first_of("-,") == std::string_view::npos) continue;
        text = rest;
        return PrintedClass{PathClass::nvlink, count};
    }
    return std::nullopt;
}

std::optional<PrintedClass> take_class(std::string_view& text) {
    if (text.starts_with("NV")) return take_nvlink(text);
    for (const auto& [word, path] : kClasses)
        if (text.starts_with(word) && ends_class(text.substr(word.size()))) {
            text.remove_prefix(word.size());
            return PrintedClass{path, 0};
        }
    return std::nullopt;
}

// Takes connection classes from `at` on into the row, gaps or not; stops at the first thing that is none.
void take_classes(std::string_view line, std::size_t at, Row& row) {
    std::size_t after = at;
    for (std::size_t next = skip_gap(line, at); next < line.size(); next = skip_gap(line, after)) {
        std::string_view rest = line.substr(next);
        const auto taken = take_class(rest);
        if (!taken) break;
        // "NO" of a cut "NODE" or a word that only begins like a class ends the row.
        row.fused = row.fused || (!row.cells.empty() && next == after);
        row.cells.push_back(*taken);
        after = line.size() - rest.size();
    }
    row.rest = line.substr(after);
    row.rest_at = after;
}

bool take_peers(std::string_view line, std::size_t at, Row& row) {
    const std::vector<std::string_view> words = words_of(line.substr(at));
    for (const std::string_view word : words) {
        if (std::find(std::begin(kPeerWords), std::end(kPeerWords), word) == std::end(kPeerWords))
            return false;
        row.peers.push_back(word == "OK" || word == "X");
    }
    const bool only_self =
        std::all_of(words.begin(), words.end(), [](std::string_view word) { return word == "X"; });
    return !words.empty() && !only_self;
}

// Numbers and nothing else: a weight or hop matrix of rocm-smi.
bool all_numbers(std::string_view line, std::size_t at) {
    const std::vector<std::string_view> words = words_of(line.substr(at));
    return !words.empty() && std::all_of(words.begin(), words.end(), [](std::string_view word) {
        return std::all_of(word.begin(), word.end(), [](char c) { return is_digit(c) || c == '.'; });
    });
}

bool read_cells(std::string_view line, std::size_t at, Row& row) {
    if (take_peers(line, at, row)) {
        row.kind = CellKind::peer_access;
        return true;
    }
    row.peers.clear();
    take_classes(line, at, row);
    if (!row.cells.empty()) return true;
    if (!is_gpu_name(row.device) || !all_numbers(line, at)) return false;
    row.kind = CellKind::number;
    return true;
}

// Splits "GPU0GPU1mlx5_0" into names; false where the word is not made of names. Stops at a fused "CPU
// Affinity".
bool split_names(std::string_view word, Header& header, bool& affinity_begins) {
    affinity_begins = false;
    for (bool first = true; !word.empty(); first = false) {
        if (!first && (word == "CPU" || word == "NUMA")) {
            affinity_begins = true;
            break;
        }
        const std::size_t length = device_name(word);
        if (length == 0) return false;
        header.devices.emplace_back(word.substr(0, length));
        header.fused = header.fused || !first;
        word.remove_prefix(length);
    }
    return true;
}

// The affinity headings from `at` on; they may be cut short ("NUMA Affin").
void read_affinity(std::string_view line, std::size_t at, Header& header) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> headings{
        {{"CPU", "CPU Affinity"}, {"NUMA", "NUMA Affinity"}, {"GPU", "GPU NUMA ID"}}};
    static constexpr std::string_view fillers[] = {"Affinity", "ID"};
    bool inside_gpu = false;
    for (at = skip_gap(line, at); at < line.size(); at = skip_gap(line, word_end(line, at))) {
        const std::string_view word = line.substr(at, word_end(line, at) - at);
        const bool filler = std::any_of(std::begin(fillers), std::end(fillers),
                                        [&](std::string_view full) { return full.starts_with(word); });
        if (filler || (inside_gpu && std::string_view("NUMA").starts_with(word))) continue;
        const auto* const known = std::find_if(headings.begin(), headings.end(),
                                               [&](const auto& heading) { return heading.first == word; });
        if (known == headings.end()) return;  // a note after the headings
        inside_gpu = word == "GPU";
        header.affinity.emplace_back(known->second);
        header.affinity_at.push_back(at);
    }
}

// "NI", "mlx", "CP": the beginning of a name or heading at the end of a cut line.
bool cut_name(std::string_view word) {
    static constexpr std::string_view names[] = {"GPU", "NIC", "CPU", "mlx"};
    return std::any_of(std::begin(names), std::end(names),
                       [&](std::string_view name) { return name.starts_with(word); });
}

bool starts_affinity(std::string_view word) { return word == "CPU" || word == "NUMA" || word == "GPU"; }

// Reads a header that begins exactly at `at`.
std::optional<Header> header_from(std::string_view line, std::size_t at) {
    Header header;
    for (at = skip_gap(line, at); at < line.size();) {
        const std::size_t end = word_end(line, at);
        const std::string_view word = line.substr(at, end - at);
        bool affinity_begins = false;
        if (starts_affinity(word)) {
            read_affinity(line, at, header);
            return header;
        }
        if (!split_names(word, header, affinity_begins)) {
            if (!cut_name(word) || skip_gap(line, end) < line.size()) return std::nullopt;
            header.cut = true;
            return header;
        }
        at = affinity_begins ? end - (word.ends_with("CPU") ? 3 : 4) : skip_gap(line, end);
    }
    return header;
}

}  // namespace

std::string to_text(const PrintedClass& printed) {
    if (printed.path == PathClass::nvlink) return fmt::format("NV{}", printed.nvlinks);
    return std::string(name_of(printed.path));
}

bool is_device_name(std::string_view word) { return !word.empty() && device_name(word) == word.size(); }
bool is_gpu_name(std::string_view word) { return !word.empty() && numbered(word, "GPU") == word.size(); }

std::optional<Header> header_in(std::string_view line, bool continuation) {
    std::size_t ahead = 0;
    for (std::size_t at = skip_gap(line, 0); at < line.size() && ahead++ < kMostWordsAhead;
         at = skip_gap(line, word_end(line, at))) {
        const auto header = header_from(line, at);
        if (!header || header->devices.empty()) continue;
        if (header->devices.size() > kMostDevices) return std::nullopt;
        const bool gpus = std::any_of(header->devices.begin(), header->devices.end(),
                                      [](const std::string& name) { return is_gpu_name(name); });
        if (gpus || (continuation && at == skip_gap(line, 0))) return header;
    }
    return std::nullopt;
}

std::optional<Row> row_in(std::string_view line) {
    const std::size_t first = skip_gap(line, 0);
    std::size_t ahead = 0;
    for (std::size_t at = first; at < line.size() && ahead++ < kMostWordsAhead;
         at = skip_gap(line, word_end(line, at))) {
        const std::string_view word = line.substr(at, word_end(line, at) - at);
        std::size_t length = device_name(word);
        if (length == 0) continue;
        Row row;
        row.device = word.substr(0, length);
        row.prefixed = at != first;
        if (length < word.size() && word[length] == ':' && length + 1 == word.size()) ++length;
        std::string_view fused = word.substr(length);
        if (!fused.empty() && !take_class(fused)) continue;
        if (read_cells(line, at + length, row)) return row;
    }
    return std::nullopt;
}

std::optional<Row> row_continuation_in(std::string_view line) {
    Row row;
    take_classes(line, 0, row);
    if (row.cells.empty()) return std::nullopt;
    return row;
}

}  // namespace wirewise::smi
