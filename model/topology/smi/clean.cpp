#include "model/topology/smi/clean.hpp"

#include <algorithm>
#include <cctype>

namespace wirewise::smi {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The length of a colour code at `text`: "[4m", "[0m", "[1;32m" after what stood for the escape byte; 0:
// none. Codes survive copying in many spellings: the byte itself, "^[", "\e", "\x1b", "\033", "\u001b", the
// replacement character (EF BF BD) or nothing at all.
std::size_t colour_code(std::string_view text) {
    static constexpr std::string_view escapes[] = {"\x1b",  "^[",      "\\e",          "\\x1b",       "\\x1B",
                                                   "\\033", "\\u001b", "\xef\xbf\xbd", "\xe2\x90\x9b"};
    std::size_t at = 0;
    for (const std::string_view escape : escapes)
        if (text.starts_with(escape)) at = escape.size();
    if (at >= text.size() || text[at] != '[') return 0;
    std::size_t end = at + 1;
    while (end < text.size() && (is_digit(text[end]) || text[end] == ';')) ++end;
    const bool bare = at == 0;  // without an escape only "[4m" and the like, never "[m" or "[K"
    if (end == text.size() || (bare && (text[end] != 'm' || end == at + 1))) return 0;
    return std::isalpha(static_cast<unsigned char>(text[end])) ? end + 1 : 0;
}

std::string without_colours(std::string_view line, Repairs& repairs) {
    std::string out;
    for (std::size_t at = 0; at < line.size();) {
        if (const std::size_t code = colour_code(line.substr(at))) {
            repairs.note("colour codes of a terminal taken off");
            at += code;
        } else {
            out += line[at++];
        }
    }
    return out;
}

void replace_all(std::string& line, std::string_view from, std::string_view to, std::string_view what,
                 Repairs& repairs) {
    if (line.find(from) == std::string::npos) return;
    if (!what.empty()) repairs.note(std::string(what));
    std::string out;
    std::string_view rest = line;
    for (std::size_t at = rest.find(from); at != std::string_view::npos; at = rest.find(from)) {
        out.append(rest.substr(0, at)).append(to);
        rest.remove_prefix(at + from.size());
    }
    out.append(rest);
    line = std::move(out);
}

bool names_gpu(std::string_view line) {
    for (std::size_t at = line.find("GPU"); at != std::string_view::npos; at = line.find("GPU", at + 1))
        if (at + 3 < line.size() && is_digit(line[at + 3])) return true;
    return false;
}

// The bars of a Markdown or drawn table become gaps; a quote mark at the start goes. The repair is told where
// a line of the matrix was meant.
void undress(std::string& line, Repairs& repairs) {
    const auto first = line.find_first_not_of(" \t");
    if (first == std::string::npos) return;
    if (line[first] == '>') {
        line[first] = ' ';
        if (names_gpu(line)) repairs.note("quote marks taken off");
    }
    if (line[first] != '|' && std::count(line.begin(), line.end(), '|') < 3) return;
    std::replace(line.begin(), line.end(), '|', ' ');
    if (names_gpu(line)) repairs.note("table bars taken off");
}

}  // namespace

void Repairs::note(std::string repair) {
    if (std::find(list_.begin(), list_.end(), repair) == list_.end()) list_.push_back(std::move(repair));
}

std::vector<std::string> clean_lines(std::string_view text, Repairs& repairs) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // byte order mark
    std::vector<std::string> lines;
    while (!text.empty()) {
        const auto end = text.find_first_of("\r\n");
        std::string line = without_colours(text.substr(0, end), repairs);
        replace_all(line, "\xc2\xa0", " ", {}, repairs);     // no-break space
        replace_all(line, "\xe2\x80\x8b", "", {}, repairs);  // zero-width space
        replace_all(line, "&nbsp;", " ", "HTML spaces put back", repairs);
        replace_all(line, "\\t", "\t", "written-out tabs put back", repairs);
        undress(line, repairs);
        lines.push_back(std::move(line));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
    }
    return lines;
}

}  // namespace wirewise::smi
