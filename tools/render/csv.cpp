#include "tools/render/csv.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace wirewise {

namespace {

using Json = nlohmann::ordered_json;
using Record = std::vector<std::pair<std::string, std::string>>;

std::string plain(const Json& value) {
    if (value.is_null()) return "";
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string joined(const Json& list) {
    std::string all;
    for (const auto& item : list) {
        if (!all.empty()) all += ";";
        all += plain(item);
    }
    return all;
}

void flatten(const Json& value, const std::string& prefix, Record& into) {
    for (const auto& [key, item] : value.items()) {
        const std::string name = prefix.empty() ? key : prefix + "." + key;
        if (item.is_object())
            flatten(item, name, into);
        else
            into.emplace_back(name, item.is_array() ? joined(item) : plain(item));
    }
}

std::string cell(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

std::string row(const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
        if (c > 0) line += ",";
        line += cell(cells[c]);
    }
    return line + "\n";
}

// Every column that any record has, in order of first appearance.
std::vector<std::string> columns_of(const std::vector<Record>& records) {
    std::vector<std::string> columns;
    for (const auto& record : records)
        for (const auto& [name, value] : record)
            if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
    return columns;
}

}  // namespace

std::string csv_of(const Json& document, const std::string& name) {
    std::vector<Record> records;
    const Json list = name.empty() ? Json::array({document}) : document.value(name, Json::array());
    for (const auto& item : list) flatten(item, "", records.emplace_back());
    const auto columns = columns_of(records);
    std::string out = row(columns);
    for (const auto& record : records) {
        std::vector<std::string> cells;
        for (const auto& column : columns) {
            const auto at = std::find_if(record.begin(), record.end(),
                                         [&](const auto& entry) { return entry.first == column; });
            cells.push_back(at == record.end() ? "" : at->second);
        }
        out += row(cells);
    }
    return out;
}

}  // namespace wirewise
