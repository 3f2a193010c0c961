#include "tests/cli/run_binary.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <iomanip>
#include <sstream>

namespace wirewise {

namespace {

class TemporaryFile {
  public:
    TemporaryFile() : file_(std::tmpfile()) {}
    ~TemporaryFile() { std::fclose(file_); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    int descriptor() const { return fileno(file_); }

    void write(const std::string& text) {
        std::fwrite(text.data(), 1, text.size(), file_);
        std::rewind(file_);
    }
    std::string text() {
        std::rewind(file_);
        std::string all;
        char part[4096];
        for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, file_)) > 0;) all.append(part, n);
        return all;
    }

  private:
    std::FILE* file_;
};

[[noreturn]] void become(const std::vector<std::string>& arguments, int in, int out, int err,
                         unsigned longest) {
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    alarm(longest);
    std::vector<char*> words{const_cast<char*>(WIREWISE_BINARY)};
    for (const auto& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    execv(WIREWISE_BINARY, words.data());
    _exit(127);
}

}  // namespace

nlohmann::ordered_json Said::json() const {
    auto value = nlohmann::ordered_json::parse(out, nullptr, false);
    EXPECT_FALSE(value.is_discarded()) << "not JSON: " << out.substr(0, 500) << "\nstderr: " << err;
    return value;
}

Said run_binary(const std::vector<std::string>& arguments, const std::string& input, unsigned longest) {
    TemporaryFile in, out, err;
    in.write(input);
    const pid_t child = fork();
    if (child == 0) become(arguments, in.descriptor(), out.descriptor(), err.descriptor(), longest);
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), out.text(), err.text()};
}

Said wirewise_run(const std::string& words) {
    std::istringstream stream(words);
    std::vector<std::string> arguments;
    // std::quoted: a word in double quotes may hold spaces, as a path may.
    for (std::string word; stream >> std::quoted(word);) arguments.push_back(word);
    return run_binary(arguments);
}

}  // namespace wirewise
