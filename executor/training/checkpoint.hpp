// The weights of a Hugging Face folder: model.safetensors, or the shards that model.safetensors.index.json
// names.
#pragma once

#include <filesystem>
#include <map>

#include "executor/training/safetensors.hpp"
#include "executor/training/unit_tensors.hpp"

namespace wirewise {

class Checkpoint final : public WeightSource {
  public:
    // A folder or one .safetensors file. Throws InputError.
    explicit Checkpoint(const std::filesystem::path& path);

    // Every tensor of the model is there in the right shape and a dtype that is computed with, and no other
    // is. Throws InputError naming the tensor.
    void check(const Transformer& model, std::span<const UnitTensor> tensors) const;

    void read(const UnitTensor& tensor, std::int64_t first, std::span<float> values) const override;

  private:
    struct Place {
        std::size_t file = 0, tensor = 0;
    };
    void add_file(const std::filesystem::path& path);
    void add_indexed(const std::filesystem::path& folder, const std::filesystem::path& index);
    const StoredTensor& stored(const Place& place) const {
        return files_[place.file].tensors()[place.tensor];
    }
    void check_tensor(const UnitTensor& tensor) const;

    std::string path_;
    std::vector<SafetensorsFile> files_;
    std::map<std::string, Place, std::less<>> places_;
};

}  // namespace wirewise
