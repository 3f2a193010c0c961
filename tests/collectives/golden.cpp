#include "tests/collectives/golden.hpp"

#include <fmt/format.h>

#include <fstream>

#include <nlohmann/json.hpp>

namespace wirewise::test {
namespace {

constexpr const char* kFile = WIREWISE_SOURCE_FOLDER "/tests/collectives/data/built_in_all_reduce.json";

using Json = nlohmann::ordered_json;

PublishedFigure published_of(const Json& row) {
    return {row.at("gpus"), row.at("bytes"), row.value("nvls", true), row.at("busbw"), row.at("source")};
}

std::string text_of(const PublishedFigure& run) {
    return fmt::format(R"({{"gpus": {}, "bytes": "{}", "nvls": {}, "busbw": {}, "source": {}}})", run.gpus,
                       run.bytes, run.nvls, run.busbw, Json(run.source).dump());
}

std::string text_of(const GoldenFigure& figure) {
    std::string text = fmt::format(R"(  {{"machine": "{}", "as_chosen": {:.2f}, "nvls_off": {:.2f})",
                                   figure.machine, figure.as_chosen, figure.nvls_off);
    if (!figure.note.empty()) text += fmt::format(R"(, "note": {})", Json(figure.note).dump());
    for (std::size_t i = 0; i < figure.published.size(); ++i)
        text += (i == 0 ? ", \"published\": [\n    " : ",\n    ") + text_of(figure.published[i]);
    return text + (figure.published.empty() ? "}" : "]}");
}

}  // namespace

std::vector<GoldenFigure> read_golden() {
    std::ifstream in(kFile);
    std::vector<GoldenFigure> figures;
    for (const Json& row : Json::parse(in)) {
        figures.push_back(
            {row.at("machine"), row.at("as_chosen"), row.at("nvls_off"), row.value("note", ""), {}});
        for (const Json& run : row.value("published", Json::array()))
            figures.back().published.push_back(published_of(run));
    }
    return figures;
}

void write_golden(const std::vector<GoldenFigure>& figures) {
    std::ofstream out(kFile);
    out << "[\n";
    for (std::size_t i = 0; i < figures.size(); ++i)
        out << text_of(figures[i]) << (i + 1 < figures.size() ? ",\n" : "\n");
    out << "]\n";
}

}  // namespace wirewise::test
