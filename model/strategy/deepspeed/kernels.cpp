#include "model/strategy/deepspeed/kernels.hpp"

namespace wirewise::deepspeed {

void let_go(PytorchContext& context, Tensor& tensor) {
    Storages& storages = context.tape.storages;
    const BufferId buffer = storages.use(tensor, Access::read).buffer;
    const bool last = storages.sole_owner(tensor);
    storages.used_now(tensor);
    tensor = {};
    storages.settle();
    if (last) context.build().release(buffer);
}

void gradient_norm(PytorchContext& context, const Operand& gradient, std::int64_t count) {
    if (count == 0) return;
    ProgramBuilder& build = context.build();
    constexpr std::int64_t kDouble = 8;
    const Bytes bytes(kDouble * count);
    const BufferId doubles =
        build.transient("gradient in fp64", bytes, DType::fp32, Role::workspace, context.compute);
    flat_op(context, context.compute, "cast gradient to fp64", count, gradient.bytes + bytes,
            {gradient, build.write(doubles)});
    flat_op(context, context.compute, "gradient norm", count, bytes, {build.read(doubles)});
}

}  // namespace wirewise::deepspeed
