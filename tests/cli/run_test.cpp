// `run --backend host` as users meet it: its command, its files, its refusals, Ctrl-C.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/cli/folder.hpp"
#include "tests/cli/run_binary.hpp"

namespace wirewise {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const std::string kModel = std::string(WIREWISE_SOURCE_FOLDER) + "/tests/host/fixtures/llama_tiny";
const std::string kQuoted = "\"" + kModel + "\"";
const std::string kPrecision = " --parameter-dtype fp32 --compute-dtype fp32 --optimizer-state-dtype fp32";

Json file_json(const std::string& path) {
    std::ifstream file(path);
    return Json::parse(file, nullptr, false);
}

TEST(Run, ComputesTheReferenceStepsAndSaysWhatWasPredicted) {
    const Folder folder;
    const Said run = wirewise_run(fmt::format(
        "run --backend host --checkpoint \"{0}\" --tokens \"{0}/trace.safetensors\" --strategy fsdp --gpus 4 "
        "--steps "
        "8{1} "
        "--learning-rate 1e-3 --betas 0.9,0.95 --eps 1e-8 --weight-decay 0.1 --format json --trace {2} "
        "--save {3} "
        "--save-gradients {4}",
        kModel, kPrecision, folder / "trace.json", folder / "saved/", folder / "gradients.safetensors"));
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const Json json = run.json(), trace = file_json(kModel + "/trace.json");
    EXPECT_EQ(json.at("schema"), "wirewise.run/1");
    ASSERT_EQ(json.at("steps").size(), 8U);
    for (std::size_t i = 0; i < 8; ++i) {
        const double loss = trace.at("losses")[i], norm = trace.at("grad_norms")[i];
        EXPECT_NEAR(json.at("steps")[i].at("loss"), loss, 2e-5 * loss);
        EXPECT_NEAR(json.at("steps")[i].at("grad_norm"), norm, 1e-4 * norm);
        EXPECT_GT(json.at("steps")[i].at("seconds"), 0);
    }
    for (const char* key :
         {"step_seconds", "tokens_per_second_per_gpu", "peak_allocated_bytes", "device_used_bytes"}) {
        EXPECT_GT(json.at("measured").at(key), 0) << key;
        EXPECT_GT(json.at("predicted").at(key), 0) << key;
    }
    EXPECT_EQ(json.at("measured").at("peak_allocated_bytes"),
              json.at("predicted").at("peak_allocated_bytes"));
    EXPECT_EQ(fs::file_size(folder / "gradients.safetensors"), fs::file_size(kModel + "/model.safetensors"));
    EXPECT_EQ(file_json(folder / "saved/config.json"), file_json(kModel + "/config.json"));

    std::string processes = file_json(folder / "trace.json").dump();
    EXPECT_NE(processes.find("predicted"), std::string::npos);
    EXPECT_NE(processes.find("rank 3, measured"), std::string::npos);

    // What was saved is a checkpoint again.
    const Said again =
        wirewise_run(fmt::format("run --checkpoint {} --steps 1 --gpus 1{}", folder / "saved", kPrecision));
    EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST(Run, StartsFromASeedAndGeneratedTokens) {
    const std::string words =
        "run --model " + kQuoted + " --steps 2 --sequence-length 16 --strategy hsdp --gpus 4" + kPrecision;
    const Json first = wirewise_run(words).json(), second = wirewise_run(words).json();
    EXPECT_EQ(first.at("steps")[1].at("loss"), second.at("steps")[1].at("loss"));
    EXPECT_NE(wirewise_run(words + " --seed 2").json().at("steps")[1].at("loss"),
              first.at("steps")[1].at("loss"));
    EXPECT_EQ(first.at("inputs").at("mesh").at("replicate"), 2);
}

TEST(Run, AGlobalBatchSetsTheAccumulationAsInAPlan) {
    const Json inputs = wirewise_run("run --model " + kQuoted +
                                     " --steps 1 --sequence-length 16 --strategy ddp --gpus 2"
                                     " --global-batch 8 --micro-batch 2" +
                                     kPrecision)
                            .json()
                            .at("inputs");
    EXPECT_EQ(inputs.at("global_batch"), 8);
    EXPECT_EQ(inputs.at("gradient_accumulation"), 2);
}

// The names, shapes and metadata of a safetensors file, offsets and dtypes left out.
Json header_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::uint64_t length = 0;
    file.read(reinterpret_cast<char*>(&length), sizeof length);
    std::string text(length, ' ');
    file.read(text.data(), static_cast<std::streamsize>(length));
    Json header = Json::object();
    const Json stored = Json::parse(text);
    for (const auto& [name, tensor] : stored.items())
        header[name] = name == "__metadata__" ? tensor : tensor.at("shape");
    return header;
}

std::vector<fs::path> reference_folders() {
    std::vector<fs::path> folders{kModel,
                                  std::string(WIREWISE_SOURCE_FOLDER) + "/tests/host/fixtures/qwen3_tiny"};
    const char* const shared = std::getenv("WIREWISE_SHARED");
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(fs::path(shared ? shared : "") / "reference", error))
        folders.push_back(entry.path());
    return folders;
}

