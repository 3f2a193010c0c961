// Small words of the command line: lists, switches, integers, near names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wirewise {

std::vector<std::string> split(std::string_view text, char at);  // parts without surrounding blanks
bool switch_of(std::string_view text, const char* option);       // on/off
std::int64_t integer_of(std::string_view text, const char* option);

// The nearest of many names, or all of a few.
std::string remedy_from(std::string_view word, const std::vector<std::string>& names);

// "2.10 USD/GPU/h" -> {2.10, "USD"}.
struct Price {
    double per_gpu_hour = 0;
    std::string currency;
};
Price price_of(std::string_view text);

}  // namespace wirewise
