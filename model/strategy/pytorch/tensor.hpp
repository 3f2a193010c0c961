// Tensors as the host of an eager framework holds them: counted references to device buffers. When the last
// reference drops, the buffer goes back to the caching allocator at that point of the issue order; the
// program says so by the buffer's last use or, where the host held it longer, by a Release op.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/program/builder.hpp"

namespace wirewise {

class Storages;

enum class StorageId : std::uint32_t { none = ~0U };
enum class WeightId : std::int32_t { none = -1 };
// Where the gradient of a tensor is gathered. untracked: it requires one, but no node was recorded; a
// weight's.
enum class GradientSlot : std::uint32_t { none = ~0U, untracked = ~0U - 1 };

// A matrix [rows, columns] over a counted buffer, or over a weight, whose buffer its ParameterPolicy owns.
class Tensor {
  public:
    Tensor() = default;
    Tensor(const Tensor& other);
    Tensor(Tensor&& other) noexcept;
    Tensor& operator=(Tensor other) noexcept;
    ~Tensor();

    bool defined() const { return rows != 0; }
    std::int64_t count() const { return rows * columns; }
    Bytes bytes() const { return bytes_of(count(), type); }
    bool requires_gradient() const { return slot != GradientSlot::none; }
    StorageId storage() const { return storage_; }
    // The same storage seen with another shape.
    Tensor as(std::int64_t new_rows, std::int64_t new_columns) const;

    std::int64_t rows = 0, columns = 0;
    DType type = DType::bf16;
    bool view = false;  // autograd made it a view, whose base it keeps
    WeightId weight = WeightId::none;
    GradientSlot slot = GradientSlot::none;

  private:
    friend class Storages;
    Storages* storages_ = nullptr;
    StorageId storage_ = StorageId::none;
};

// How an op uses a tensor or a buffer.
struct Use {
    BufferId buffer{};
    StorageId storage = StorageId::none;
    Access access = Access::read;
};

class Storages {
  public:
    Storages(ProgramBuilder& build, StreamId stream) : build_(build), stream_(stream) {}
    Storages(const Storages&) = delete;
    Storages& operator=(const Storages&) = delete;

    // An uninitialised tensor of the compute stream's pool.
    Tensor empty(std::string_view name, std::int64_t rows, std::int64_t columns, DType type,
                 Role role = Role::activation);
    Use use(const Tensor& tensor, Access access) const;
    bool sole_owner(const Tensor& tensor) const;

    void compute(std::string_view name, const Kernel& kernel, std::span<const Use> uses);
    // The next matrix product is the first of its thread: its cuBLAS handle takes this workspace, once the
    // product's result is allocated.
    void owe_workspace(BufferId workspace) { workspace_ = workspace; }
    // For a product that is not priced as one.
    void take_workspace(BufferId result);
    // Emits the Release ops owed so far; due before an op that is given to the builder directly.
    void settle();
    // The latest op was given to the builder directly, and used this tensor.
    void used_now(const Tensor& tensor);

    ProgramBuilder& build() { return build_; }
    StreamId stream() const { return stream_; }

    // While set, ops allocate and emit nothing (the part of a recomputation that early stop leaves out).
    bool skipping = false;

  private:
    friend class Tensor;
    struct Record {
        BufferId buffer{};
        std::uint32_t references = 0;
        std::uint32_t last_op = 0;  // one more than the op; 0: never used
    };
    void hold(StorageId id) { ++records_[index_of(id)].references; }
    void drop(StorageId id);

    ProgramBuilder& build_;
    StreamId stream_;
    std::vector<Record> records_;
    std::vector<std::uint32_t> dropped_;  // records without references whose Release may be owed
    std::vector<BufferId> owed_;
    std::optional<BufferId> workspace_;
};

}  // namespace wirewise
