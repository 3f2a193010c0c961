// `calibrate` and `run --calibrate` as users meet them: the shipped profile comes out of the committed
// samples, and what a run measured makes the next prediction better.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/cli/folder.hpp"
#include "tests/cli/run_binary.hpp"

namespace wirewise {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const std::string kRoot = WIREWISE_SOURCE_FOLDER;

Json file_json(const std::string& path) {
    std::ifstream file(path);
    return Json::parse(file, nullptr, false);
}

// The shipped profile is what its samples make of it: fitted to them again, its numbers and its intervals
// stay.
TEST(Calibrate, ReproducesTheShippedProfile) {
    const Folder folder;
    const std::string samples = kRoot + "/calibration/samples/", cases = kRoot + "/tests/validate/cases/";
    const std::string profile = kRoot + "/calibration/profiles/h200-sxm.json";
    const Said run =
        run_binary({"calibrate", samples + "kernels_h200-x2.jsonl", samples + "probes_h200-x2.jsonl",
                    samples + "pytorch_steps_h200-x2.jsonl", cases + "training_steps_h200-x2.jsonl",
                    "--models", cases + "models", "--base", profile, "--hold", "/runtimes", "--out",
                    folder / "h200-sxm.json", "--format", "json", "--quiet"},
                   {}, 240);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const Json answer = run.json();
    EXPECT_EQ(answer.at("schema"), "wirewise.calibrate/1");
    EXPECT_FALSE(answer.at("outliers").empty());
    EXPECT_GT(answer.at("terms").size(), 30U);
    for (const Json& term : answer.at("terms")) {
        const double was = term.at("was"), is = term.at("value"), spread = term.at("spread");
        EXPECT_LE(std::abs(std::log(is / was)), 2 * spread + 0.005) << term.at("name");
    }
    const Json made = file_json(folder / "h200-sxm.json"), shipped = file_json(profile);
    EXPECT_EQ(made.at("wires"), shipped.at("wires"));
    for (const char* width : {"gpu_bound", "host_bound"}) {
        const auto of = [&](const Json& from) {
            return from.at("intervals").at("step").at("pytorch").at(width).at("half_width").get<double>();
        };
        EXPECT_LE(of(made), of(shipped) + 0.005) << width;  // the profile has seen every group by now
        EXPECT_GT(of(made), 0.5 * of(shipped)) << width;
    }
}

TEST(Calibrate, SaysWhatIsWrongWithItsInput) {
    const Folder folder;
    std::ofstream(folder / "bad.jsonl")
        << R"({"kind": "gemm", "m": 1, "n": 2, "us": 3, "machine": "h200-x2"})";
    const Said missing = run_binary({"calibrate", folder / "bad.jsonl", "--out", folder / "p.json"});
    EXPECT_EQ(missing.exit_code, 2);
    EXPECT_NE(missing.err.find("bad.jsonl:1"), std::string::npos) << missing.err;
    std::ofstream(folder / "none.jsonl")
        << R"({"kind": "adamw_fused_bf16", "params": 0, "us": 3, "machine": "h200-x2"})";
    const Said none = run_binary({"calibrate", folder / "none.jsonl", "--out", folder / "p.json"});
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_NE(none.err.find("none.jsonl:1:/params"), std::string::npos) << none.err;
    EXPECT_EQ(run_binary({"calibrate", "/nonexistent", "--out", folder / "p.json"}).exit_code, 2);
    std::ofstream(folder / "good.jsonl")
        << R"({"kind": "gemm", "layout": "fwd", "m": 512, "n": 4096, "k": 4096, "us": 29, "machine": "h200-x2"})";
    for (const char* pointer : {"/runtime", "runtimes", ""}) {
        const Said held =
            run_binary({"calibrate", folder / "good.jsonl", "--hold", pointer, "--out", folder / "p.json"});
        EXPECT_EQ(held.exit_code, 2) << pointer;
        EXPECT_NE(held.err.find("--hold"), std::string::npos) << held.err;
    }
    EXPECT_FALSE(fs::exists(folder / "p.json"));
}

// The host's profile, with every time of it stretched: one of another, slower machine.
void write_slower(const std::string& from, const std::string& to, double factor) {
    Json profile = file_json(from);
    const auto stretch = [&](Json& value, double by) {
        const std::string text = value.get<std::string>();
        const std::size_t unit = text.find(' ');
        value = fmt::format("{:.6g}{}", std::stod(text) * by, text.substr(unit));
    };
    for (auto& rate : profile["gemm"]["rate"]) stretch(rate, 1 / factor);
    for (const char* way : {"forward", "backward"})
        for (auto& point : profile["attention"][way]) stretch(point["rate"], 1 / factor);
    for (const char* rate : {"reduction_rate", "gather_rate"}) stretch(profile["memory"][rate], 1 / factor);
    stretch(profile["optimizer"]["rate"], 1 / factor);
    profile.erase("terms");
    std::ofstream(to) << profile.dump(2);
}

double predicted(const Json& run) { return run.at("predicted").at("step_seconds").get<double>(); }

TEST(RunCalibrate, BringsTheNextPredictionNearerOnAnotherShape) {
    const Folder folder;
    const std::string model = "\"" + kRoot + "/tests/host/fixtures/llama_tiny\"";
    const auto run = [&](const std::string& rest) {
        const Said said = wirewise_run(fmt::format(
            "run --backend host --model {} --gpus 2 --steps 8 --parameter-dtype fp32 --compute-dtype "
            "fp32 --format json --quiet {}",
            model, rest));
        EXPECT_EQ(said.exit_code, 0) << said.err;
        return said.json();
    };
    const std::string profile = folder / "host.json", other = folder / "other.json";
    run("--strategy fsdp --sequence-length 32 --calibrate " + profile);  // made from the bench and the run
    const Said planned =
        run_binary({"plan", "--model", "mistral-7b", "--machine", "h200-x2", "--profile", profile});
    EXPECT_EQ(planned.exit_code, 2) << "a CPU's profile times no GPU";
    EXPECT_NE(planned.err.find("--profile"), std::string::npos) << planned.err;
    ASSERT_TRUE(fs::exists(profile));
    write_slower(profile, other, 8);
    const std::string shape = "--strategy ddp --sequence-length 64 --micro-batch 2 --profile ";
    // Against what this machine's own profile says, not against one run: others may use the machine.
    const double right = predicted(run(shape + profile)), before = predicted(run(shape + other));
    const Json calibrated = run("--strategy fsdp --sequence-length 32 --calibrate " + other);
    EXPECT_FALSE(calibrated.at("calibration").at("terms").empty());
    EXPECT_GT(calibrated.at("calibration").at("next_step_seconds"), 0);
    const double after = predicted(run(shape + other));
    EXPECT_LT(std::abs(std::log(after / right)), std::abs(std::log(before / right)))
        << "right " << right << ", before " << before << ", after " << after;
}

}  // namespace
}  // namespace wirewise