// What transformers wrote and what we write have the same files' contents but for the dtype: a tied head is
// left out, the metadata says format pt, and a tokenizer goes along.
TEST(Run, SavesTheFolderThatTransformersWrote) {
    for (const fs::path& reference : reference_folders()) {
        SCOPED_TRACE(reference.string());
        const Folder folder;
        fs::create_directory(folder / "model");
        for (const char* const file : {"config.json", "model.safetensors"})
            fs::create_symlink(reference / file, fs::path(folder / "model") / file);
        std::ofstream(folder / "model/tokenizer.json") << "{}";
        const Said run = run_binary({"run", "--checkpoint", folder / "model", "--steps", "1", "--gpus", "2",
                                     "--sequence-length", "16", "--save", folder / "saved"});
        ASSERT_EQ(run.exit_code, 0) << run.err;
        Json expected = file_json((reference / "config.json").string());
        expected[expected.contains("dtype") ? "dtype" : "torch_dtype"] = "bfloat16";
        EXPECT_EQ(file_json(folder / "saved/config.json"), expected);
        const Json saved = header_of(folder / "saved/model.safetensors"),
                   theirs = header_of((reference / "model.safetensors").string());
        EXPECT_EQ(saved.size(), theirs.size());
        for (const auto& [name, shape] : theirs.items()) EXPECT_EQ(saved.value(name, Json()), shape) << name;
        EXPECT_TRUE(fs::exists(folder / "saved/tokenizer.json"));
    }
}

