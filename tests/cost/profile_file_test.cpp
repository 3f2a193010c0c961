#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cost/profiles.hpp"

namespace wirewise {
namespace {

std::string shipped_text() {
    std::ifstream stream(profile_folder() + "/h200-sxm.json");
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// With another value of the first such key.
std::string valued(const std::string& text, const std::string& key, const std::string& value) {
    const auto at = text.find("\"" + key + "\": ");
    EXPECT_NE(at, std::string::npos) << key;
    const auto begin = text.find(": ", at) + 2, end = text.find_first_of(",\n", begin);
    return std::string(text).replace(begin, end - begin, value);
}

// The message of loading a file with that content.
std::string complaint(const std::string& content) {
    const auto file =
        std::filesystem::temp_directory_path() / ("profile_" + std::to_string(::getpid()) + ".json");
    std::ofstream(file) << content;
    std::string message = "no error";
    try {
        load_profile(file.string());
    } catch (const InputError& error) {
        message = error.what();
    }
    std::filesystem::remove(file);
    return message;
}

TEST(ProfileFile, EveryShippedProfileLoadsWithOrigins) {
    int seen = 0;
    for (const auto& entry : std::filesystem::directory_iterator(profile_folder())) {
        if (entry.path().filename().string().starts_with("collectives")) continue;
        const CostProfile profile = load_profile(entry.path().string());
        EXPECT_EQ(profile.name, entry.path().stem());
        for (const char* group : {"gemm", "attention", "memory", "optimizer", "power", "contention", "copy"})
            EXPECT_FALSE(profile.origins.at(group).source.empty()) << group;
        ++seen;
    }
    EXPECT_GE(seen, 1);
}

TEST(ProfileFile, NamesFilePointerAndRemedy) {
    const std::string text = shipped_text();
    EXPECT_EQ(complaint(text), "no error");
    EXPECT_NE(complaint(valued(text, "vector_rate", "4000")).find("/memory/vector_rate"), std::string::npos);
    EXPECT_NE(complaint(valued(text, "vector_rate", "\"4000\"")).find("/memory/vector_rate"),
              std::string::npos);
    EXPECT_NE(complaint(valued(text, "vector_rate", "\"0 GB/s\"")).find("/memory/vector_rate"),
              std::string::npos);
    EXPECT_NE(complaint(replaced(text, "\"prologue\"", "\"epilogue\"")).find("\"prologue\" is missing"),
              std::string::npos);
    EXPECT_NE(complaint(replaced(text, "\"origin\"", "\"orgin\"")).find("/gemm: \"origin\" is missing"),
              std::string::npos);
    EXPECT_NE(complaint(replaced(text, "\"norm_backward\"", "\"norm_bacward\""))
                  .find("/memory/kernels/norm_bacward"),
              std::string::npos);
    EXPECT_NE(complaint(valued(text, "knee", "-1")).find("/power/knee"), std::string::npos);
    EXPECT_NE(complaint(replaced(text, "profile/1", "profile/9")).find("/schema"), std::string::npos);
    EXPECT_NE(complaint(replaced(text, "\"multiprocessors\": 132", "\"multiprocessors\": 0"))
                  .find("/multiprocessors"),
              std::string::npos);
}

TEST(ProfileFile, BadFilesAreRefused) {
    EXPECT_NE(complaint("{").find("not valid JSON"), std::string::npos);
    EXPECT_NE(complaint("[]").find("is not an object"), std::string::npos);
    EXPECT_THROW(load_profile("/nonexistent.json"), InputError);
    EXPECT_THROW(load_profile("/tmp"), InputError);
}

}  // namespace
}  // namespace wirewise
