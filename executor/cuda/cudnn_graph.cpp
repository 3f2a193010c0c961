#include "executor/cuda/cudnn_graph.hpp"

namespace wirewise::cuda {

namespace {

Dimensions packed(Dimensions d) { return {d[1] * d[2] * d[3], d[2] * d[3], d[3], 1}; }

}  // namespace

DnnHandle make_dnn_handle() {
    cudnnHandle_t handle = nullptr;
    check(cudnnCreate(&handle), "cudnnCreate");
    return DnnHandle(handle);
}

Descriptor::Descriptor(cudnnBackendDescriptorType_t type) {
    cudnnBackendDescriptor_t made = nullptr;
    check(cudnnBackendCreateDescriptor(type, &made), "cudnnBackendCreateDescriptor");
    handle_ = Owned<cudnnBackendDescriptor_t, cudnnBackendDestroyDescriptor>(made);
}

void Descriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                     const void* values) {
    check(cudnnBackendSetAttribute(get(), name, type, count, values), "cudnnBackendSetAttribute");
}

void Descriptor::set(cudnnBackendAttributeName_t name, const Descriptor& other) {
    const cudnnBackendDescriptor_t handle = other.get();
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &handle);
}

void Descriptor::set(cudnnBackendAttributeName_t name, std::int64_t value) {
    set(name, CUDNN_TYPE_INT64, 1, &value);
}

void Descriptor::finalize(const char* what) { check(cudnnBackendFinalize(get()), what); }

std::int64_t Descriptor::integer(cudnnBackendAttributeName_t name) const {
    std::int64_t value = 0, count = 0;
    check(cudnnBackendGetAttribute(get(), name, CUDNN_TYPE_INT64, 1, &count, &value),
          "cudnnBackendGetAttribute");
    return value;
}

TensorId DnnGraph::add(Dimensions dimensions, Dimensions strides, cudnnDataType_t type, bool is_virtual,
                       bool by_value) {
    constexpr std::int64_t kAlignment = 16;
    Descriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    const auto id = static_cast<TensorId>(tensors_.size()) + 1;
    tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    tensor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dimensions.data());
    tensor.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides.data());
    tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
    tensor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment);
    if (is_virtual) tensor.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
    if (by_value) tensor.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &by_value);
    tensor.finalize("cuDNN tensor");
    tensors_.push_back(std::move(tensor));
    return id;
}

TensorId DnnGraph::tensor(Dimensions dimensions, Dimensions strides, cudnnDataType_t type) {
    return add(dimensions, strides, type, false, false);
}
TensorId DnnGraph::intermediate(Dimensions dimensions, cudnnDataType_t type) {
    return add(dimensions, packed(dimensions), type, true, false);
}
TensorId DnnGraph::intermediate(Dimensions dimensions, Dimensions strides, cudnnDataType_t type) {
    return add(dimensions, strides, type, true, false);
}
TensorId DnnGraph::scalar(cudnnDataType_t type) { return add({1, 1, 1, 1}, {1, 1, 1, 1}, type, false, true); }

void DnnGraph::add(Descriptor operation, Descriptor part) {
    operation.finalize("cuDNN operation");
    operations_.push_back(std::move(operation));
    parts_.push_back(std::move(part));
}

void DnnGraph::pointwise(cudnnPointwiseMode_t mode, Inputs inputs, TensorId y, cudnnDataType_t compute,
                         std::int64_t axis) {
    Descriptor part(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    part.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    part.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &compute);
    if (axis >= 0) part.set(CUDNN_ATTR_POINTWISE_AXIS, axis);
    part.finalize("cuDNN pointwise");
    Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, part);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, at(inputs.x));
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, at(y));
    if (inputs.b != kNoTensor) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, at(inputs.b));
    if (inputs.condition != kNoTensor)
        operation.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, at(inputs.condition));
    add(std::move(operation), std::move(part));
}

void DnnGraph::matmul(TensorId a, TensorId b, TensorId c) {
    const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    Descriptor part(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    part.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
    part.finalize("cuDNN matmul");
    Descriptor operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, at(a));
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, at(b));
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, at(c));
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, part);
    add(std::move(operation), std::move(part));
}

void DnnGraph::reduce(cudnnReduceTensorOp_t kind, TensorId x, TensorId y) {
    const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    Descriptor part(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    part.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
    part.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &kind);
    part.finalize("cuDNN reduction");
    Descriptor operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, part);
    operation.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, at(x));
    operation.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, at(y));
    add(std::move(operation), std::move(part));
}

void DnnGraph::reshape(TensorId x, TensorId y) {
    Descriptor operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, at(x));
    operation.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, at(y));
    add(std::move(operation), {});
}

void DnnGraph::finalize(cudnnHandle_t handle) {
    std::vector<cudnnBackendDescriptor_t> operations;
    for (const Descriptor& operation : operations_) operations.push_back(operation.get());
    graph_ = Descriptor(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    graph_.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
               static_cast<std::int64_t>(operations.size()), operations.data());
    graph_.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    graph_.finalize("cuDNN graph");
}

std::vector<Descriptor> DnnGraph::configurations() const {
    const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
    Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph_);
    heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    if (cudnnBackendFinalize(heuristic.get()) != CUDNN_STATUS_SUCCESS) return {};
    std::int64_t count = 0;
    check(cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                   CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
          "cudnnBackendGetAttribute");
    std::vector<Descriptor> found;
    std::vector<cudnnBackendDescriptor_t> handles;
    for (std::int64_t i = 0; i < count; ++i) {
        found.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
        handles.push_back(found.back().get());
    }
    std::int64_t got = 0;
    check(cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                   CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &got, handles.data()),
          "cudnnBackendGetAttribute");
    found.resize(static_cast<std::size_t>(got));
    return found;
}

DnnPlan::DnnPlan(cudnnHandle_t handle, const Descriptor& configuration)
    : plan_(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
    plan_.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
    plan_.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    plan_.finalize("cuDNN plan");
    workspace_ = plan_.integer(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
}

Descriptor DnnPlan::pack(std::span<const Bound> values, void* workspace) {
    std::vector<std::int64_t> ids;
    std::vector<void*> addresses;
    for (const Bound& value : values) {
        ids.push_back(value.tensor);
        addresses.push_back(value.address);
    }
    const auto count = static_cast<std::int64_t>(ids.size());
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, ids.data());
    pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, addresses.data());
    pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    pack.finalize("cuDNN variant pack");
    return pack;
}

void DnnPlan::run(cudnnHandle_t handle, const Descriptor& pack) const {
    check(cudnnBackendExecute(handle, plan_.get(), pack.get()), "cudnnBackendExecute");
}

}  // namespace wirewise::cuda
