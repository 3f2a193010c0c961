// Published runs against the pricer: errors by class, and the table that shows them.
#pragma once

#include <string>
#include <vector>

#include "calibration/published_collectives.hpp"

namespace wirewise::test {

struct Judged {
    PublishedCollective run;
    double predicted = 0;  // busbw, bytes per second
    double low = 0, high = 0;
    bool flat = false;  // one NVSwitch joins all GPUs of the server alike
    std::string algorithm, bottleneck;
    double error() const { return predicted / run.busbw.value() - 1; }
};

Judged judge(const PublishedCollective& run);

struct ErrorClass {
    std::string name;
    std::vector<double> errors;  // absolute
    double median() const { return quantile(0.5); }
    double quantile(double share) const;
};

enum class SizeClass { small, middle, large };  // below 1 MiB, up to 64 MiB, from there on
SizeClass size_class(Bytes bytes);

// All runs of a size class; or the median of each box's.
ErrorClass errors_of(const std::vector<Judged>& judged, SizeClass size);
ErrorClass box_medians(const std::vector<Judged>& judged, SizeClass size);

// One line per size class and kind of wiring.
std::string table(const std::vector<Judged>& judged);

}  // namespace wirewise::test
