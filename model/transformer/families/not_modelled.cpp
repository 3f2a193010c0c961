// Model types that are known and refused, with the reason.
#include <algorithm>
#include <array>
#include <utility>

#include "model/transformer/family.hpp"

namespace wirewise {

namespace {
constexpr std::string_view kEncoder = "an encoder, not a causal language model";
constexpr std::string_view kEncoderDecoder = "an encoder-decoder";
constexpr std::string_view kVision = "a vision model without a language-model head";
constexpr std::string_view kMultimodal = "a multimodal model; give the config of its text model instead";
constexpr std::string_view kStateSpace = "it has state-space or linear-attention layers";
constexpr std::string_view kIndexer =
    "its sparse-attention indexer adds parameters and changes the cost of attention";
constexpr std::string_view kHeterogeneous =
    "each layer has a shape of its own (block_configs), some are left out";

constexpr std::pair<std::string_view, std::string_view> kReasons[] = {
    {"albert", kEncoder},
    {"bert", kEncoder},
    {"deberta", kEncoder},
    {"deberta-v2", kEncoder},
    {"distilbert", kEncoder},
    {"electra", kEncoder},
    {"longformer", kEncoder},
    {"modernbert", kEncoder},
    {"roberta", kEncoder},
    {"xlm-roberta", kEncoder},
    {"bart", kEncoderDecoder},
    {"led", kEncoderDecoder},
    {"marian", kEncoderDecoder},
    {"mbart", kEncoderDecoder},
    {"mt5", kEncoderDecoder},
    {"pegasus", kEncoderDecoder},
    {"t5", kEncoderDecoder},
    {"t5gemma", kEncoderDecoder},
    {"umt5", kEncoderDecoder},
    {"whisper", kEncoderDecoder},
    {"speech_to_text", kEncoderDecoder},
    {"beit", kVision},
    {"clip", kVision},
    {"convnext", kVision},
    {"deit", kVision},
    {"dinov2", kVision},
    {"resnet", kVision},
    {"siglip", kVision},
    {"swin", kVision},
    {"vit", kVision},
    {"gemma3n", kMultimodal},
    {"idefics3", kMultimodal},
    {"internvl", kMultimodal},
    {"internvl_chat", kMultimodal},
    {"llava", kMultimodal},
    {"llava_next", kMultimodal},
    {"mllama", kMultimodal},
    {"paligemma", kMultimodal},
    {"phi4_multimodal", kMultimodal},
    {"phi4mm", kMultimodal},
    {"qwen2_5_vl", kMultimodal},
    {"qwen2_vl", kMultimodal},
    {"qwen3_vl", kMultimodal},
    {"qwen3_vl_moe", kMultimodal},
    {"bamba", kStateSpace},
    {"falcon_h1", kStateSpace},
    {"falcon_mamba", kStateSpace},
    {"granitemoehybrid", kStateSpace},
    {"jamba", kStateSpace},
    {"kimi_linear", kStateSpace},
    {"lfm2", kStateSpace},
    {"mamba", kStateSpace},
    {"mamba2", kStateSpace},
    {"minimax", kStateSpace},
    {"minimax_text_01", kStateSpace},
    {"nemotron_h", kStateSpace},
    {"qwen3_5", kStateSpace},
    {"qwen3_next", kStateSpace},
    {"recurrent_gemma", kStateSpace},
    {"rwkv", kStateSpace},
    {"zamba", kStateSpace},
    {"zamba2", kStateSpace},
    {"deepseek_v32", kIndexer},
    {"glm_moe_dsa", kIndexer},
    {"deci", kHeterogeneous},
    {"nemotron-nas", kHeterogeneous},
    {"openelm", "each layer has widths of its own"},
};
}  // namespace

std::string_view reason_not_modelled(std::string_view model_type) {
    const auto* found =
        std::ranges::find(kReasons, model_type, &std::pair<std::string_view, std::string_view>::first);
    return found == std::end(kReasons) ? std::string_view() : found->second;
}

}  // namespace wirewise
