// Bad input gives one clear message that names the place; whatever a file holds, nothing crashes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include <nlohmann/json.hpp>

#include "model/transformer/builtin.hpp"
#include "model/transformer/parse_json.hpp"
#include "model/transformer/read_config.hpp"

namespace wirewise {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::vector<std::string> keys_of(std::string_view model) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : find_builtin(model)->config.items()) keys.push_back(key);
    return keys;
}

std::string config_text(std::string_view model) { return find_builtin(model)->config.dump(1); }

struct Wrong {
    std::vector<std::string> overrides;
    std::string place, problem;  // end of the place, part of the problem
};

void expect_refused(const Wrong& wrong) {
    SCOPED_TRACE(wrong.overrides.front());
    try {
        load_model("llama-3.1-8b", wrong.overrides);
        ADD_FAILURE() << "accepted";
    } catch (const InputError& error) {
        EXPECT_TRUE(error.place().ends_with(wrong.place)) << error.what();
        EXPECT_NE(error.problem().find(wrong.problem), std::string::npos) << error.what();
        EXPECT_FALSE(error.remedy().empty()) << error.what();
    }
}

TEST(WrongValues, AreRefusedWithTheirPlace) {
    const std::vector<Wrong> all{
        {{"hidden_size=-1"}, "llama-3.1-8b:/hidden_size", "-1"},
        {{"hidden_size=0"}, "/hidden_size", "outside"},
        {{"hidden_size=null"}, "/hidden_size", "null"},
        {{"hidden_size=1e30"}, "/hidden_size", "not an integer"},
        {{"hidden_size=4096.5"}, "/hidden_size", "not an integer"},
        {{"hidden_size=\"4096\""}, "/hidden_size", "\"4096\""},
        {{"hidden_size=true"}, "/hidden_size", "true"},
        {{"hidden_size=[4096]"}, "/hidden_size", "a list"},
        {{"num_hidden_layers=1000000000000"}, "/num_hidden_layers", "outside"},
        {{"num_hidden_layers=18446744073709551615"}, "/num_hidden_layers", "outside"},
        {{"num_attention_heads=33"}, "/num_attention_heads", "does not divide the hidden size"},
        {{"num_key_value_heads=7"}, "/num_key_value_heads", "does not divide"},
        {{"vocab_size=null"}, "/vocab_size", "null"},
        {{"tie_word_embeddings=1"}, "/tie_word_embeddings", "not a boolean"},
        {{"hidden_act=mystery"}, "/hidden_act", "mystery"},
        {{"rms_norm_eps=-1"}, "/rms_norm_eps", "positive"},
        {{"rope_scaling=8"}, "/rope_scaling", "not an object"},
        {{"model_type=null"}, "/model_type", "missing"},
        {{"model_type=7"}, "/model_type", "not a string"},
        {{"model_type=llama9"}, "/model_type", "not modelled"},
        {{"num_local_experts=8"}, "/num_local_experts", "experts"},
        {{"kv_lora_rank=512"}, "/kv_lora_rank", "latent"},
        {{"hidden_size"}, "--set hidden_size", "key=value"},
        {{"rope_scaling.factor.deep=1"}, "rope_scaling.factor.deep=1", "plain value"},
    };
    for (const auto& wrong : all) expect_refused(wrong);
}

TEST(WrongValues, TwoSpellingsThatDisagreeAreRefused) {
    EXPECT_THROW(load_model("gpt2", {"hidden_size=1024"}), InputError);
    EXPECT_EQ(load_model("gpt2", {"hidden_size=768"}).parameters(), 124'439'808);
}

TEST(WrongValues, ArchitecturesThatAreNotModelledSayWhy) {
    for (const auto* type :
         {"bert", "t5", "vit", "mamba", "nemotron-nas", "deepseek_v32", "glm_moe_dsa", "qwen3_next"}) {
        try {
            read_config({{"model_type", type}}, "config.json");
            ADD_FAILURE() << type;
        } catch (const UnsupportedModel& refusal) {
            EXPECT_NE(refusal.problem().find("is not modelled: "), std::string::npos) << refusal.what();
        }
    }
    EXPECT_THROW(load_model("llama-3.1-8b", {"block_configs=[]"}), UnsupportedModel);
    EXPECT_THROW(load_model("llama-3.1-8b", {"is_encoder_decoder=true"}), UnsupportedModel);
}

