#include "tests/validate/committed.hpp"

#include <algorithm>
#include <filesystem>

namespace wirewise::test {

std::vector<std::string> committed_files() {
    std::vector<std::string> files;
    for (const char* folder : {"/calibration/samples", "/tests/validate/cases"})
        for (const auto& entry :
             std::filesystem::directory_iterator(std::string(WIREWISE_SOURCE_FOLDER) + folder))
            if (entry.path().extension() == ".jsonl") files.push_back(entry.path().string());
    std::ranges::sort(files);
    return files;
}

const Validation& committed_validation() {
    static const Validation validation =
        validate({committed_files(), {WIREWISE_SOURCE_FOLDER "/tests/validate/cases/models"}, "", {}, {}});
    return validation;
}

}  // namespace wirewise::test
