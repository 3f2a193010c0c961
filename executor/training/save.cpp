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

}  // namespace

void save_checkpoint(const Executor& executor, const std::filesystem::path& folder, DType dtype,
                     std::string_view config) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    write_safetensors(folder / "model.safetensors", tensors_to_write(executor, TensorKind::parameter, dtype));
    FileAside file(folder / "config.json");
    file.write(config);
    file.commit();
}

void save_gradients(const Executor& executor, const std::filesystem::path& file) {
    write_safetensors(file, tensors_to_write(executor, TensorKind::gradient, DType::fp32));
}

}  // namespace wirewise
