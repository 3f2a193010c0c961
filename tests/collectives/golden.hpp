// The file of golden all-reduce figures, see golden_test.cpp.
#pragma once

#include <string>
#include <vector>

namespace wirewise::test {

struct PublishedFigure {
    int gpus = 0;
    std::string bytes;
    bool nvls = true;
    double busbw = 0;  // GB/s
    std::string source;
};

struct GoldenFigure {
    std::string machine;
    double as_chosen = 0, nvls_off = 0;  // GB/s
    std::string note;                    // why it last moved, where a rule did that
    std::vector<PublishedFigure> published;
};

std::vector<GoldenFigure> read_golden();
void write_golden(const std::vector<GoldenFigure>& figures);

}  // namespace wirewise::test
