// Quantities as people write and read them: "80 GiB", "450 GB/s", "3 us", "989 TFLOP/s".
// GB = 1e9 bytes, GiB = 2^30 bytes, Gb = 1e9 bits. A bare number is refused: the unit must be said.
#pragma once

#include <string>
#include <string_view>

#include "model/units/quantity.hpp"

namespace wirewise {

// `place` goes into the InputError: a file with its JSON pointer, or an option name.
Bytes parse_bytes(std::string_view text, std::string_view place);
BytesPerSecond parse_bandwidth(std::string_view text, std::string_view place);
Seconds parse_seconds(std::string_view text, std::string_view place);
FlopsPerSecond parse_flops_per_second(std::string_view text, std::string_view place);

// Short, for people: "21.7 GB", "322 GB/s", "449 ms". Decimal units, three significant digits.
std::string to_text(Bytes amount);
std::string to_text(BytesPerSecond rate);
std::string to_text(Seconds time);
std::string to_text(FlopsPerSecond rate);

// Exact, for files: parse_*(exact_text(x)) gives x back.
std::string exact_text(Bytes amount);
std::string exact_text(BytesPerSecond rate);
std::string exact_text(Seconds time);
std::string exact_text(FlopsPerSecond rate);

// 7241732096 -> "7,241,732,096".
std::string with_commas(std::int64_t number);

}  // namespace wirewise