TEST(Run, BadInputIsRefusedWithExitTwo) {
    const Folder folder;
    fs::copy(kModel, folder / "model");
    fs::permissions(folder / "model/model.safetensors", fs::perms::owner_write, fs::perm_options::add);
    fs::resize_file(folder / "model/model.safetensors", 500'000);
    const std::string with_tokens =
        "run --checkpoint " + kQuoted + " --tokens \"" + kModel + "/trace.safetensors\"";
    const std::vector<std::pair<std::string, std::string>> cases{
        {"run --checkpoint " + folder / "model", "it is truncated"},
        {"run --checkpoint " + kQuoted + " --set num_hidden_layers=2", "model.layers.2."},
        {"run --checkpoint " + kQuoted + " --set intermediate_size=160", "has shape"},
        {"run --model " + kQuoted + " --set vocab_size=300 --tokens \"" + kModel + "/trace.safetensors\"",
         "outside the vocabulary"},
        {with_tokens + " --gpus 3", "do not divide"},
        {"run", "--model"},
        {"run --model gpt2", "priced, not computed"},
        {"run --model " + kQuoted + " --strategy single --gpus 2", "--strategy"},
        {"run --model " + kQuoted + " --betas 0.9", "--betas"},
        {with_tokens + " --steps 0", "--steps"},
        {with_tokens + " --gpus 2 --global-batch 64", "sequences a step"},
        {"run --model " + kQuoted + " --strategy ddp --gpus 2 --global-batch 3", "write for example 4"},
        {with_tokens + " --gpus 65", "1 to 64"},
        {with_tokens + " --nodes 2", "--nodes"},
        {with_tokens + " --gpu-ids 0,1", "--gpu-ids"},
        {"run --checkpoint " + kQuoted + " --save " + kQuoted, "--save"},
        {with_tokens + " --save " + folder / "none/saved", "--save"}};
    for (const auto& [words, part] : cases) {
        const Said run = wirewise_run(words);
        EXPECT_EQ(run.exit_code, 2) << words;
        EXPECT_NE(run.err.find(part), std::string::npos) << words << "\n" << run.err;
        EXPECT_TRUE(run.out.empty()) << words;
    }
}

TEST(Run, APlanFileClipsAsItsOptionsDo) {
    const Folder folder;
    const std::string plan = folder / "plan.json";
    const std::vector<std::string> question = {"--model",         kModel, "--strategy",        "ddp",
                                               "--gpus",          "2",    "--sequence-length", "16",
                                               "--max-grad-norm", "0.5"};
    const auto with = [&](std::vector<std::string> words) {
        words.insert(words.end(), question.begin(), question.end());
        return run_binary(words);
    };
    ASSERT_EQ(with({"plan", "--machine", "hgx-h100-8", "--plan-out", plan, "--quiet"}).exit_code, 0);
    const std::vector<std::string> run{"run", "--backend", "host", "--steps", "3", "--learning-rate", "0.1"};
    std::vector<std::string> from_file = run;
    from_file.insert(from_file.end(), {"--plan", plan});
    const Said planned = run_binary(from_file), asked = with(run);
    ASSERT_EQ(planned.exit_code, 0) << planned.err;
    ASSERT_EQ(asked.exit_code, 0) << asked.err;
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(planned.json().at("steps")[i].at("loss"), asked.json().at("steps")[i].at("loss"));
    from_file.insert(from_file.end(), {"--micro-batch", "4"});
    EXPECT_EQ(run_binary(from_file).exit_code, 2) << "the file says it already";
}

// A plan file and the config beside it, moved together.
TEST(Run, APlanFileFindsItsModelBesideItself) {
    const Folder folder;
    fs::create_directories(folder.path / "first");
    fs::copy(kModel, folder.path / "first" / "tiny", fs::copy_options::recursive);
    ASSERT_EQ(run_binary({"plan", "--model", folder / "first/tiny", "--machine", "hgx-h100-8", "--strategy",
                          "ddp", "--gpus", "2", "--sequence-length", "16", "--plan-out",
                          folder / "first/tiny/../plan.json", "--quiet"})
                  .exit_code,
              0);
    fs::rename(folder.path / "first", folder.path / "second");
    const Said run =
        run_binary({"run", "--backend", "host", "--steps", "1", "--plan", folder / "second/plan.json"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST(Run, AnInterruptEndsItWith130AndLeavesNothing) {
    const Folder folder;
    const std::string words = fmt::format(
        "run --model {} --steps 100000000 --sequence-length 8 --quiet --save {}", kQuoted, folder / "saved");
    // The shell passes the signal on after a second.
    const std::string command =
        fmt::format("\"{}\" {} & pid=$!; sleep 1; kill -INT $pid; wait $pid", WIREWISE_BINARY, words);
    const int status = std::system(("bash -c 'set -m; " + command + "'").c_str());
    EXPECT_EQ(WEXITSTATUS(status), 130);
    EXPECT_FALSE(fs::exists(folder / "saved"));
}

}  // namespace
}  // namespace wirewise
