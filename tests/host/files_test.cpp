// Files a run reads and writes: safetensors, checkpoints, tokens. Bad ones are refused with what is wrong
// named.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>
#include <fstream>
#include <numeric>

#include "executor/training/checkpoint.hpp"
#include "executor/training/convert.hpp"
#include "executor/training/save.hpp"
#include "executor/training/tokens.hpp"
#include "executor/training/write_aside.hpp"
#include "tests/host/reference.hpp"

namespace wirewise {
namespace {

namespace fs = std::filesystem;
using test::Reference;

// A folder that is gone when the test is.
struct Folder {
    fs::path path;
    Folder() {
        std::string name = (fs::temp_directory_path() / "wirewise-XXXXXX").string();
        path = mkdtemp(name.data());
    }
    ~Folder() { fs::remove_all(path); }
    fs::path write(const std::string& name, const std::string& text) const {
        std::ofstream(path / name, std::ios::binary) << text;
        return path / name;
    }
};

std::string read_text(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string safetensors(const std::string& header, const std::string& data) {
    const std::uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

std::string message_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const InputError& error) {
        return error.what();
    }
    return "no InputError";
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Safetensors, LyingFilesAreRefusedWithTheTensorNamed) {
    const Folder folder;
    const auto opened = [&](const std::string& header, const std::string& data) {
        const fs::path path = folder.write("x.safetensors", safetensors(header, data));
        return message_of([&] { SafetensorsFile{path}; });
    };
    const auto one = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
        return R"({"w":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets +
               "}}";
    };
    EXPECT_EQ(opened(one("F32", "[2]", "[0,8]"), "12345678"), "no InputError");
    for (const std::string& message :
         {opened(one("F32", "[2]", "[0,8]"), "1234"), opened(one("F32", "[3]", "[0,8]"), "12345678"),
          opened(one("F33", "[2]", "[0,8]"), "12345678"), opened(one("F32", "[-2]", "[0,8]"), "12345678"),
          opened(one("F32", "[2]", "[8,0]"), "12345678"), opened(one("F32", "[2]", "[4,12]"), "123456789012"),
          opened(one("F32", "[9223372036854775807,8]", "[0,8]"), "12345678"), opened(R"({"w":[]})", ""),
          opened(one("F32", "[2]", "[0]"), "12345678"), opened(one("F32", "[2.5]", "[0,8]"), "12345678")})
        EXPECT_TRUE(contains(message, "x.safetensors: w: ")) << message;
    EXPECT_TRUE(contains(opened(one("F32", "[2]", "[0,8]"), "123456789"), "belong to no tensor"));
    EXPECT_TRUE(contains(opened("{", ""), "no JSON object"));
    const auto raw = [&](const std::string& bytes) {
        const fs::path path = folder.write("raw", bytes);
        return message_of([&] { SafetensorsFile{path}; });
    };
    EXPECT_TRUE(contains(raw("abc"), "too short"));
    EXPECT_TRUE(contains(raw(std::string(8, '\xff') + "{}"), "says its header"));
    EXPECT_TRUE(contains(message_of([&] { SafetensorsFile{folder.path}; }), "not a regular file"));
}

TEST(Safetensors, AnyDamageIsRefusedOrHarmless) {
    const std::string sound = read_text(test::committed("llama_tiny") / "trace.safetensors").substr(0, 9000);
    const Folder folder;
    rc::check([&] {
        std::string text = sound;
        const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
        text[at] = *rc::gen::arbitrary<char>();
        text.resize(*rc::gen::inRange<std::size_t>(0, text.size()));
        const fs::path path = folder.write("damaged.safetensors", text);
        RC_ASSERT(contains(message_of([&] { SafetensorsFile{path}; }), "damaged"));
    });
}

TEST(Safetensors, WhatIsWrittenIsReadBack) {
    const Folder folder;
    const fs::path path = folder.path / "out.safetensors";
    const std::vector<float> values{1, -2.5, 3e-3F, 1e9F, 0, 7};
    std::vector<TensorToWrite> tensors;
    for (const DType type : {DType::fp32, DType::bf16, DType::fp16})
        tensors.push_back(
            {std::string(name_of(type)), type, {2, 3}, [&values, type](std::span<std::byte> bytes) {
                 narrow(values, type, bytes.data());
             }});
    write_safetensors(path, tensors);
    EXPECT_FALSE(fs::exists(path.string() + ".partial"));
    const SafetensorsFile file(path);
    for (const DType type : {DType::fp32, DType::bf16}) {
        const StoredTensor* const tensor = file.find(name_of(type));
        ASSERT_NE(tensor, nullptr);
        EXPECT_EQ(tensor->shape, (std::vector<std::int64_t>{2, 3}));
        std::vector<float> back(values.size());
        widen(file.bytes_of(*tensor).data(), type, back);
        for (std::size_t i = 0; i < values.size(); ++i)
            EXPECT_NEAR(back[i], values[i], std::abs(values[i]) / 256);
    }
}

TEST(FileAside, LeavesNothingHalfWritten) {
    const Folder folder;
    folder.write("kept", "old");
    {
        FileAside file(folder.path / "kept");
        file.write("ne");
    }
    EXPECT_EQ(read_text(folder.path / "kept"), "old");
    EXPECT_FALSE(fs::exists(folder.path / "kept.partial"));
}

TEST(Convert, RoundsToNearestEven) {
    EXPECT_EQ(from_bf16(to_bf16(1.00390625F)), 1.0F);        // a tie goes to the even neighbour below
    EXPECT_EQ(from_bf16(to_bf16(1.01171875F)), 1.015625F);   // a tie goes to the even neighbour above
    EXPECT_EQ(from_bf16(to_bf16(1.00390637F)), 1.0078125F);  // above the tie
    EXPECT_TRUE(std::isnan(from_bf16(to_bf16(std::nanf("")))));
    EXPECT_TRUE(std::isinf(from_bf16(to_bf16(3.4e38F))));
}

class Checkpoints : public testing::Test {
  protected:
    Reference reference_{test::committed("llama_tiny")};
    ModelLayout layout_{reference_.model, 1};
    std::vector<UnitTensor> tensors_ = unit_tensors(reference_.model, layout_);
    Folder folder_;

