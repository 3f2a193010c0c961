#include "tools/render/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/units/error.hpp"
#include "tools/render/csv.hpp"

namespace wirewise {

namespace {

bool left(const std::string& column) { return column.starts_with('<'); }
std::string heading(const std::string& column) { return left(column) ? column.substr(1) : column; }

// Columns on a terminal: UTF-8 continuation bytes take no room.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width, bool to_left) {
    const std::string space(width - std::min(width, width_of(text)), ' ');
    return to_left ? text + space : space + text;
}

std::vector<std::size_t> widths_of(const Table& table) {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        std::size_t width = width_of(heading(table.columns[c]));
        for (const auto& row : table.rows) width = std::max(width, width_of(row[c]));
        widths.push_back(width);
    }
    return widths;
}

std::string text_row(const Table& table, const std::vector<std::string>& cells,
                     const std::vector<std::size_t>& widths) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
        if (c > 0) line += "  ";
        line += padded(cells[c], widths[c], left(table.columns[c]));
    }
    return line.substr(0, line.find_last_not_of(' ') + 1);
}

std::vector<std::string> headings(const Table& table) {
    std::vector<std::string> all;
    std::transform(table.columns.begin(), table.columns.end(), std::back_inserter(all), heading);
    return all;
}

std::string text_table(const Table& table, bool colour) {
    const auto widths = widths_of(table);
    std::string out = table.title.empty() ? "" : table.title + "\n";
    const std::string top = text_row(table, headings(table), widths);
    out += (colour ? "\033[2m" + top + "\033[0m" : top) + "\n";
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
        const std::string line = text_row(table, table.rows[r], widths);
        const bool bold = colour && static_cast<int>(r) == table.marked_row;
        out += (bold ? "\033[1m" + line + "\033[0m" : line) + "\n";
    }
    return out;
}

std::string markdown_row(const std::vector<std::string>& cells) {
    std::string line = "|";
    for (const auto& cell : cells) {
        std::string safe;
        for (const char c : cell) safe += c == '|' ? "\\|" : std::string(1, c);
        line += " " + safe + " |";
    }
    return line + "\n";
}

std::string markdown_table(const Table& table) {
    std::string out = table.title.empty() ? "" : "**" + table.title + "**\n\n";
    out += markdown_row(headings(table)) + "|";
    for (const auto& column : table.columns) out += left(column) ? " --- |" : " ---: |";
    out += "\n";
    for (const auto& row : table.rows) out += markdown_row(row);
    return out;
}

}  // namespace

Format format_from(const std::string& name, bool terminal) {
    if (name.empty()) return terminal ? Format::table : Format::json;
    if (name == "table") return Format::table;
    if (name == "json") return Format::json;
    if (name == "csv") return Format::csv;
    if (name == "markdown") return Format::markdown;
    throw InputError("--format", fmt::format("unknown format \"{}\"", name),
                     "write table, json, csv or markdown");
}

std::string render(const Report& report, Format format, bool colour) {
    if (!report.raw.empty()) return report.raw;
    if (format == Format::json) return report.document.dump(2) + "\n";
    if (format == Format::csv) return csv_of(report.document, report.records);
    const bool markdown = format == Format::markdown;
    std::string out;
    if (!report.verbatim.empty())
        out = markdown ? "```\n" + report.verbatim + "\n```\n" : report.verbatim + "\n";
    for (const auto& line : report.before) out += line + (markdown ? "\n\n" : "\n");
    for (const auto& table : report.tables) {
        if (!out.empty() && !out.ends_with("\n\n")) out += "\n";
        out += markdown ? markdown_table(table) : text_table(table, colour);
    }
    if (!report.after.empty()) out += "\n";
    for (const auto& line : report.after) out += line + (markdown ? "\n\n" : "\n");
    return out;
}

}  // namespace wirewise
