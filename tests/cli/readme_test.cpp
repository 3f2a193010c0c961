// What the README shows is run and compared, and every path it names is there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/cli/run_binary.hpp"

namespace wirewise {
namespace {

struct Transcript {
    std::vector<std::string> arguments;
    std::string output;
};

std::vector<std::string> lines_of_readme() {
    std::ifstream file(WIREWISE_SOURCE_FOLDER "/README.md");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

// Words of a shell line; double quotes keep blanks together.
std::vector<std::string> words_of(const std::string& line) {
    std::vector<std::string> words;
    bool quoted = false, open = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
            if (!open) words.emplace_back(), open = true;
        } else if (c == ' ' && !quoted) {
            open = false;
        } else {
            if (!open) words.emplace_back(), open = true;
            words.back() += c;
        }
    }
    return words;
}

// "$ tools/wirewise ..." (continued by a trailing backslash) and what follows it up to the end of the code
// block.
std::vector<Transcript> transcripts() {
    const std::string prompt = "$ tools/wirewise ";
    std::vector<Transcript> found;
    bool inside = false;
    const auto lines = lines_of_readme();
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].starts_with(prompt)) {
            std::string command = lines[i].substr(prompt.size());
            while (command.ends_with('\\')) command = command.substr(0, command.size() - 1) + lines[++i];
            found.push_back({words_of(command), ""});
            inside = true;
        } else if (lines[i].starts_with("```")) {
            inside = false;
        } else if (inside) {
            found.back().output += lines[i] + "\n";
        }
    }
    return found;
}

// With WIREWISE_UPDATE_README set, the README is rewritten with what the binary says now.
void update_readme(const std::vector<Transcript>& all) {
    std::string text;
    std::size_t next = 0;
    bool inside = false, command = false;
    for (const std::string& line : lines_of_readme()) {
        const bool starts = line.starts_with("$ tools/wirewise ");
        if (line.starts_with("```")) inside = false;
        if (!inside || starts || command) text += line + "\n";
        inside = inside || starts;
        if ((starts || command) && !line.ends_with("\\")) text += run_binary(all[next++].arguments).out;
        command = (starts || command) && line.ends_with("\\");
    }
    std::ofstream(WIREWISE_SOURCE_FOLDER "/README.md") << text;
}

TEST(Readme, TranscriptsAreWhatTheBinarySays) {
    const auto all = transcripts();
    ASSERT_FALSE(all.empty());
    if (std::getenv("WIREWISE_UPDATE_README")) {
        update_readme(all);
        GTEST_SKIP() << "README.md was rewritten: read the difference";
    }
    for (const Transcript& transcript : all) {
        const Said run = run_binary(transcript.arguments);
        EXPECT_EQ(run.out, transcript.output) << run.err;
    }
}

TEST(Readme, PathsOfTheMapExist) {
    const std::regex path(
        "`((?:model|simulator|executor|topologies|calibration|tests|tools)/[A-Za-z0-9_./-]*)`");
    int seen = 0;
    for (const std::string& line : lines_of_readme())
        for (auto at = std::sregex_iterator(line.begin(), line.end(), path); at != std::sregex_iterator();
             ++at, ++seen)
            EXPECT_TRUE(std::filesystem::exists(WIREWISE_SOURCE_FOLDER "/" + (*at)[1].str()))
                << (*at)[1].str();
    EXPECT_GT(seen, 10);
}

}  // namespace
}  // namespace wirewise