    std::string check() const {
        return message_of([&] { Checkpoint(folder_.path).check(reference_.model, tensors_); });
    }
    // The reference's tensors but for one that `change` alters or drops.
    void write_changed(const std::string& name, const std::function<bool(TensorToWrite&)>& change,
                       const std::string& file = "model.safetensors") const {
        const SafetensorsFile source(reference_.folder / "model.safetensors");
        std::vector<TensorToWrite> all;
        for (const StoredTensor& tensor : source.tensors()) {
            TensorToWrite entry{
                tensor.name, DType::fp32, tensor.shape, [&source, tensor](std::span<std::byte> bytes) {
                    const auto from = source.bytes_of(tensor);
                    std::memcpy(bytes.data(), from.data(), std::min(bytes.size(), from.size()));
                }};
            if (tensor.name != name || change(entry)) all.push_back(entry);
        }
        write_safetensors(folder_.path / file, all);
    }
};

TEST_F(Checkpoints, DisagreeingTensorsAreNamed) {
    const std::string name = "model.layers.1.mlp.up_proj.weight";
    write_changed(name, [](TensorToWrite&) { return false; });
    EXPECT_TRUE(contains(check(), name + ": is missing")) << check();
    write_changed(name, [](TensorToWrite& tensor) { return tensor.shape = {64, 176}, true; });
    EXPECT_TRUE(contains(check(), name + ": has shape [64, 176], the config says [176, 64]")) << check();
    write_changed(name, [](TensorToWrite& tensor) { return tensor.dtype = DType::int32, true; });
    EXPECT_TRUE(contains(check(), name + ": is stored as I32")) << check();
    write_changed(name, [](TensorToWrite&) { return true; });
    EXPECT_EQ(check(), "no InputError");
    const Transformer shallow = [&] {
        Transformer model = reference_.model;
        model.layers.pop_back();
        return model;
    }();
    const ModelLayout layout(shallow, 1);
    const auto tensors = unit_tensors(shallow, layout);
    EXPECT_TRUE(
        contains(message_of([&] { Checkpoint(folder_.path).check(shallow, tensors); }), "model.layers.2."));
}

TEST_F(Checkpoints, ShardedOnesNeedAllTheirFiles) {
    fs::copy(reference_.folder / "model.safetensors", folder_.path / "part-1.safetensors");
    const auto index = [&](const std::string& file) {
        std::string map;
        for (const UnitTensor& tensor : tensors_)
            map += (map.empty() ? "\"" : ",\"") + tensor.name + "\":\"" + file + "\"";
        folder_.write("model.safetensors.index.json", "{\"weight_map\":{" + map + "}}");
        return check();
    };
    EXPECT_EQ(index("part-1.safetensors"), "no InputError");
    EXPECT_TRUE(contains(index("part-2.safetensors"), "part-2.safetensors"));
    EXPECT_TRUE(contains(index("../part-1.safetensors"), "names no file of this folder"));
}

TEST_F(Checkpoints, SavedOnesAreLoadedAgain) {
    const ParallelPlan plan = test::fp32_plan(Strategy::fsdp, {.shard = 3}, 3, 32, 1, Recompute::none);
    const auto executor = make_host_executor(reference_.model, plan, reference_.numbers);
    executor->load(Checkpoint(reference_.folder));
    save_checkpoint(*executor, folder_.path / "saved", DType::fp32, "{}");
    const Checkpoint saved(folder_.path / "saved"), original(reference_.folder);
    saved.check(reference_.model, tensors_);
    for (const UnitTensor& tensor : tensors_) {
        std::vector<float> a(static_cast<std::size_t>(tensor.slice.count)), b = a;
        saved.read(tensor, 0, a);
        original.read(tensor, 0, b);
        EXPECT_EQ(a, b) << tensor.name;
    }
    EXPECT_EQ(read_text(folder_.path / "saved" / "config.json"), "{\n  \"torch_dtype\": \"float32\"\n}\n");
}

TEST(Tokens, OfASafetensorsFileSetTheShape) {
    const fs::path path = test::committed("llama_tiny") / "trace.safetensors";
    const auto tokens = open_tokens(path, 512);
    EXPECT_EQ(tokens->steps(), 8);
    EXPECT_EQ(tokens->shape()->batch, 8);
    EXPECT_EQ(tokens->shape()->sequence, 32);
    std::vector<std::int32_t> first(256), again(256);
    tokens->read(0, *tokens->shape(), first);
    tokens->read(8, *tokens->shape(), again);
    EXPECT_EQ(first, again);
    EXPECT_TRUE(contains(message_of([&] { open_tokens(path, 256); }), "outside the vocabulary of 256"));
    EXPECT_TRUE(
        contains(message_of([&] { open_tokens(test::committed("llama_tiny") / "model.safetensors", 512); }),
                 "tokens: is missing"));
}

TEST(Tokens, OfAFlatFileFollowOneAnother) {
    const Folder folder;
    std::vector<std::uint16_t> ids(100);
    std::iota(ids.begin(), ids.end(), std::uint16_t{0});
    const fs::path path =
        folder.write("train.bin", std::string(reinterpret_cast<const char*>(ids.data()), ids.size() * 2));
    const auto tokens = open_tokens(path, 100);
    std::vector<std::int32_t> batch(12);
    tokens->read(1, {3, 4}, batch);
    EXPECT_EQ(batch.front(), 12);
    EXPECT_EQ(batch.back(), 23);
    EXPECT_TRUE(contains(message_of([&] { open_tokens(path, 20)->read(1, {3, 4}, batch); }), "token 20"));
    std::vector<std::int32_t> large(200);
    EXPECT_TRUE(contains(message_of([&] { tokens->read(0, {20, 10}, large); }), "holds 100 tokens"));
    const auto wide = open_tokens(path, 1 << 30, TokenWidth::four_bytes);
    wide->read(0, {1, 12}, batch);
    EXPECT_EQ(batch.front(), 1 << 16);
}

TEST(Tokens, GeneratedOnesAreRepeatableAndInside) {
    const auto tokens = generated_tokens(3, 50);
    std::vector<std::int32_t> a(400), b(400);
    tokens->read(2, {4, 100}, a);
    tokens->read(2, {4, 100}, b);
    EXPECT_EQ(a, b);
    for (const std::int32_t token : a) EXPECT_TRUE(token >= 0 && token < 50);
    tokens->read(3, {4, 100}, b);
    EXPECT_NE(a, b);
}

}  // namespace
}  // namespace wirewise
