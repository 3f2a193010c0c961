#include "executor/training/save.hpp"

#include "executor/training/convert.hpp"
#include "executor/training/safetensors.hpp"
#include "executor/training/write_aside.hpp"

namespace wirewise {

namespace {

std::vector<TensorToWrite> tensors_to_write(const Executor& executor, TensorKind kind, DType dtype) {
    std::vector<TensorToWrite> all;
    for (const UnitTensor& tensor : executor.tensors())
        all.push_back(
            {tensor.name, dtype, tensor.parameter->shape, [&executor, &tensor, kind, dtype](auto bytes) {
                 std::vector<float> values(static_cast<std::size_t>(tensor.slice.count));
                 executor.read(kind, tensor, values);
                 narrow(values, dtype, bytes.data());
             }});
    return all;
}

// What a rank that does not write owes to the one that does.
void take_part(std::span<const TensorToWrite> tensors) {
    std::vector<std::byte> bytes;
    for (const TensorToWrite& tensor : tensors) {
        bytes.resize(static_cast<std::size_t>(bytes_of(tensor)));
        tensor.fill(bytes);
    }
}

}  // namespace

void save_checkpoint(const Executor& executor, const std::filesystem::path& folder, DType dtype,
                     std::string_view config) {
    const auto tensors = tensors_to_write(executor, TensorKind::parameter, dtype);
    if (!executor.leads()) return take_part(tensors);
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    FileAside weights(folder / "model.safetensors"), description(folder / "config.json");
    description.write(config);
    write_safetensors(weights, tensors);
    weights.commit();
    description.commit();
}

void save_gradients(const Executor& executor, const std::filesystem::path& file) {
    const auto tensors = tensors_to_write(executor, TensorKind::gradient, DType::fp32);
    if (!executor.leads()) return take_part(tensors);
    FileAside aside(file);
    write_safetensors(aside, tensors);
    aside.commit();
}

}  // namespace wirewise
