// cuDNN's backend C API, as far as attention needs it: a graph of operations on tensors, and the plan that
// runs it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "executor/cuda/handles.hpp"

namespace wirewise::cuda {

using DnnHandle = Owned<cudnnHandle_t, cudnnDestroy>;
DnnHandle make_dnn_handle();

// One backend descriptor: made, given its attributes, finalized.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(cudnnBackendDescriptorType_t type);

    cudnnBackendDescriptor_t get() const { return handle_.get(); }
    void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
             const void* values);
    void set(cudnnBackendAttributeName_t name, const Descriptor& other);
    void set(cudnnBackendAttributeName_t name, std::int64_t value);
    void finalize(const char* what);
    std::int64_t integer(cudnnBackendAttributeName_t name) const;

  private:
    Owned<cudnnBackendDescriptor_t, cudnnBackendDestroyDescriptor> handle_;
};

using Dimensions = std::array<std::int64_t, 4>;

// A tensor of a graph, named by its number. Virtual tensors exist between operations only.
using TensorId = std::int64_t;
constexpr TensorId kNoTensor = -1;

class DnnGraph {
  public:
    TensorId tensor(Dimensions dimensions, Dimensions strides, cudnnDataType_t type);
    TensorId intermediate(Dimensions dimensions, cudnnDataType_t type = CUDNN_DATA_FLOAT);
    TensorId intermediate(Dimensions dimensions, Dimensions strides, cudnnDataType_t type);
    TensorId scalar(cudnnDataType_t type = CUDNN_DATA_FLOAT);  // given by value

    struct Inputs {
        TensorId x, b = kNoTensor, condition = kNoTensor;
    };
    void pointwise(cudnnPointwiseMode_t mode, Inputs inputs, TensorId y,
                   cudnnDataType_t compute = CUDNN_DATA_FLOAT, std::int64_t axis = -1);
    void matmul(TensorId a, TensorId b, TensorId c);
    void reduce(cudnnReduceTensorOp_t operation, TensorId x, TensorId y);
    void reshape(TensorId x, TensorId y);

    void finalize(cudnnHandle_t handle);
    // Engine configurations, best first; empty where cuDNN has no kernel for this graph.
    std::vector<Descriptor> configurations() const;

  private:
    TensorId add(Dimensions dimensions, Dimensions strides, cudnnDataType_t type, bool is_virtual,
                 bool by_value);
    const Descriptor& at(TensorId id) const { return tensors_[static_cast<std::size_t>(id) - 1]; }
    void add(Descriptor operation, Descriptor part);

    std::vector<Descriptor> tensors_, operations_, parts_;
    Descriptor graph_;
};

// A value that a graph reads or writes: an address on the device, or of a number for a scalar.
struct Bound {
    TensorId tensor;
    void* address;
};

class DnnPlan {
  public:
    DnnPlan(cudnnHandle_t handle, const Descriptor& configuration);
    std::int64_t workspace() const { return workspace_; }
    // Everything a run needs, ready to be launched again and again.
    static Descriptor pack(std::span<const Bound> values, void* workspace);
    void run(cudnnHandle_t handle, const Descriptor& pack) const;

  private:
    Descriptor plan_;
    std::int64_t workspace_ = 0;
};

}  // namespace wirewise::cuda
