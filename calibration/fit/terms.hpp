// The numbers of a profile that samples can change, named by JSON pointer.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "model/topology/json_view.hpp"

namespace wirewise {

struct Term {
    std::string pointer;  // "/gemm/fixed"
    std::string unit;     // "us"; empty: a plain number
    double value = 0;     // in that unit
    double most = 0;      // 0: unbounded above; never below zero
    double spread = 0;    // of the logarithm, before any of the samples
};

// The positive numbers of a profile's document. Where the profile does not say how sure it is of one, it may
// be off by a third.
// `runtimes`: whose steps are among the samples; of others the host costs stay.
std::vector<Term> terms_of(const Json& profile, const std::set<std::string>& runtimes = {});

// Whether a number stays as it is: its pointer is one of these or stands below one.
bool is_held(const std::string& pointer, const std::vector<std::string>& held);

// The document with these values, written with four digits; formats of equal rate (bf16 and fp16) stay so.
Json with_values(const Json& profile, const std::vector<Term>& terms, const std::vector<double>& values);
// The same to the last digit.
Json exact_document(const Json& profile, const std::vector<Term>& terms, const std::vector<double>& values);

}  // namespace wirewise
