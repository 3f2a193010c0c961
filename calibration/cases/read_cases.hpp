// Files of measured cases: our own JSON lines (`kind: training_step`, `collective`, `gemm`, ...) and
// published runs as
// ../shared/published keeps them. The kind of a file is told from its rows.
#pragma once

#include <string>
#include <vector>

#include "calibration/cases/case.hpp"

namespace wirewise {

struct CaseFolders {
    std::string
        models;  // where model configs named by cases lie, beside the folder of the case file; may be empty
};

// Throws InputError naming file and line.
std::vector<MeasuredCase> read_cases(const std::string& file, const CaseFolders& folders = {});

}  // namespace wirewise
