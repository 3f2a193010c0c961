#include "model/topology/json_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/units/error.hpp"
#include "model/units/text.hpp"

namespace wirewise {
namespace {

std::string shown(const Json& value) {
    std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return text;
}

std::string line_and_column(std::string_view text, std::size_t at) {
    const std::string_view before = text.substr(0, std::min(at, text.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const auto start = before.rfind('\n');
    const std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1);
    return fmt::format("line {}, column {}", line, column);
}

// "/" and "~" inside a key, as RFC 6901 writes them.
std::string escaped(std::string_view key) {
    std::string out;
    for (const char c : key) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    return out;
}

}  // namespace

Json parse_topology_json(std::string_view text, std::string_view file) {
    try {
        return Json::parse(text);
    } catch (const Json::parse_error& error) {
        throw InputError(std::string(file), "not valid JSON at " + line_and_column(text, error.byte),
                         "check for a missing comma, quote or bracket there");
    } catch (const Json::exception& error) {  // a number beyond any double
        throw InputError(std::string(file), error.what(), "write a number that can be held");
    }
}

JsonView::JsonView(const Json& value, std::string file, std::string pointer)
    : value_(&value), file_(std::move(file)), pointer_(std::move(pointer)) {}

void JsonView::refuse(std::string problem, std::string remedy) const {
    throw InputError(place(), std::move(problem), std::move(remedy));
}

void JsonView::expect_object() const {
    if (!value_->is_object()) refuse(fmt::format("{} is not an object", shown(*value_)), "write { ... }");
}

bool JsonView::has(std::string_view key) const { return value_->is_object() && value_->contains(key); }

std::optional<JsonView> JsonView::find(std::string_view key) const {
    expect_object();
    const auto found = value_->find(key);
    if (found == value_->end()) return std::nullopt;
    return JsonView(*found, file_, pointer_ + "/" + escaped(key));
}

JsonView JsonView::at(std::string_view key) const {
    if (auto found = find(key)) return *found;
    refuse(fmt::format("\"{}\" is missing", key));
}

std::vector<JsonView> JsonView::items() const {
    if (!value_->is_array()) refuse(fmt::format("{} is not a list", shown(*value_)), "write [ ... ]");
    std::vector<JsonView> all;
    for (std::size_t i = 0; i < value_->size(); ++i)
        all.emplace_back((*value_)[i], file_, fmt::format("{}/{}", pointer_, i));
    return all;
}

std::vector<std::string> JsonView::keys() const {
    expect_object();
    std::vector<std::string> all;
    for (const auto& [key, value] : value_->items()) all.push_back(key);
    return all;
}

void JsonView::expect_keys(std::initializer_list<std::string_view> known) const {
    for (const std::string& key : keys())
        if (std::find(known.begin(), known.end(), key) == known.end())
            at(key).refuse("unknown key", fmt::format("known here: {}", fmt::join(known, ", ")));
}

std::string JsonView::text() const {
    if (!value_->is_string()) refuse(fmt::format("{} is not text", shown(*value_)));
    return value_->get<std::string>();
}

int JsonView::integer(int least, int most) const {
    if (!value_->is_number_integer()) refuse(fmt::format("{} is not a whole number", shown(*value_)));
    // An unsigned number beyond the signed range would wrap: it is out of range whatever it is.
    const bool huge = value_->is_number_unsigned() && value_->get<std::uint64_t>() > 0x7fffffff;
    const std::int64_t number = huge ? 0x7fffffff : value_->get<std::int64_t>();
    if (huge || number < least || number > most)
        refuse(fmt::format("{} is out of range", shown(*value_)),
               fmt::format("{} to {} is allowed", least, most));
    return static_cast<int>(number);
}

double JsonView::number() const {
    if (!value_->is_number()) refuse(fmt::format("{} is not a number", shown(*value_)));
    return value_->get<double>();
}

bool JsonView::boolean() const {
    if (!value_->is_boolean()) refuse(fmt::format("{} is neither true nor false", shown(*value_)));
    return value_->get<bool>();
}

std::string JsonView::quantity(std::string_view example) const {
    if (!value_->is_string())
        refuse(fmt::format("{} has no unit", shown(*value_)),
               fmt::format("write it as text, for example \"{}\"", example));
    return value_->get<std::string>();
}

Seconds JsonView::seconds() const { return parse_seconds(quantity("3 us"), place()); }
Bytes JsonView::bytes() const { return parse_bytes(quantity("80 GiB"), place()); }
BytesPerSecond JsonView::bandwidth() const { return parse_bandwidth(quantity("450 GB/s"), place()); }
FlopsPerSecond JsonView::flops_per_second() const {
    return parse_flops_per_second(quantity("989 TFLOP/s"), place());
}

}  // namespace wirewise
