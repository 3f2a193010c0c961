// What a command answers: one JSON document for programs, and tables with sentences for people. Both come
// from the same values; --format picks what is written.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace wirewise {

using Json = nlohmann::ordered_json;

struct Table {
    std::string title;
    std::vector<std::string> columns;  // a leading '<' aligns left, all others align right
    std::vector<std::vector<std::string>> rows;
    int marked_row = -1;  // shown bold on a terminal
};

struct Report {
    Json document;
    std::string verbatim;             // text laid out in columns, above all else; fenced in Markdown
    std::vector<std::string> before;  // sentences above the tables
    std::vector<Table> tables;
    std::string records;             // the array of the document that --format csv writes, one object a line
    std::vector<std::string> after;  // sentences below
    std::vector<std::string> warnings;  // to standard error
    std::vector<std::string> errors;    // to standard error even when told to be quiet
    std::string raw;                    // written as it is instead of all else, when not empty
    bool silent = false;                // another process writes it
    int exit_code = 0;
};

enum class Format { table, json, csv, markdown };

// Throws InputError for an unknown name. Empty: table on a terminal, else json.
Format format_from(const std::string& name, bool terminal);

std::string render(const Report& report, Format format, bool colour);

}  // namespace wirewise