TEST(WrongNames, SuggestNearOnes) {
    try {
        load_model("mistral-7B-v3");
        ADD_FAILURE();
    } catch (const InputError& error) {
        EXPECT_NE(error.remedy().find("mistral-7b"), std::string::npos) << error.what();
    }
    EXPECT_EQ(load_model("mistralai/Mistral-7B-v0.1").parameters(), 7'241'732'096);  // its repository's name
    EXPECT_THROW(load_model(""), InputError);
    EXPECT_THROW(load_model("/nowhere/config.json"), InputError);
}

class Files : public ::testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("wirewise_transformer_" + std::to_string(::getpid()));
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name, std::ios::binary) << text;
        return (folder_ / name).string();
    }
    std::string refusal(const std::string& path) const {
        try {
            load_model(path);
        } catch (const InputError& error) {
            return error.what();
        }
        return "accepted";
    }
    fs::path folder_;
};

TEST_F(Files, ThatAreNoConfigGetOneMessage) {
    const auto contains = [](const std::string& text, std::string_view part) {
        return text.find(part) != std::string::npos;
    };
    EXPECT_TRUE(contains(refusal(folder_.string()), "without a config.json"));
    EXPECT_TRUE(contains(refusal(write("empty.json", " \n")), "is empty"));
    EXPECT_TRUE(contains(refusal(write("binary.json", std::string("\x7f"
                                                                  "ELF\0\0",
                                                                  6))),
                         "binary"));
    EXPECT_TRUE(
        contains(refusal(write("cut.json", R"({"model_type": "llama", "hidden_)")), "middle of the JSON"));
    EXPECT_TRUE(contains(refusal(write("bad.json", "{\n \"a\": 1,\n oops\n}")), "bad.json:3:"));
    EXPECT_TRUE(contains(refusal(write("list.json", "[1, 2]")), "not a JSON object"));
    EXPECT_TRUE(contains(refusal(write("deep.json", std::string(1'000'000, '['))), "nests deeper"));
    EXPECT_TRUE(contains(refusal(write("huge.json", std::string(9 << 20, ' '))), "larger than"));
    EXPECT_TRUE(contains(refusal(write("number.json", R"({"hidden_size": 1e999})")), "number.json"));
    EXPECT_TRUE(contains(refusal("/dev/zero"), "not a regular file"));
}

TEST_F(Files, AFolderWithAConfigIsAModel) {
    write("config.json",
          json{{"model_type", "gpt2"}, {"n_embd", 64}, {"n_layer", 2}, {"n_head", 4}, {"vocab_size", 100}}
              .dump());
    const Transformer model = load_model(folder_.string());
    EXPECT_EQ(model.name, folder_.filename().string());
    EXPECT_EQ(model.layer_count(), 2);
}

// Any value of any key replaced by something strange: refused or accepted, never a crash.
TEST(Fuzz, MutatedConfigsNeverCrash) {
    const std::vector<json> strange{nullptr,
                                    -1,
                                    0,
                                    1,
                                    3,
                                    1'000'000'000'000,
                                    18446744073709551615ull,
                                    1e30,
                                    0.5,
                                    true,
                                    "",
                                    "llama",
                                    json::array(),
                                    json::object(),
                                    json::array({1, "a", nullptr}),
                                    json{{"rope_type", 3}, {"factor", "x"}}};
    std::mt19937 random(20'260'101);
    int refused = 0, accepted = 0;
    for (const auto* model :
         {"llama-3.1-8b", "gpt-oss-20b", "falcon-7b", "opt-350m", "deepseek-v2-lite", "gemma-3-4b", "mpt-7b",
          "gpt-neo-2.7b", "llama-4-scout", "qwen1.5-moe-a2.7b", "stablelm-2-12b"}) {
        const auto keys = keys_of(model);
        for (int round = 0; round < 300; ++round) {
            const auto& key = keys[random() % keys.size()];
            try {
                load_model(model, {key + "=" + strange[random() % strange.size()].dump()});
                ++accepted;
            } catch (const InputError&) {
                ++refused;
            }
        }
    }
    EXPECT_GT(refused, 500);
    EXPECT_GT(accepted, 50);
}

// Text cut and garbled anywhere.
TEST(Fuzz, GarbledTextNeverCrashes) {
    const std::string text = config_text("llama-3.1-8b");
    std::mt19937 random(7);
    for (int round = 0; round < 3000; ++round) {
        std::string garbled = text.substr(0, random() % text.size());
        for (int flips = 0; flips < 3 && !garbled.empty(); ++flips)
            garbled[random() % garbled.size()] = static_cast<char>(random() % 256);
        EXPECT_THROW(read_config(parse_json(garbled, "config"), "config"), InputError);
    }
}

}  // namespace
}  // namespace wirewise
