// `plan` as scripts rely on it: keys, sums, the article's figures, exit codes.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/run_binary.hpp"

namespace wirewise {
namespace {

using Json = nlohmann::ordered_json;

const std::string kArticle =
    "plan --model mistral-7b --machine a100-80gb-x4 --gpus 4 --optimizer-state-dtype fp32 --sequence-length "
    "2048 --micro-batch 1 ";

const Json& candidate(const Json& document, const std::string& strategy) {
    for (const Json& one : document.at("candidates"))
        if (one.at("strategy") == strategy) return one;
    throw std::runtime_error("no candidate " + strategy);
}

std::int64_t sum_of(const Json& rows) {
    std::int64_t sum = 0;
    for (const auto& [name, bytes] : rows.items()) sum += bytes.get<std::int64_t>();
    return sum;
}

double gigabytes_of_states(const Json& one) {
    return static_cast<double>(sum_of(one.at("memory").at("states"))) / 1e9;
}

TEST(Plan, ArticleDdpDoesNotFitAndFsdpIsRecommended) {
    const Said run = wirewise_run(kArticle + "--strategy ddp,fsdp --parameter-dtype bf16");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const Json json = run.json();
    EXPECT_EQ(json.at("schema"), "wirewise.plan/1");
    EXPECT_NEAR(gigabytes_of_states(candidate(json, "ddp")), 86.9, 0.05);
    EXPECT_EQ(candidate(json, "ddp").at("fits"), "no");
    EXPECT_FALSE(candidate(json, "ddp").at("remedies").empty());
    EXPECT_NEAR(gigabytes_of_states(candidate(json, "fsdp")), 21.7, 0.05);
    EXPECT_EQ(candidate(json, "fsdp").at("fits"), "yes");
    EXPECT_EQ(json.at("candidates").at(json.at("recommended").get<std::size_t>()).at("strategy"), "fsdp");
    EXPECT_NE(json.at("why").get<std::string>().find("fsdp"), std::string::npos);
}

TEST(Plan, ArticleFp32ParametersAndGradients) {
    const Json json = wirewise_run(kArticle + "--strategy fsdp --parameter-dtype fp32").json();
    EXPECT_NEAR(gigabytes_of_states(candidate(json, "fsdp")), 29.0, 0.05);
}

TEST(Plan, FsdpOfBothVersions) {
    const std::string ask = kArticle + "--strategy fsdp --runtime pytorch ";
    const Json two = wirewise_run(ask).json(), one = wirewise_run(ask + "--fsdp-version 1").json();
    EXPECT_EQ(two.at("inputs").at("fsdp_version"), 2);
    EXPECT_EQ(one.at("inputs").at("fsdp_version"), 1);
    EXPECT_EQ(one.at("inputs").at("limit_all_gathers"), true);
    const auto reserved = [](const Json& json) {
        return candidate(json, "fsdp").at("memory").at("peak_reserved_bytes").get<std::int64_t>();
    };
    EXPECT_NE(reserved(one), reserved(two));
    const Json unlimited = wirewise_run(ask + "--fsdp-version 1 --no-limit-all-gathers").json();
    EXPECT_GT(reserved(unlimited), reserved(one));
}

void expect_sound(const Json& one) {
    const Json& memory = one.at("memory");
    const auto peak = memory.at("peak_bytes").get<std::int64_t>();
    EXPECT_EQ(sum_of(memory.at("breakdown")), peak) << one.at("strategy");
    EXPECT_EQ(memory.at("device_used_bytes"), peak);
    EXPECT_LE(memory.at("interval_bytes").at(0).get<std::int64_t>(), peak);
    EXPECT_GE(memory.at("interval_bytes").at(1).get<std::int64_t>(), peak);
    EXPECT_LE(memory.at("peak_allocated_bytes"), memory.at("peak_reserved_bytes"));
    EXPECT_FALSE(memory.at("peak_at").get<std::string>().empty());
    const Json& time = one.at("time");
    const double step = time.at("step_seconds");
    EXPECT_GT(step, 0);
    EXPECT_LE(time.at("interval_seconds").at(0).get<double>(), step);
    EXPECT_GE(time.at("interval_seconds").at(1).get<double>(), step);
    EXPECT_LE(time.at("exposed_communication_seconds"), time.at("communication_seconds"));
    const Json& throughput = one.at("throughput");
    EXPECT_GT(throughput.at("mfu").get<double>(), 0);
    EXPECT_LT(throughput.at("hfu").get<double>(), 1);
    EXPECT_LE(throughput.at("mfu").get<double>(), throughput.at("hfu").get<double>() * 1.001);
    const double probability = one.at("oom_probability");
    EXPECT_TRUE(probability >= 0 && probability <= 1);
}

class AllStrategies : public testing::TestWithParam<const char*> {};

TEST_P(AllStrategies, RowsAddUpAndIntervalsContain) {
    const Said run = wirewise_run(kArticle + "--strategy all --runtime " + GetParam());
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const Json json = run.json();
    EXPECT_GE(json.at("candidates").size(), 6U);
    for (const Json& one : json.at("candidates")) expect_sound(one);
}

INSTANTIATE_TEST_SUITE_P(Runtimes, AllStrategies, testing::Values("native", "pytorch"),
                         [](const auto& one) { return std::string(one.param); });

TEST(Plan, NothingFitsIsExitThree) {
    const Said run = wirewise_run("plan --model llama-3.1-70b --machine rtx-4090-8 --strategy ddp");
    EXPECT_EQ(run.exit_code, 3) << run.err;
    EXPECT_TRUE(run.json().at("recommended").is_null());
}

TEST(Plan, IsDeterministic) {
    const std::string words = kArticle + "--strategy fsdp,hsdp";
    EXPECT_EQ(wirewise_run(words).out, wirewise_run(words).out);
}

TEST(Plan, MoneyFollowsTokens) {
    const Said run = run_binary({"plan", "--model", "mistral-7b", "--machine", "a100-80gb-x4", "--strategy",
                                 "fsdp", "--tokens-total", "1e9", "--price", "2.10 USD/GPU/h"});
    const Json one = run.json().at("candidates").at(0);
    const double hours = 1e9 / one.at("throughput").at("tokens_per_second").get<double>() / 3600;
    EXPECT_NEAR(one.at("job").at("hours").get<double>(), hours, 1e-9 * hours);
    EXPECT_NEAR(one.at("job").at("cost").get<double>(), hours * 4 * 2.10, 1e-6 * hours);
}

TEST(Plan, AcrossBridgeGroupsIsSlowerAndFsdpLosesMore) {
    const auto step = [](const std::string& gpus) {
        const Json json =
            wirewise_run(
                "plan --model mistral-7b --machine h200-nvl-8 --runtime pytorch --strategy ddp,fsdp "
                "--sequence-length 2048 --micro-batch 1 --optimizer-state-dtype bf16 --gpu-ids " +
                gpus)
                .json();
        return std::pair(candidate(json, "ddp").at("time").at("step_seconds").get<double>(),
                         candidate(json, "fsdp").at("time").at("step_seconds").get<double>());
    };
    const auto [ddp_inside, fsdp_inside] = step("0,1,2,3");
    const auto [ddp_across, fsdp_across] = step("2,3,4,5");
    const double slowdown = fsdp_across / fsdp_inside;
    EXPECT_GE(slowdown, 2.5);
    EXPECT_LE(slowdown, 5.0);
    EXPECT_GT(slowdown, ddp_across / ddp_inside);
}

TEST(Plan, FormatsAgreeOnTheStrategies) {
    for (const char* format : {"table", "csv", "markdown"}) {
        const Said run = wirewise_run(kArticle + "--strategy ddp,fsdp --format " + format);
        EXPECT_EQ(run.exit_code, 0) << run.err;
        EXPECT_NE(run.out.find("fsdp"), std::string::npos) << format;
        EXPECT_EQ(run.out.find('\033'), std::string::npos) << "colours are for terminals";
    }
}

// What the page embeds is the answer itself, and nothing is fetched from elsewhere.
TEST(Plan, ReportIsOnePageThatHoldsTheAnswer) {
    const std::string file = testing::TempDir() + "wirewise_report.html";
    const Said run = wirewise_run(kArticle + "--strategy ddp,fsdp --report " + file);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    std::ifstream in(file);
    const std::string page((std::istreambuf_iterator<char>(in)), {});
    const std::string mark = "<script type=\"application/json\" id=\"data\">";
    const auto begin = page.find(mark) + mark.size(), end = page.find("</script>", begin);
    const Json data = Json::parse(page.substr(begin, end - begin));
    const Json answer = run.json();
    EXPECT_EQ(data.at("plan"), answer);
    ASSERT_EQ(data.at("steps").size(), 2U);
    const Json &fsdp = data.at("steps").at(1), &planned = candidate(answer, "fsdp");
    EXPECT_NEAR(fsdp.at("milliseconds").get<double>() / 1e3, planned.at("time").at("step_seconds"), 1e-9);
    std::int64_t highest = 0;
    for (const Json& point : fsdp.at("memory")) highest = std::max(highest, point.at(1).get<std::int64_t>());
    EXPECT_EQ(highest, planned.at("memory").at("peak_allocated_bytes"));
    EXPECT_NE(page.find("<svg"), std::string::npos);
    for (const char* outside : {"src=", "href=", "@import", "fetch("})
        EXPECT_EQ(page.find(outside), std::string::npos) << outside;
}

// Scores in memory cost time and memory; one kernel between the two products spares most of both.
TEST(Plan, KindsOfAttentionAreOrdered) {
    const auto under = [](const std::string& attention) {
        const Json json = wirewise_run(
                              "plan --model gpt2-xl --machine a100-80gb-x4 --gpus 1 --runtime pytorch "
                              "--strategy single --micro-batch 4 --sequence-length 1024 --attention " +
                              attention)
                              .json();
        const Json one = json.at("candidates").at(0);
        return std::pair(one.at("time").at("step_seconds").get<double>(),
                         one.at("memory").at("peak_allocated_bytes").get<std::int64_t>());
    };
    const auto flash = under("flash"), fused_softmax = under("fused_softmax"), eager = under("eager");
    EXPECT_LT(flash.first, fused_softmax.first);
    EXPECT_LT(fused_softmax.first, eager.first);
    EXPECT_LT(flash.second, fused_softmax.second);
    EXPECT_LT(fused_softmax.second, eager.second);
}

}  // namespace
}  // namespace wirewise
