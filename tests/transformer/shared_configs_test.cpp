// Every config of ../shared/model_configs: what is supported gives its exact count, everything else is
// refused clearly.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "model/transformer/read_config.hpp"

namespace wirewise {
namespace {

std::filesystem::path configs() {
    const char* shared = std::getenv("WIREWISE_SHARED");
    const std::filesystem::path folder = shared ? shared : WIREWISE_SOURCE_FOLDER "/../shared";
    return folder / "model_configs";
}

void check(const nlohmann::json& entry) {
    const auto name = entry.at("name").get<std::string>();
    SCOPED_TRACE(name);
    const auto file = (configs() / (name + ".json")).string();
    if (entry.at("expected") == "supported") {
        try {
            EXPECT_EQ(load_model(file).parameters(), entry.at("computed_parameters").get<std::int64_t>());
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
        }
        return;
    }
    try {
        const auto model = load_model(file);  // "map names or reject clearly": mapped, then by the same rule
        EXPECT_GT(model.parameters(), 0);
    } catch (const UnsupportedModel& refusal) {
        EXPECT_FALSE(refusal.problem().empty());
    }
}

TEST(SharedConfigs, CountExactlyOrAreRefused) {
    if (!std::filesystem::exists(configs() / "index.json")) GTEST_SKIP() << "no " << configs();
    const auto index = nlohmann::json::parse(std::ifstream(configs() / "index.json"));
    ASSERT_GT(index.size(), 50u);
    for (const auto& entry : index) check(entry);
}

}  // namespace
}  // namespace wirewise
