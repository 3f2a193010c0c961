#include "model/strategy/pytorch/tensor.hpp"

#include <array>
#include <utility>

namespace wirewise {

Tensor::Tensor(const Tensor& other)
    : rows(other.rows),
      columns(other.columns),
      type(other.type),
      view(other.view),
      weight(other.weight),
      slot(other.slot),
      storages_(other.storages_),
      storage_(other.storage_) {
    if (storages_) storages_->hold(storage_);
}

Tensor::Tensor(Tensor&& other) noexcept
    : rows(std::exchange(other.rows, 0)),
      columns(other.columns),
      type(other.type),
      view(other.view),
      weight(other.weight),
      slot(other.slot),
      storages_(std::exchange(other.storages_, nullptr)),
      storage_(other.storage_) {}

Tensor& Tensor::operator=(Tensor other) noexcept {
    std::swap(rows, other.rows);
    std::swap(columns, other.columns);
    std::swap(type, other.type);
    std::swap(view, other.view);
    std::swap(weight, other.weight);
    std::swap(slot, other.slot);
    std::swap(storages_, other.storages_);
    std::swap(storage_, other.storage_);
    return *this;
}

Tensor::~Tensor() {
    if (storages_) storages_->drop(storage_);
}

Tensor Tensor::as(std::int64_t new_rows, std::int64_t new_columns) const {
    Tensor result = *this;
    result.rows = new_rows;
    result.columns = new_columns;
    return result;
}

Tensor Storages::empty(std::string_view name, std::int64_t rows, std::int64_t columns, DType type,
                       Role role) {
    Tensor result;
    result.rows = rows;
    result.columns = columns;
    result.type = type;
    if (skipping) return result;
    result.storages_ = this;
    result.storage_ = static_cast<StorageId>(records_.size());
    records_.push_back({build_.transient(name, bytes_of(rows * columns, type), type, role, stream_), 1, 0});
    return result;
}

Use Storages::use(const Tensor& tensor, Access access) const {
    if (tensor.storage_ == StorageId::none) return {{}, StorageId::none, access};
    return {records_[index_of(tensor.storage_)].buffer, tensor.storage_, access};
}

bool Storages::sole_owner(const Tensor& tensor) const {
    return tensor.storages_ && records_[index_of(tensor.storage_)].references == 1;
}

void Storages::drop(StorageId id) {
    Record& record = records_[index_of(id)];
    if (--record.references == 0 && record.last_op != 0)
        dropped_.push_back(static_cast<std::uint32_t>(index_of(id)));
}

void Storages::settle() {
    for (const std::uint32_t id : dropped_)
        if (records_[id].last_op != build_.op_count()) owed_.push_back(records_[id].buffer);
    dropped_.clear();
    if (!owed_.empty()) build_.release(owed_);
    owed_.clear();
}

void Storages::compute(std::string_view name, const Kernel& kernel, std::span<const Use> uses) {
    if (skipping) return;
    settle();
    if (workspace_ && std::holds_alternative<Gemm>(kernel)) take_workspace(uses.back().buffer);
    std::array<Operand, 16> operands;
    ensure(uses.size() <= operands.size(), "an eager kernel has at most 16 operands");
    const auto now = static_cast<std::uint32_t>(build_.op_count() + 1);
    for (std::size_t i = 0; i < uses.size(); ++i) {
        const Use& use = uses[i];
        operands[i] = {use.buffer, use.access, false, Bytes(0), build_.at(use.buffer).bytes};
        if (use.storage != StorageId::none) records_[index_of(use.storage)].last_op = now;
    }
    build_.compute(stream_, name, kernel, std::span<const Operand>(operands.data(), uses.size()));
}

void Storages::take_workspace(BufferId result) {
    if (!workspace_) return;
    settle();
    build_.allocate(std::array{result, *std::exchange(workspace_, std::nullopt)});
}

void Storages::used_now(const Tensor& tensor) {
    if (tensor.storage_ == StorageId::none) return;
    records_[index_of(tensor.storage_)].last_op = static_cast<std::uint32_t>(build_.op_count());
}

}  // namespace wirewise
