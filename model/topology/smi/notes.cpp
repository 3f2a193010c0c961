#include "model/topology/smi/notes.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "model/topology/gpu.hpp"

namespace wirewise::smi {
namespace {

std::vector<std::string_view> words_of(std::string_view line, std::string_view gaps) {
    std::vector<std::string_view> words;
    for (std::size_t at = line.find_first_not_of(gaps); at != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(gaps, at), line.size());
        words.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(gaps, end);
    }
    return words;
}

std::optional<int> number(std::string_view word) {
    int value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || value < 0) return std::nullopt;
    return value;
}

// "00000000:18:00.0": domain, bus, device and function in hexadecimal.
bool is_busid(std::string_view word) {
    const auto colon = word.find(':');
    if (colon != 4 && colon != 8) return false;
    if (word.size() != colon + 8 || word[colon + 3] != ':' || word[colon + 6] != '.') return false;
    return std::all_of(word.begin(), word.end(),
                       [](unsigned char c) { return std::isxdigit(c) || c == ':' || c == '.'; });
}

Device* gpu_numbered(Matrix& matrix, int index) {
    for (Device& device : matrix.devices)
        if (device.gpu && device.column == "GPU" + std::to_string(index)) return &device;
    return nullptr;
}

// "NIC3: mlx5_3", the legend below the matrix.
void read_legend(const std::vector<std::string_view>& words, Matrix& matrix) {
    if (words.size() != 2 || !words[0].starts_with("NIC")) return;
    for (Device& device : matrix.devices)
        if (!device.gpu && device.column == words[0]) device.name = words[1];
}

// A line about one GPU: "GPU 0: NVIDIA H200 (UUID: ...)", "0, 00000000:18:00.0, NVIDIA H200", or a line of
// the nvidia-smi table.
void read_gpu_line(const std::string& line, std::vector<std::string_view> words, Matrix& matrix) {
    if (!words.empty() && words.front() == "GPU") words.erase(words.begin());
    const auto index = words.empty() ? std::nullopt : number(words.front());
    Device* const device = index ? gpu_numbered(matrix, *index) : nullptr;
    if (device == nullptr) return;
    for (const std::string_view word : words)
        if (is_busid(word) && device->busid.empty()) device->busid = word;
    if (device->model == nullptr) device->model = gpu_model_in(line);
}

}  // namespace

void read_notes(const std::vector<std::string>& lines, Matrix& matrix) {
    for (const std::string& line : lines) {
        read_legend(words_of(line, " \t:="), matrix);
        std::string plain = line;
        const bool index_colon = plain.find("GPU ") != std::string::npos;
        if (const auto colon = plain.find(": "); index_colon && colon != std::string::npos)
            plain[colon] = ' ';
        read_gpu_line(plain, words_of(plain, " \t,"), matrix);
    }
}

}  // namespace wirewise::smi
